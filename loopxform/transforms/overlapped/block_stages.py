"""Nests as the stages of overlapped block tiles: which elements of each array a tile computes.

    forall y, x: t[y][x] = a[2*y][2*x] + a[2*y+1][2*x+1];      a box of t for a tile of b
    forall i, j: b[i][j] = t[i/2][j/2];                        a tile of b

A `Piece` is what a nest writes of a field; coordinates are those of the element that it writes. All
pieces of a field come before what reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Call, Cast, Const, Expr, For, Load, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import loads, names, substitute, walk_expr
from loopxform.records import record
from loopxform.transforms.overlapped.clock import NO_TIME
from loopxform.transforms.overlapped.mirrors import Between, between, without_abs
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.spans import Clamped, line, without_choices
from loopxform.transforms.overlapped.stages import Field, field_of, reads_of
from loopxform.transforms.overlapped.templates import Template, arrays_read, touched

Ends = tuple[tuple[Expr, Expr], ...]
"""The first and the last coordinate of each dimension."""


@record
class Along:
    """A dimension that a nest writes at `factor*var + offset`, or ("") at `offset` alone. Where it
    is `exact`, rounded quotients are the first and the last iteration that write elements of a box:
    none of them is negative."""

    var: str
    factor: int
    offset: Expr
    exact: bool = False

    @classmethod
    def of(cls, loop: For, factor: int, offset: Expr) -> Along:
        """That of a loop."""
        lo, there = value_of(loop.lo), value_of(offset)
        near = there is not None and 0 <= there <= factor
        return cls(loop.var, factor, offset, factor > 1 and near and lo is not None and lo >= 0)

    def iteration(self, p: Expr) -> Expr:
        """The iteration that writes coordinate `p`, or one beside it."""
        apart = Bin("-", p, self.offset)
        return simplify(apart if self.factor == 1 else Bin("/", apart, Const(self.factor)))

    def first(self, p: Expr) -> Expr:
        """The first iteration that writes an element from coordinate `p` on, or one before it."""
        return self.iteration(Bin("+", p, Const(self.factor - 1)) if self.exact else p)

    def last(self, p: Expr) -> Expr:
        """The last iteration that writes an element up to coordinate `p`, or one behind it."""
        if not self.exact:
            return self.iteration(p)
        return Bin("-", self.iteration(Bin("+", p, Const(self.factor))), Const(1))


@record
class BlockRead:
    """A read of an element of another field, by its subscripts along the dimensions of space. One
    that is not `certain` may be left out."""

    load: Load
    field: Field
    index: tuple[Expr, ...]
    certain: bool


@record
class Piece:
    """What a nest writes of a field: its number in the order of the text, its template, how its
    loops run along the dimensions of space, and the ends of what it writes. Bounds and subscripts
    are compared by what `sizes` stand for."""

    number: int
    field: Field
    template: Template
    along: tuple[Along, ...]
    ends: Ends
    reads: tuple[BlockRead, ...]
    sizes: Mapping[str, Expr]

    def known(self, e: Expr) -> Expr:
        """A bound by what its sizes stand for."""
        return _known(e, self.sizes)

    def position(self, values: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """The coordinates that an iteration writes; `values` has its counters."""
        return tuple(
            simplify(_scaled(a.factor, values[a.var], a.offset)) if a.var else a.offset
            for a in self.along
        )

    def plain(self, e: Expr, types: Mapping[str, Scalar]) -> tuple[Clamped, ...] | None:
        """A subscript with mins and maxes for the choices that clamp it, or two between which it
        lies where it is mirrored; None where it may be of unsigned numbers, or is made of others
        than counters and sizes."""
        own = {name for name, _, _ in self.template.scalars}
        signed = all(n not in own and not types[n].is_unsigned for n in names(e))
        e = without_abs(e) if signed else e
        if not signed or any(isinstance(x, Load | Call | Cast) for x in walk_expr(e)):
            return None
        known, counters = substitute(e, dict(self.sizes)), frozenset(a.var for a in self.along)
        mirrored = self._between(known)
        if mirrored is None:
            return (without_choices(known, counters),)
        least, most = (without_choices(x, counters) for x in (mirrored.least, mirrored.most))
        return replace(least, ends=(*least.ends, *mirrored.asked)), most

    def _between(self, e: Expr) -> Between | None:
        used = [d for d, a in enumerate(self.along) if a.var and a.var in names(e)]
        if len(used) != 1:
            return None
        (d,) = used
        return between(e, self.along[d].var, lambda x: self.at_ends(x, d))

    def dimension(self, e: Expr) -> int | None:
        """The dimension along which a plain subscript runs, never falling; -1 where the sizes alone
        say what it is, None where it is neither."""
        used = [d for d, a in enumerate(self.along) if a.var and a.var in names(e)]
        if not used:
            return -1
        (d, *more) = used
        return d if not more and line(e, self.along[d].var) is not None else None

    def over(self, e: Expr, d: int, p: Expr, *, last: bool = False) -> Expr:
        """A subscript that runs along a dimension in the first iteration that writes an element
        from coordinate `p` on, or in the `last` one that writes one up to there."""
        return _over(e, self.along[d], p, last)

    def at_ends(self, e: Expr, d: int) -> tuple[Expr, Expr]:
        """It in the first and in the last iteration."""
        loop = next(x for x in self.template.loops if x.var == self.along[d].var)
        last = Bin("-", loop.hi, Const(1))
        low, high = (substitute(x, dict(self.sizes)) for x in (loop.lo, last))
        return simplify(substitute(e, {loop.var: low})), simplify(substitute(e, {loop.var: high}))


@remembered(4096)
def _over(e: Expr, a: Along, p: Expr, last: bool) -> Expr:
    return simplify(substitute(e, {a.var: a.last(p) if last else a.first(p)}))


def pieces(found: tuple[Template, ...], sizes: Mapping[str, Expr]) -> list[Piece]:
    """What nests write, in the order of the text; `sizes` are what names stand for. Raises
    NotStages."""
    dims = spatial_dims(found)
    known = tuple(sizes.items())
    read = ({t.target.array, *arrays_read(t)} for t in found)
    own = (tuple((name, dims[name]) for name in sorted(every & dims.keys())) for every in read)
    out = [replace(_piece(t, d, known), number=n) for n, (t, d) in enumerate(zip(found, own))]
    last = {p.field: n for n, p in enumerate(out)}
    for n, p in enumerate(out):
        for r in p.reads:
            if r.field in last and last[r.field] >= n:
                text = f"'{r.field.array}' is read before all of it is written"
                raise NotStages(text, p.template.loc, f"write another array than {r.field.array}")
    return out


def spatial_dims(found: tuple[Template, ...]) -> dict[str, tuple[bool, ...]]:
    """For each array that nests write, along which dimensions some subscript is no number."""
    dims: dict[str, list[bool]] = {}
    for t in found:
        dims.setdefault(t.target.array, [False] * len(t.target.index))
    for t in found:
        for x in (x for x in touched(t) if x.array in dims):
            for n, index in enumerate(x.index):
                dims[x.array][n] |= value_of(index) is None
    return {name: tuple(flags) for name, flags in dims.items()}


Dims = tuple[tuple[str, tuple[bool, ...]], ...]


@remembered(4096)
def _piece(t: Template, along: Dims, known: tuple[tuple[str, Expr], ...]) -> Piece:
    """A nest by itself; `along` has the arrays that the nests write."""
    dims, sizes = dict(along), dict(known)
    if not t.always:
        raise NotStages(f"'{t.target.array}' is written under a condition", t.loc)
    field = field_of(t.target, dims, NO_TIME, 0, t.loc)
    loops = {x.var: x for x in t.loops}
    every, ends, used = list[Along](), list[tuple[Expr, Expr]](), set[str]()
    for e in (t.target.index[n] for n in field.dims):
        (var, *more) = names(e) & loops.keys() or {""}
        if not var:
            every.append(Along("", 1, simplify(e)))
            ends.append((simplify(e), simplify(e)))
            continue
        factor = poly(e).coefficient(var).value if not more else None
        offset = simplify(substitute(e, {var: Const(0)}))
        whole = factor is not None and poly(e) == poly(_scaled(factor, Var(var), offset))
        if not whole or not factor or factor < 0 or var in used:
            raise NotStages(f"'{t.target.array}' is not written along its loops", t.loc)
        if factor > 1 and (value_of(offset) is None or value_of(loops[var].lo) is None):
            text = f"where '{t.target.array}' is written first is not known as a number"
            raise NotStages(text, t.loc)
        loop = loops[var]
        last = Bin("-", loop.hi, Const(1))
        ends.append(
            (simplify(_scaled(factor, loop.lo, offset)), simplify(_scaled(factor, last, offset)))
        )
        every.append(Along.of(loop, factor, offset))
        used.add(var)
    if loops.keys() - used:
        raise NotStages(f"'{t.target.array}' is written more than once", t.loc)
    for e in (x for pair in ends for x in pair):
        if names(e) & loops.keys() or any(loads(e)):
            raise NotStages("the bounds of the nest change with other loops", t.loc)
    found = [x for e in t.values for x in reads_of(e) if x[0].array in dims]
    reads = tuple(_read(t, x, dims, certain) for x, certain in found)
    bounds = tuple((_known(a, sizes), _known(b, sizes)) for a, b in ends)
    return Piece(0, field, t, tuple(every), bounds, reads, sizes)


def _known(e: Expr, sizes: Mapping[str, Expr]) -> Expr:
    return simplify(substitute(e, dict(sizes)))


def _scaled(factor: int, e: Expr, offset: Expr) -> Expr:
    return Bin("+", Bin("*", Const(factor), e), offset)


def _read(t: Template, x: Load, dims: dict[str, tuple[bool, ...]], certain: bool) -> BlockRead:
    field = field_of(x, dims, NO_TIME, 0, t.loc)
    return BlockRead(x, field, tuple(x.index[n] for n in field.dims), certain)
