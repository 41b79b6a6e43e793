"""The stages of a stencil: nests that compute the elements of whole arrays, each from elements of
arrays at constant distances.

    for i: for j: B[i][j] = f(A[i-1][j], A[i+1][j], c[j])   a stage of B, distances (-1, 0), (1, 0)

A `Field` is an array, or one plane of it where a subscript is a number in each step of time
(`A[t%2][i][j]`). The coordinates of a stage are those of the element that it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loopxform.ir.affine import poly, simplify, to_expr
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Cast, Const, Decl, Expr, For, Function, Load, Select, Var
from loopxform.ir.types import HALF, INT, Scalar
from loopxform.ir.visit import children, loads, map_children, names, substitute, walk
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms.overlapped.clock import MOST_PERIOD, Clock
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import Template, touched


@record
class Field:
    """An array, or the plane of it at `places`: a number for each dimension that is not one of
    space (None), or of nests that run once what the host computes. Subscripts along dimensions of
    space are coordinates and an `offset` (`alignment`; none: 0)."""

    array: str
    places: tuple[int | Expr | None, ...]
    offset: tuple[int, ...] = ()

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of space, outermost first."""
        return tuple(n for n, p in enumerate(self.places) if p is None)

    def index(self, at: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The subscripts of the element at coordinates of space."""
        moved = (simplify(Bin("+", e, Const(n))) if n else e for e, n in zip(at, self.offset))
        inside = iter(moved if self.offset else at)
        return tuple(
            next(inside) if p is None else Const(p) if isinstance(p, int) else p
            for p in self.places
        )


Box = tuple[tuple[Expr, Expr], ...]
"""The first coordinate and the one behind the last, for each dimension of space."""


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
    reads, `host` has the values of the host's scalars."""

    field: Field
    domain: Box
    reads: tuple[Read, ...]
    template: Template
    counters: tuple[tuple[For, int, Expr], ...]
    host: tuple[tuple[str, Expr], ...]


# ---------------------------------------------------------------- steps of time


def period(found: tuple[Template, ...], clock: Clock) -> int:
    """After how many steps of time the planes that are written and read come round again. Raises
    NotStages."""
    written = {t.target.array for t in found}
    planes = (e for t in found for e in (t.when, *_subscripts(t, written)))
    steps = clock.period(planes)
    if steps is None:
        text = f"planes come round after more than {MOST_PERIOD} steps of '{clock.time}'"
        raise NotStages(text, found[0].loc)
    return steps


def _subscripts(t: Template, written: set[str]) -> Iterator[Expr]:
    for e in (t.target, *t.values):
        for x in loads(e):
            if x.array in written:
                yield from x.index


@remembered(64)
def _element_types(fn: Function) -> dict[str, Scalar]:
    own = {s.name: s.type for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape}
    return {p.name: p.type for p in fn.objects if p.shape} | own


def spatial(fn: Function, found: tuple[Template, ...]) -> dict[str, tuple[bool, ...]]:
    """For each array that stages write, which of its dimensions are of space: those that a loop of
    a stage runs along. Raises NotStages."""
    dims: dict[str, list[bool]] = {}
    for t in found:
        if t.target.array not in dims:
            dims[t.target.array] = [False] * len(t.target.index)
    for t in found:
        counters = {x.var for x in t.loops}
        for x in touched(t):
            for n, index in enumerate(x.index if x.array in dims else ()):
                dims[x.array][n] |= bool(names(index) & counters)
    types = _element_types(fn)
    for t in found:
        name = t.target.array
        if sum(dims[name]) != max(map(sum, dims.values())):
            raise NotStages(f"'{name}' has fewer dimensions than other arrays", t.loc)
        if types.get(name) == HALF or name not in types:
            raise NotStages(f"'{name}' is not an array of plain numbers", t.loc)
    return {name: tuple(flags) for name, flags in dims.items()}


def runs_in(t: Template, clock: Clock, step: int) -> bool:
    """Whether a step of time runs a template. Raises NotStages."""
    holds = clock.number(t.when, step)
    if holds is None:
        raise NotStages("which nests a step of time runs is not known", t.loc)
    return bool(holds)


def staged(
    t: Template, dims: dict[str, tuple[bool, ...]], clock: Clock, step: int, now: Expr
) -> Stage:
    """A template in step number `step` of time, which is `now`. Raises NotStages."""
    target = t.target
    field = field_of(target, dims, clock, step, t.loc)
    counters: list[tuple[For, int, Expr]] = []
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
        if more or any(offset.mentions(v) for v in by_var) or var in {c.var for c, *_ in counters}:
            raise NotStages(f"'{target.array}' is not written along its loops", t.loc)
        loop, shift = by_var[var], to_expr(offset)
        counters.append((loop, d, shift))
        first, end = (simplify(Bin("+", e, shift)) for e in (loop.lo, loop.hi))
        count = (poly(end) - poly(first)).value
        if count is not None and count <= 0:
            raise NotStages(f"the loop over '{var}' has no iterations", t.loc)
        domain.append((first, end))
    if by_var.keys() - {c.var for c, *_ in counters}:
        raise NotStages(f"'{target.array}' is written more than once", t.loc)
    bounds = frozenset(n for pair in domain for e in pair for n in names(e))
    if bounds & {*by_var, clock.time, *clock.numbers(0)} or any(
        any(loads(e)) for pair in domain for e in pair
    ):
        raise NotStages("the bounds of the nest change with other loops", t.loc)
    reads: list[Read] = []
    for e in t.values:
        for x, certain in reads_of(e):
            if x.array in dims:
                source = field_of(x, dims, clock, step, t.loc)
                apart = [poly(x.index[n]) - poly(p) for n, p in zip(source.dims, places)]
                distance = tuple(a.value for a in apart)
                if len(source.dims) != len(places) or None in distance:
                    raise NotStages(f"'{x.array}' is not read at a constant distance", t.loc)
                reads.append(Read(x, source, tuple(v or 0 for v in distance), certain))
    host = clock.host(step, now)
    return Stage(field, tuple(domain), tuple(reads), t, tuple(counters), host)


@remembered(16384)
def reads_of(e: Expr) -> tuple[tuple[Load, bool], ...]:
    """The elements that an expression reads, and whether it always does."""
    return tuple(_reads_of(e, certain=True))


def _reads_of(e: Expr, *, certain: bool) -> Iterator[tuple[Load, bool]]:
    if isinstance(e, Load):
        yield e, certain
    first, *rest = children(e) or (None,)
    choice = isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||"))
    if first is not None:
        yield from _reads_of(first, certain=certain)
    for x in rest:
        yield from _reads_of(x, certain=certain and not choice)


def field_of(
    x: Load, dims: dict[str, tuple[bool, ...]], clock: Clock, step: int, loc: Loc | None
) -> Field:
    """The plane of an array that a subscript names in a step of time. Raises NotStages."""
    places: list[int | Expr | None] = []
    for index, is_space in zip(x.index, dims[x.array]):
        place: int | Expr | None = None if is_space else clock.number(index, step)
        if not is_space and place is None and not clock.time and not any(loads(index)):
            place = simplify(index)
        if not is_space and place is None:
            raise NotStages(f"a subscript of '{x.array}' is no number in a step of time", loc)
        places.append(place)
    return Field(x.array, tuple(places))


# ---------------------------------------------------------------- values

Values = tuple[tuple[tuple[str, Scalar, Expr], ...], Expr]
"""Scalars that are computed first, and the value of an element."""


def value_at(
    stage: Stage,
    at: tuple[Expr, ...],
    read: Callable[[Load], Expr | None],
    new_name: Callable[[str], str],
    coordinate: Scalar,
) -> Values:
    """The scalars and the value of a stage for the element at some coordinates; `read` has what
    stands for an element of a field, `new_name` gives the scalars names; coordinates are of type
    `coordinate`."""
    values: dict[str, Expr] = {}
    for loop, d, shift in stage.counters:
        number = simplify(Bin("-", at[d], shift))
        other = max(loop.type.bytes, INT.bytes) != coordinate.bytes and not loop.type.is_unsigned
        values[loop.var] = Cast(loop.type, number) if other else number
    values.update(stage.host)
    return values_at(stage.template, values, read, new_name)


def values_at(
    template: Template,
    values: Mapping[str, Expr],
    read: Callable[[Load], Expr | None],
    new_name: Callable[[str], str],
) -> Values:
    """The scalars and the value of a template where its counters have these `values`."""
    scalars: list[tuple[str, Scalar, Expr]] = []

    def placed(e: Expr) -> Expr:
        return substitute(replaced(e, read), {**values, **latest})

    latest: dict[str, Expr] = {}
    for name, type, value in template.scalars:
        own = new_name(name)
        scalars.append((own, type, placed(value)))
        latest[name] = Var(own)
    return tuple(scalars), placed(template.value)


def replaced(e: Expr, read: Callable[[Load], Expr | None]) -> Expr:
    """An expression with what stands for elements: asked of an element as it is written, then of
    those in its subscripts."""
    new = read(e) if isinstance(e, Load) else None
    return map_children(e if new is None else new, lambda x: replaced(x, read))


def reads_others(stage: Stage, fields: frozenset[str]) -> bool:
    """Whether a value is made of elements of other arrays, which exist for iterations alone."""
    return any(x.array not in fields for e in stage.template.values for x in loads(e))
