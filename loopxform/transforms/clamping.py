"""Reading the last valid element instead of one past the edge: the value part of `unguard`."""

from __future__ import annotations

from dataclasses import dataclass

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
    Stmt,
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
from loopxform.transforms.bounds import fixed_trips


@dataclass(frozen=True)
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
    work = _Clamping(fn, guard, edge, own, _single((*around, *_loops(body))))
    problem = work.shared_effects(body) or work.plan(body)
    if problem:
        return problem
    changed = work.changed
    return map_exprs(body, lambda e: changed.get(e, e) if isinstance(e, Load) else e)


class _Clamping:
    """What is known while the reads of one body are looked at."""

    def __init__(
        self,
        fn: Function,
        guard: tuple[Guard, ...],
        edge: frozenset[str],
        own: frozenset[str],
        single: dict[str, Expr],
    ) -> None:
        self.fn, self.guard, self.edge, self.own = fn, guard, edge, own
        self.single = single
        self.storage, self.written = declared(fn.body), writes(fn.body)
        self.changed: dict[Load, Load] = {}
        self.exact = True

    def shared_effects(self, body: tuple[Stmt, ...]) -> str | None:
        """Statements that touch what other iterations see, or loops that grow past the edge."""
        for _, s in walk(body):
            match s:
                case Assign(Load(array)) if array not in self.own:
                    return f"'{array}' is shared"
                case Assign(Var(name)) if name not in self.own:
                    return f"'{name}' is shared"
                case For() if (names(s.lo) | names(s.hi)) & self.edge:
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
        data = {n for e in exprs for n in _data_names(e)} & self.edge
        if (data or not self.exact) and any(_may_trap(self.fn, s) for _, s in walk(body)):
            return "a division by a value that no iteration computes"
        return None

    def _read(self, x: Load) -> str | None:
        if x.array in self.own or not self.edge & _index_names(x):
            return None
        if any(isinstance(y, Load) for i in x.index for y in walk_expr(i)):
            return f"an indirect read of '{x.array}'"
        staged = _staged(self.fn, x)
        if staged is not None:
            self.exact = self.exact and all(self._consistent(i, limit) for i, limit in staged)
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
            last = to_expr(poly(g.limit) - constant(1))
            out.append(to_expr(poly(Bin("min", g.index, last)) + constant(gap)))
        self.changed[x] = Load(x.array, tuple(out), origin=x.origin)
        return None

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
    """Scalars used as values, not inside subscripts."""
    if isinstance(e, Load):
        return set()
    if isinstance(e, Var):
        return {e.name}
    return {n for c in children(e) for n in _data_names(c)}


def _may_trap(fn: Function, s: Stmt) -> bool:
    """Integer division by anything but a non-zero literal."""
    types = symbols(fn)
    for e in (y for x in stmt_exprs(s) for y in walk_expr(x)):
        if isinstance(e, Bin) and e.op in ("/", "%") and type_of(e, types).is_integer:
            safe = isinstance(e.right, Const) and e.right.value != 0
            if not safe:
                return True
    return isinstance(s, Assign) and s.op in ("/", "%") and type_of(s.value, types).is_integer
