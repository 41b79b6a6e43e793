"""What an iteration of a nest stores, with conditions as choices and small loops unrolled.

    n = 0;                                       n_1 = 0;  n_2 = n_1 + A[i][j-1];
    for k in -1, 1: n += A[i][j+k];        ->    n_3 = n_2 + A[i][j+1];  c = A[i][j] > 0;
    if (A[i][j] > 0) B[i][j] = n;                B[i][j] = c ? n_3 : 0
    else B[i][j] = 0;

What conditions decide is chosen, so that nothing is computed that the program does not compute. An
array is stored by the last statement that sets its element; what follows reads the new element.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.errors import MalformedIR
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import HALF, INT, Scalar
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import (
    children,
    loads,
    map_expr,
    names,
    reads,
    substitute,
    substitute_body,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms.overlapped.refusal import NotStages

MOST_ITERATIONS = 32
"""Of a loop that is unrolled."""

MOST_OPERANDS = 64
"""Of what stands for an integer scalar in a subscript."""

INT_MAX = 2**31 - 1

MOST_SCALARS = 256
"""That an iteration computes."""


@record
class Computed:
    """A scalar of an iteration, computed after the elements in `stored` were."""

    name: str
    type: Scalar
    value: Expr
    stored: frozenset[Load]


@record
class Stored:
    """An element that an iteration sets, `always` or under conditions, and the scalars that are
    computed for it first."""

    target: Load
    value: Expr
    scalars: tuple[tuple[str, Scalar, Expr], ...]
    always: bool
    loc: Loc | None


def stores(fn: Function, body: tuple[Stmt, ...]) -> Iterator[Stored]:
    """What the statements of an iteration store, in an order in which one may read what those
    before it stored. Raises NotStages."""
    flat = tuple(x for s in body for x in (unrolled(s) if isinstance(s, For) else (s,)))
    if any(isinstance(s, For) for s in flat):
        return stores(fn, flat)
    trial = _Iteration(fn, flat, {})
    for n, s in enumerate(flat):
        trial.run(s, n)
    return _Iteration(fn, flat, trial.last).stores()


def folded(e: Expr) -> Expr:
    """An expression with numbers for its parts that are made of integers."""
    return map_expr(e, _number)


def _number(e: Expr) -> Expr:
    parts = children(e)
    if isinstance(e, Bin) and e.op in ("&&", "||") and [*map(_is_int, parts)] == [True, False]:
        decided = bool(value_of(e.left)) == (e.op == "||")
        return Const(int(e.op == "||")) if decided else Bin("!=", e.right, Const(0))
    if not isinstance(e, Bin | Un) or not all(map(_is_int, parts)):
        return e
    try:
        number = evaluate(e, {})
    except (MalformedIR, ZeroDivisionError):
        return e
    return Const(number) if abs(number) <= INT_MAX else e


def _is_int(e: Expr) -> bool:
    return isinstance(e, Const) and e.type == INT and isinstance(e.value, int)


class _Iteration:
    """The scalars that have been computed, and the elements that are set but not stored yet: each
    is stored by the statement that is the `last` to set it."""

    def __init__(self, fn: Function, body: tuple[Stmt, ...], last: dict[Load, int]) -> None:
        self.last = last
        self._body, self._writes = body, writes(body)
        self._types = {**symbols(fn)}
        self._taken = {*used_names(fn)}
        self._tables = {p.name: p for p in fn.objects if p.values}
        own = (s for _, s in walk(body) if isinstance(s, Assign) and isinstance(s.target, Var))
        self._own = {s.target.name for s in own if isinstance(s.target, Var)}
        self._known: set[str] = set()
        self._scalars: list[Computed] = []
        self._places: dict[str, Expr] = {}
        self._stored: frozenset[Load] = frozenset()
        self._new: dict[Load, str] = {}
        self._always: dict[Load, bool] = {}
        self._locs: dict[Load, Loc | None] = {}
        self._number = 0

    def stores(self) -> Iterator[Stored]:
        for n, s in enumerate(self._body):
            self.run(s, n)
            yield from self._emitted([x for x in self._new if self.last[x] == n])

    def run(self, s: Stmt, number: int) -> None:
        """Statement number `number` of the body."""
        self._number = number
        self._stmt(s, None)

    # ------------------------------------------------------------ statements

    def _stmt(self, s: Stmt, under: Expr | None) -> None:
        match s:
            case Decl(name, type, ()):
                self._types[name] = type
            case Assign(Var(name), value, op):
                whole = Bin(op, s.target, value) if op else value
                self._set(name, self._read(whole, s), under)
            case Assign(Load() as target, value, op):
                whole = Bin(op, target, value) if op else value
                self._store(target, whole, under, s)
            case If():
                self._choice(s, under)
            case For():
                for x in unrolled(s):
                    self._stmt(x, under)
            case _:
                raise NotStages("a nest holds more than assignments and conditions", s.origin.loc)

    def _choice(self, s: If, under: Expr | None) -> None:
        cond = folded(self._read(s.cond, s))
        if isinstance(cond, Const):
            for x in s.then if cond.value else s.orelse:
                self._stmt(x, under)
            return
        if not (isinstance(cond, Bin) and cond.op in COMPARISONS):
            cond = Bin("!=", cond, Const(0))
        name = self._name("chosen", INT)
        for target in _always_set((s,)):
            self._begin(target, s)
        self._compute(name, cond if under is None else Bin("&&", under, cond))
        for body, holds in ((s.then, Var(name)), (s.orelse, Un("!", Var(name)))):
            both = holds if under is None or body is s.then else Bin("&&", under, holds)
            for x in body:
                self._stmt(x, both)

    def _begin(self, target: Load, s: Stmt) -> None:
        """An element that is set whatever a condition says begins as 0 where nothing reads it."""
        target = self._element(target, s)
        if target not in self._new:
            name = self._register(target, s, always=True)
            self._compute(name, target if target.array in reads((s,)) else Const(0))

    def _store(self, target: Load, whole: Expr, under: Expr | None, s: Stmt) -> None:
        value = self._read(whole, s)
        target = self._element(target, s)
        if target not in self._new:
            name = self._register(target, s, always=under is None)
            if under is not None:
                self._compute(name, target)
        self.last[target] = max(self._number, self.last.get(target, 0))
        self._set(self._new[target], value, under)

    def _register(self, target: Load, s: Stmt, *, always: bool) -> str:
        self._always[target], self._locs[target] = always, s.origin.loc
        array = target.array
        self._new[target] = self._name(f"{array.replace('.', '_')}_set", self._types[array])
        return self._new[target]

    def _element(self, x: Load, s: Stmt) -> Load:
        """An element of an array that the nest sets. Raises NotStages where others that are set
        may be the same one."""
        index = (substitute(self._read(e, s), self._places) for e in x.index)
        placed = Load(x.array, tuple(simplify(folded(e)) for e in index))
        others = (y for y in (*self._new, *self._stored) if y.array == x.array and y != placed)
        if not all(_are_apart(placed, y) for y in others):
            raise NotStages(f"several elements of '{x.array}' are used", s.origin.loc)
        return placed

    def _set(self, name: str, value: Expr, under: Expr | None) -> None:
        self._compute(name, value if under is None else self._chosen(name, value, under))

    def _chosen(self, name: str, value: Expr, under: Expr) -> Expr:
        """A value under a condition, else what the scalar was."""
        type = self._types[name]
        own = value if type_of(value, self._types) == type else Cast(type, value)
        if self._scalars[-1].name == name and name not in names(own):
            match self._scalars[-1].value:
                case Select(cond, then, _) if under == Un("!", cond):
                    self._scalars.pop()
                    return Select(cond, then, own)
        return Select(under, own, Var(name) if name in self._known else Const(0))

    def _compute(self, name: str, value: Expr) -> None:
        if len(self._scalars) >= MOST_SCALARS:
            raise NotStages(f"an iteration computes more than {MOST_SCALARS} scalars", None)
        type = self._types[name]
        if type == HALF:
            raise NotStages(f"'{name}' is a number of half precision", None)
        self._known.add(name)
        self._scalars.append(Computed(name, type, value, self._stored))
        now = substitute(value, self._places)
        plain = type == INT == type_of(value, self._types) and not any(loads(value))
        self._places.pop(name, None)
        # What is counted under conditions doubles with each: no subscript is made of that.
        if plain and not names(now) & self._known and _size(now) <= MOST_OPERANDS:
            self._places[name] = now

    def _name(self, wanted: str, type: Scalar) -> str:
        n, name = 1, wanted
        while name in self._taken:
            n, name = n + 1, f"{wanted}_{n + 1}"
        self._taken.add(name)
        self._types[name] = type
        return name

    def _read(self, e: Expr, s: Stmt) -> Expr:
        """An expression with what the iteration has set so far."""

        def each(x: Expr) -> Expr:
            match x:
                case Var(name) if name in self._own and name not in self._known:
                    raise NotStages(f"'{name}' is read before it is set", s.origin.loc)
                case Load(array, index) if array in self._writes:
                    element = self._element(x, s)
                    return Var(self._new[element]) if element in self._new else element
                case Load(array) if array in self._tables:
                    return self._entry(x)
                case Load(array, index) if self._places:
                    return Load(array, tuple(substitute(i, self._places) for i in index))
                case _:
                    return x

        return map_expr(e, each)

    def _entry(self, x: Load) -> Expr:
        """The number in a constant table, where its place is known."""
        table = self._tables[x.array]
        at = value_of(folded(x.index[0]))
        if len(x.index) != 1 or at is None or not 0 <= at < len(table.values):
            return x
        value = folded(table.values[at])
        return value if isinstance(value, Const) and table.type == INT == value.type else x

    # ------------------------------------------------------------ what is stored

    def _emitted(self, elements: list[Load]) -> Iterator[Stored]:
        """Some elements; those that are read before they are stored come last."""
        left = {x: self._sliced(x) for x in elements}
        while left:
            ready = [x for x in left if not any(_reads(left[y], x) for y in left if y != x)]
            target = next(iter(ready or left))
            kept = left.pop(target)
            late = [y for x in kept for y in self._stored - x.stored if _reads([x], y)]
            if late or not ready:
                array = (late or [target])[0].array
                text = f"what was in '{array}' before the nest wrote it is needed for others"
                remedy = "write that array in a nest of its own"
                raise NotStages(text, self._locs[target], remedy)
            self._stored |= {target}
            del self._new[target]
            scalars = tuple((x.name, x.type, x.value) for x in kept[:-1])
            always, loc = self._always[target], self._locs[target]
            yield Stored(target, kept[-1].value, scalars, always, loc)

    def _sliced(self, target: Load) -> list[Computed]:
        """The scalars that an element is computed from, itself the last one."""
        needed, kept = {self._new[target]}, list[Computed]()
        for x in reversed(self._scalars):
            if x.name in needed:
                needed = (needed - {x.name}) | names(x.value)
                kept.insert(0, x)
        return kept


def iterations(s: For) -> range | None:
    """What a loop counts where its header says it in numbers, and nobody asks afterwards."""
    lo, hi, step = value_of(s.lo), value_of(s.hi), value_of(s.step)
    if lo is None or hi is None or not step or s.live_out:
        return None
    return range(lo, hi, step)


def unrolled(s: For) -> tuple[Stmt, ...]:
    """The iterations of a loop of a few. Raises NotStages."""
    counted = iterations(s)
    if counted is None or len(counted) > MOST_ITERATIONS:
        raise NotStages("a nest holds a loop of many iterations", s.origin.loc)
    return tuple(x for n in counted for x in substitute_body(s.body, {s.var: Const(n)}))


def _always_set(body: tuple[Stmt, ...]) -> list[Load]:
    """The elements that a body sets, whatever its conditions say."""
    found: list[Load] = []
    for s in body:
        if isinstance(s, Assign) and isinstance(s.target, Load):
            found.append(s.target)
        elif isinstance(s, If):
            orelse = _always_set(s.orelse)
            found += [x for x in _always_set(s.then) if x in orelse]
    return found


def _size(e: Expr) -> int:
    return sum(1 for _ in walk_expr(e))


def _reads(kept: list[Computed], element: Load) -> bool:
    """Whether scalars may be computed from an element."""
    every = (y for x in kept for y in loads(x.value) if y.array == element.array)
    return not all(_are_apart(y, element) for y in every)


def _are_apart(a: Load, b: Load) -> bool:
    """Whether two elements of an array are certainly not the same one."""
    return any((poly(x) - poly(y)).value for x, y in zip(a.index, b.index))
