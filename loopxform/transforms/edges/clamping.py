"""Reading the last valid element instead of one past the edge: the value part of `clamp-edges`."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Tile,
    Var,
)
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    children,
    declared,
    loads,
    map_exprs,
    names,
    stmt_exprs,
    substitute,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjuncts, fixed_trips


@record
class Guard:
    """One condition `index < limit`."""

    index: Expr
    limit: Expr


def clamp_body(
    fn: Function,
    body: tuple[Stmt, ...],
    guard: tuple[Guard, ...],
    storage: tuple[str, ...],
    around: tuple[For, ...],
) -> tuple[Stmt, ...] | str:
    """`body` with every read moved inside the guard, or why that cannot be done.

    It may write `storage` and what it declares itself; nothing else. A loop `around` it (outermost
    first) whose bounds move with the guard goes past the edge as well.
    """
    edge = frozenset(n for g in guard for n in names(g.index))
    for loop in around:
        if (names(loop.lo) | names(loop.hi)) & edge:
            edge |= {loop.var}
    own = frozenset(storage) | frozenset(declared(body))
    work = _Clamping(fn, guard, edge, own, (*around, *_loops(body)))
    problem = work.shared_effects(body) or work.plan(body) or work.guarded(body)
    if problem:
        return problem
    changed = work.changed
    return map_exprs(body, lambda e: changed.get(e, e) if isinstance(e, Load) else e)


class _Clamping:
    """What is known while the reads of one body are looked at. `edge` are the names whose values,
    past the edge, are none that the program computes: the variables of the guard, and the local
    storage that holds what was computed from them."""

    def __init__(
        self,
        fn: Function,
        guard: tuple[Guard, ...],
        edge: frozenset[str],
        own: frozenset[str],
        loops: tuple[For, ...],
    ) -> None:
        self.fn, self.guard, self.own = fn, guard, own
        self.loops, self.single = loops, _single(loops)
        self.storage, self.written = declared(fn.body), writes(fn.body)
        self.changed: dict[Load, Load] = {}
        self.exact = True
        self.edge = edge
        self.edge = self._spread(edge)

    def _spread(self, edge: frozenset[str]) -> frozenset[str]:
        """With all local storage that is assigned a value computed from `edge`, or under a
        condition on it, or from an element of a copy that is not clamped with the guard."""
        assigned = list(self._assignments(self.fn.body, frozenset()))
        while True:
            new = {name for name, read, loose in assigned if loose or read & edge} - edge
            if not new:
                return edge
            edge |= new

    def _assignments(
        self, body: tuple[Stmt, ...], around: frozenset[str]
    ) -> Iterator[tuple[str, frozenset[str], bool]]:
        """Each local name that is assigned, what its value is computed from, and whether a part
        of that is not clamped with the guard."""
        for s in body:
            match s:
                case Assign(target, value):
                    name = target.name if isinstance(target, Var) else target.array
                    if name in self.storage:
                        loose = not all(self._is_exact(x) for x in loads(value))
                        yield name, around | _data_names(value), loose
                case If(cond, then, orelse):
                    inner = around | self._decides(cond)
                    yield from self._assignments((*then, *orelse), inner)
                case For():
                    yield from self._assignments(s.body, around)

    def _decides(self, cond: Expr) -> frozenset[str]:
        """What a condition reads, the guard itself left out."""
        parts = [c for c in conjuncts(cond) if not self._is_guard(c)]
        return frozenset(n for c in parts for n in _data_names(c))

    def _is_guard(self, c: Expr) -> bool:
        return isinstance(c, Bin) and any(
            c.op == "<" and (poly(c.left), poly(c.right)) == (poly(g.index), poly(g.limit))
            for g in self.guard
        )

    def _is_exact(self, x: Load) -> bool:
        """Whether past the edge an element of a copy is the one the last iteration inside reads."""
        staged = _staged(self.fn, x)
        return staged is None or all(self._consistent(i, limit) for i, limit in staged)

    def shared_effects(self, body: tuple[Stmt, ...]) -> str | None:
        """Statements that touch what other iterations see, or loops that grow past the edge."""
        for _, s in walk(body):
            match s:
                case Assign(Load(array)) if array not in self.own:
                    return f"'{array}' is shared"
                case Assign(Var(name)) if name not in self.own:
                    return f"'{name}' is shared"
                case For() if (_data_names(s.lo) | _data_names(s.hi)) & self.edge:
                    return f"the loop over '{s.var}' grows past the edge"
                case Assign() | For() | If() | Decl():
                    continue
                case _:
                    return "it holds more than assignments"
        return None

    def plan(self, body: tuple[Stmt, ...]) -> str | None:
        """Finds the new subscript of every read, then whether the values may be computed."""
        exprs = [e for _, s in walk(body) for e in stmt_exprs(s)]
        for x in [x for e in exprs for x in loads(e)]:
            problem = self._read(x)
            if problem:
                return problem
        data = {n for _, s in walk(body) for e in _values(s) for n in _data_names(e)} & self.edge
        if (data or not self.exact) and any(_may_trap(self.fn, s) for _, s in walk(body)):
            return "a division by a value that no iteration computes"
        return None

    def guarded(self, body: tuple[Stmt, ...]) -> str | None:
        """A moved read must not stand under a condition that is another past the edge: it could be
        what keeps the read inside its array."""
        for s in body:
            match s:
                case If(cond, then, orelse):
                    inside = (*then, *orelse)
                    free = not self._decides(cond) & self.edge
                    problem = self._moved_by(cond) or (
                        self.guarded(inside) if free else self._any_moved(inside)
                    )
                case For():
                    problem = self.guarded(s.body)
                case _:
                    problem = next(filter(None, map(self._moved_by, stmt_exprs(s))), None)
            if problem:
                return problem
        return None

    def _any_moved(self, body: tuple[Stmt, ...]) -> str | None:
        exprs = [e for _, s in walk(body) for e in stmt_exprs(s)]
        moved = [x.array for e in exprs for x in loads(e) if x in self.changed]
        return f"a condition at the edge decides about '{moved[0]}'" if moved else None

    def _moved_by(self, e: Expr) -> str | None:
        """A moved read in an arm of ?: or behind && or || whose condition is another there."""
        for x in walk_expr(e):
            match x:
                case Select(cond, then, orelse):
                    arms: tuple[Expr, ...] = (then, orelse)
                case Bin("&&" | "||", cond, right):
                    arms = (right,)
                case _:
                    continue
            moved = [y.array for arm in arms for y in loads(arm) if y in self.changed]
            if moved and _data_names(cond) & self.edge:
                return f"a condition at the edge decides about '{moved[0]}'"
        return None

    def _read(self, x: Load) -> str | None:
        if x.array in self.own or not self.edge & _index_names(x):
            return None
        if any(isinstance(y, Load) for i in x.index for y in walk_expr(i)):
            return f"an indirect read of '{x.array}'"
        if _staged(self.fn, x) is not None:
            self.exact = self.exact and self._is_exact(x)
            return None
        if x.array not in self.storage and x.array in self.written:
            return f"'{x.array}' is written too"
        return self._move(x)

    def _consistent(self, index: Poly, limit: Expr | None) -> bool:
        """The copy clamps this dimension exactly where the guard ends."""
        if not any(index.mentions(n) for n in self.edge):
            return True
        for g in self.guard:
            gap = self._gap(index, g)
            if gap is not None and limit is not None:
                return poly(limit) == poly(g.limit) + constant(gap)
        return False

    def _move(self, x: Load) -> str | None:
        """A direct read gets `min(e, limit - 1)` for `e` in its subscripts."""
        out = []
        for i in x.index:
            if not names(i) & self.edge:
                out.append(i)
                continue
            near = [(g, gap) for g in self.guard if (gap := self._gap(poly(i), g)) is not None]
            if not near:
                return f"a subscript of '{x.array}' that the bounds check does not cover"
            g, gap = near[0]
            if not self._is_dense(g):
                return f"the last iteration may read less of '{x.array}' than the bounds check says"
            last = to_expr(poly(g.limit) - constant(1))
            out.append(to_expr(poly(Bin("min", g.index, last)) + constant(gap)))
        self.changed[x] = Load(x.array, tuple(out), origin=x.origin)
        return None

    def _is_dense(self, g: Guard) -> bool:
        """Whether what is checked takes all values below the limit: a loop counts it by ones."""
        counting = [s for s in self.loops if s.var in names(g.index)]
        by = (poly(s.step) * poly(g.index).coefficient(s.var) for s in counting)
        return not counting or any(p.value in (1, -1) for p in by)

    def _gap(self, index: Poly, g: Guard) -> int | None:
        """How far ahead of the guarded index `index` is, if by a constant."""
        return poly(substitute(to_expr(index - poly(g.index)), self.single)).constant


def _loops(body: tuple[Stmt, ...]) -> tuple[For, ...]:
    return tuple(s for _, s in walk(body) if isinstance(s, For))


def _single(loops: tuple[For, ...]) -> dict[str, Expr]:
    """The values of loops of one iteration (a register tile of one element)."""
    trips = ((x, fixed_trips(x)) for x in loops if poly(x.lo).constant is not None)
    return {x.var: x.lo for x, n in trips if n is not None and n[0].value == 1}


def _index_names(x: Load) -> frozenset[str]:
    return frozenset(n for i in x.index for n in names(i))


def _staged(fn: Function, x: Load) -> list[tuple[Poly, Expr | None]] | None:
    """Per dimension of the array that a staged element comes from: its index there and the limit
    it is clamped at. None where `x` is not an element of a copy."""
    copies = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.target == x.array]
    if not copies:
        return None
    copy = copies[0]
    index = iter(x.index)
    out: list[tuple[Poly, Expr | None]] = []
    for s in copy.slices:
        at = poly(s.lo) if s.size is None else poly(s.lo) + poly(next(index))
        out.append((at, s.limit if s.clamp else None))
    source = Load(copy.source, tuple(to_expr(p) for p, _ in out))
    deeper = _staged(fn, source)
    return out if deeper is None else deeper


def _data_names(e: Expr) -> set[str]:
    """Scalars and arrays used as values, not the names inside subscripts."""
    if isinstance(e, Load):
        return {e.array}
    if isinstance(e, Var):
        return {e.name}
    return {n for c in children(e) for n in _data_names(c)}


def _values(s: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement whose values it uses: not an element it sets anew."""
    return (s.value,) if isinstance(s, Assign) and not s.op else stmt_exprs(s)


def _may_trap(fn: Function, s: Stmt) -> bool:
    """Integer division by anything but a non-zero literal or a tile size."""
    types = symbols(fn)
    for e in (y for x in stmt_exprs(s) for y in walk_expr(x)):
        if isinstance(e, Bin) and e.op in ("/", "%") and type_of(e, types).is_integer:
            safe = isinstance(e.right, Tile) or (isinstance(e.right, Const) and e.right.value != 0)
            if not safe:
                return True
    return isinstance(s, Assign) and s.op in ("/", "%") and type_of(s.value, types).is_integer
