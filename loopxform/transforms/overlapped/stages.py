"""The stages of a stencil: nests that compute the elements of whole arrays, each from elements of
arrays at constant distances.

    for i: for j: B[i][j] = f(A[i-1][j], A[i+1][j], c[j])   a stage of B, distances (-1, 0), (1, 0)

A `Field` is an array, or one plane of it where a subscript is a number in each step of time
(`A[t%2][i][j]`). The coordinates of a stage are those of the element that it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import lcm

from loopxform.analysis.verdict import LoopVerdict
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, to_expr, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Param,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.types import HALF, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import children, loads, map_expr, names, substitute, walk, walk_expr
from loopxform.records import record
from loopxform.source import Loc

PARALLEL = ("yes", "privatizable")
MOST_PERIOD = 8
"""The most planes that steps of time may take turns with."""


class NotStages(Exception):
    """Why statements are not stages, where, and what would help."""

    def __init__(self, text: str, loc: Loc | None, remedy: str = "") -> None:
        super().__init__(text)
        self.obstacle = Obstacle("LX202", text, loc, remedy=remedy)


@record
class Field:
    """An array, or the plane of it at `places`: a number for each dimension that is not one of
    space (None)."""

    array: str
    places: tuple[int | None, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of space, outermost first."""
        return tuple(n for n, p in enumerate(self.places) if p is None)

    def index(self, at: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The subscripts of the element at coordinates of space."""
        inside = iter(at)
        return tuple(next(inside) if p is None else Const(p) for p in self.places)


Box = tuple[tuple[Expr, Expr], ...]
"""The first coordinate and the one behind the last, for each dimension of space."""


@record
class Template:
    """A stage in any step of time: the element that it writes, its value after the `scalars` that
    are computed before it, and its loops. One that `divides` integers may only be computed for
    elements that the program computes: elsewhere a divisor may be 0."""

    target: Load
    value: Expr
    scalars: tuple[tuple[str, Scalar, Expr], ...]
    loops: tuple[For, ...]
    divides: bool
    loc: Loc | None


@record
class Read:
    """A read of an element of a field at a distance from the one that is written; one that is not
    `certain` may be left out, for elements that are not there, say."""

    load: Load
    field: Field
    away: tuple[int, ...]
    certain: bool


@record
class Stage:
    """A template in one step of time: `domain` are the elements it writes, `reads` those it
    reads."""

    field: Field
    domain: Box
    reads: tuple[Read, ...]
    template: Template
    counters: tuple[tuple[str, int, Expr], ...]
    time: tuple[str, Expr] | None


# ---------------------------------------------------------------- templates


def templates(
    fn: Function, body: tuple[Stmt, ...], verdicts: dict[str, LoopVerdict]
) -> tuple[Template, ...]:
    """The stages of a body that holds nothing but parallel nests. Raises NotStages."""
    found: list[Template] = []
    for s in body:
        if isinstance(s, Decl) and not s.shape:
            continue
        if not isinstance(s, For):
            raise NotStages("a statement stands beside the nests", s.origin.loc)
        found += _of_nest(fn, s, verdicts)
    return tuple(found)


def _of_nest(fn: Function, nest: For, verdicts: dict[str, LoopVerdict]) -> Iterator[Template]:
    chain = [nest]
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], For):
        chain.append(chain[-1].body[0])
    for x in chain:
        _require_plain(x, verdicts)
    types, own = symbols(fn), {s.name: s.type for s in chain[-1].body if isinstance(s, Decl)}
    scalars: list[tuple[str, Scalar, Expr]] = []
    written: set[str] = set()
    for s in chain[-1].body:
        match s:
            case Decl(_, _, ()):
                continue
            case Assign(Var(name), value, op):
                if _arrays(value) & written:
                    raise NotStages(f"'{name}' is computed from what the nest wrote", s.origin.loc)
                whole = Bin(op, Var(name), value) if op else value
                scalars.append((name, own.get(name) or types[name], whole))
            case Assign(Load() as target, value, op):
                whole = Bin(op, target, value) if op else value
                divides = any(_divides(e, {**types, **own}) for e in (whole, *_of(scalars)))
                yield Template(target, whole, (*scalars,), (*chain,), divides, s.origin.loc)
                written.add(target.array)
                if any(_arrays(e) & written for _, _, e in scalars):
                    scalars = [x for x in scalars if not _arrays(x[2]) & written]
            case _:
                raise NotStages("a nest holds more than assignments", s.origin.loc)


def _of(scalars: list[tuple[str, Scalar, Expr]]) -> list[Expr]:
    return [e for _, _, e in scalars]


def _divides(e: Expr, types: dict[str, Scalar]) -> bool:
    """Whether an expression divides integers by what need not be a number other than 0."""
    every = (x for x in walk_expr(e) if isinstance(x, Bin) and x.op in ("/", "%"))
    return any(type_of(x, types).is_integer and not value_of(x.right) for x in every)


def _arrays(e: Expr) -> frozenset[str]:
    return frozenset(x.array for x in loads(e))


def _require_plain(x: For, verdicts: dict[str, LoopVerdict]) -> None:
    verdict = verdicts.get(x.var)
    if not x.parallel and (verdict is None or verdict.parallel not in PARALLEL or verdict.copies):
        raise NotStages(f"the loop over '{x.var}' is not parallel", x.origin.loc)
    if value_of(x.step) != 1 or x.live_out:
        raise NotStages(f"the loop over '{x.var}' does not count upwards by 1", x.origin.loc)
    if x.type.is_unsigned:
        text = f"'{x.var}' is unsigned: coordinates before the first one have no number"
        raise NotStages(text, x.origin.loc, "count with an int")


# ---------------------------------------------------------------- steps of time


def period(found: tuple[Template, ...], time: str) -> int:
    """After how many steps of time the planes that are written and read come round again. Raises
    NotStages."""
    written = {t.target.array for t in found}
    every = (x for t in found for e in _subscripts(t, written) for x in walk_expr(e))
    turns = [_turn(x) for x in every if isinstance(x, Bin) and time in names(x)]
    steps = lcm(*(n for n in turns if n))
    if steps > MOST_PERIOD:
        raise NotStages(f"planes come round after {steps} steps of '{time}'", found[0].loc)
    return steps


def _turn(x: Bin) -> int:
    """What a remainder is of; 0 for another operator."""
    n = value_of(x.right) or 0
    return {"%": n, "&": n + 1}.get(x.op, 0)


def _subscripts(t: Template, written: set[str]) -> Iterator[Expr]:
    for e in (t.target, t.value, *(v for _, _, v in t.scalars)):
        for x in loads(e):
            if x.array in written:
                yield from x.index


def spatial(fn: Function, found: tuple[Template, ...]) -> dict[str, tuple[bool, ...]]:
    """For each array that stages write, which of its dimensions are of space: those that a loop of
    a stage runs along. Raises NotStages."""
    dims: dict[str, list[bool]] = {}
    for t in found:
        if t.target.array not in dims:
            dims[t.target.array] = [False] * len(t.target.index)
    for t in found:
        counters = {x.var for x in t.loops}
        for e in (t.target, t.value, *(v for _, _, v in t.scalars)):
            for x in loads(e):
                for n, index in enumerate(x.index if x.array in dims else ()):
                    dims[x.array][n] |= bool(names(index) & counters)
    own = {s.name: s.type for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape}
    types = {p.name: p.type for p in fn.objects if p.shape} | own
    for t in found:
        name = t.target.array
        if sum(dims[name]) != max(map(sum, dims.values())):
            raise NotStages(f"'{name}' has fewer dimensions than other arrays", t.loc)
        if types.get(name) == HALF or name not in types or "." in name:
            raise NotStages(f"'{name}' is not an array of plain numbers", t.loc)
    return {name: tuple(flags) for name, flags in dims.items()}


def staged(
    t: Template, dims: dict[str, tuple[bool, ...]], time: str, step: int, now: Expr
) -> Stage:
    """A template in step number `step` of time (for planes), which is `now`. Raises NotStages."""
    target = t.target
    field = _field(target, dims, time, step, t.loc)
    counters: list[tuple[str, int, Expr]] = []
    domain: list[tuple[Expr, Expr]] = []
    by_var = {x.var: x for x in t.loops}
    places = [target.index[n] for n in field.dims]
    for d, e in enumerate(places):
        used = names(e) & by_var.keys()
        if not used:
            domain.append((simplify(e), simplify(Bin("+", e, Const(1)))))
            continue
        (var, *more) = used
        offset = poly(e) - poly(Var(var))
        if more or any(offset.mentions(v) for v in by_var) or var in {c for c, *_ in counters}:
            raise NotStages(f"'{target.array}' is not written along its loops", t.loc)
        loop, shift = by_var[var], to_expr(offset)
        counters.append((var, d, shift))
        domain.append((simplify(Bin("+", loop.lo, shift)), simplify(Bin("+", loop.hi, shift))))
    if by_var.keys() - {c for c, *_ in counters}:
        raise NotStages(f"'{target.array}' is written more than once", t.loc)
    bounds = frozenset(n for pair in domain for e in pair for n in names(e))
    if bounds & {*by_var, time} or any(any(loads(e)) for pair in domain for e in pair):
        raise NotStages("the bounds of the nest change with other loops", t.loc)
    reads: list[Read] = []
    for e in (t.value, *(v for _, _, v in t.scalars)):
        for x, certain in _reads(e):
            if x.array in dims:
                source = _field(x, dims, time, step, t.loc)
                apart = [poly(x.index[n]) - poly(p) for n, p in zip(source.dims, places)]
                distance = tuple(a.value for a in apart)
                if len(source.dims) != len(places) or None in distance:
                    raise NotStages(f"'{x.array}' is not read at a constant distance", t.loc)
                reads.append(Read(x, source, tuple(v or 0 for v in distance), certain))
    for read in reads:
        if read.field == field and any(read.away):
            raise NotStages(f"'{target.array}' is read at a distance while written", t.loc)
    clock = (time, now) if time else None
    return Stage(field, tuple(domain), tuple(reads), t, tuple(counters), clock)


def _reads(e: Expr, certain: bool = True) -> Iterator[tuple[Load, bool]]:
    """The elements that an expression reads, and whether it always does."""
    if isinstance(e, Load):
        yield e, certain
    first, *rest = children(e) or (None,)
    choice = isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||"))
    if first is not None:
        yield from _reads(first, certain)
    for x in rest:
        yield from _reads(x, certain and not choice)


def _field(
    x: Load, dims: dict[str, tuple[bool, ...]], time: str, step: int, loc: Loc | None
) -> Field:
    places: list[int | None] = []
    for index, is_space in zip(x.index, dims[x.array]):
        place = None if is_space else _place(index, time, step)
        if not is_space and place is None:
            raise NotStages(f"a subscript of '{x.array}' is no number in a step of time", loc)
        places.append(place)
    return Field(x.array, tuple(places))


def _place(e: Expr, time: str, step: int) -> int | None:
    """The value of a subscript in a step of time, where its period says it."""

    def rest(x: Expr) -> Expr:
        match x:
            case Bin("%" | "&", inner, Const(int(n))) if n > 0 and time in names(inner):
                line = poly(inner)
                factor = line.coefficient(time).value
                first = (line.without(time)).value
                if factor is None or first is None or factor < 0 or factor * step + first < 0:
                    return x
                at = factor * step + first
                return Const(at % n if x.op == "%" else at & n)
            case _:
                return x

    return value_of(map_expr(e, rest))


# ---------------------------------------------------------------- values


def value_at(
    stage: Stage,
    at: tuple[Expr, ...],
    read: Callable[[Load], Expr | None],
    new_name: Callable[[str], str],
) -> tuple[tuple[tuple[str, Scalar, Expr], ...], Expr]:
    """The scalars and the value of a stage for the element at some coordinates; `read` has what
    stands for an element of a field, `new_name` gives the scalars names."""
    values: dict[str, Expr] = {
        var: simplify(Bin("-", at[d], shift)) for var, d, shift in stage.counters
    }
    if stage.time is not None:
        values[stage.time[0]] = stage.time[1]
    scalars: list[tuple[str, Scalar, Expr]] = []

    def placed(e: Expr) -> Expr:
        return substitute(_replaced(e, read), {**values, **latest})

    latest: dict[str, Expr] = {}
    for name, type, value in stage.template.scalars:
        own = new_name(name)
        scalars.append((own, type, placed(value)))
        latest[name] = Var(own)
    return tuple(scalars), placed(stage.template.value)


def _replaced(e: Expr, read: Callable[[Load], Expr | None]) -> Expr:
    def each(x: Expr) -> Expr:
        if isinstance(x, Load):
            new = read(x)
            return x if new is None else new
        return x

    return map_expr(e, each)


def reads_others(stage: Stage, fields: frozenset[str]) -> bool:
    """Whether a value is made of elements of other arrays, which exist for iterations alone."""
    return any(x.array not in fields for e in _values(stage) for x in loads(e))


def _values(stage: Stage) -> tuple[Expr, ...]:
    return (stage.template.value, *(v for _, _, v in stage.template.scalars))


def shape_of(fn: Function, name: str) -> tuple[Expr | None, ...]:
    """The declared extents of an array."""
    found: Param | Decl | None = next((p for p in fn.objects if p.name == name), None)
    found = found or next((s for _, s in walk(fn.body) if isinstance(s, Decl) and s.name == name))
    return found.shape
