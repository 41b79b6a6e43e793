"""Rows of one length behind starts that an array holds: which elements iterations touch of them.

    for r: { s = p[r]; for i = 0 .. n: y[s + i] += ...; }      the n elements from p[r] on

Subscripts are a start, plus counters of loops between bounds that no iteration changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from loopxform.analysis.accesses import touched
from loopxform.ir.affine import Monomial, Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Expr,
    For,
    Function,
    If,
    Load,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.types import LLONG
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    along,
    declared,
    loads,
    map_expr,
    names,
    stmt_exprs,
    substitute,
    walk,
    walk_expr,
    writes,
)
from loopxform.transforms.restructure.row_places import moving

Span: TypeAlias = tuple[Poly, Poly]
"""The first and the last of some numbers."""


class RowsOfOneLength:
    """The elements `span` from `start` on."""

    def __init__(self, reader: _Reader, start: Load, span: Span) -> None:
        self.reader, self.start, self.span = reader, start, span

    @property
    def array(self) -> str:
        return self.start.array

    @property
    def begin(self) -> Expr:
        """The first row has none before it."""
        return to_expr(poly(self.reader.loop.lo) + constant(1))

    def ascends(self, var: str) -> Expr:
        """Asked so that nothing overflows: a start below the length has no row before it, and a
        length that is computed may be more than an int holds."""
        counter = self.reader.loop.var
        here = substitute(self.start, {counter: Var(var)})
        before = substitute(self.start, {counter: Bin("-", Var(var), Const(1))})
        first, last = self.span
        count = last - first + constant(1)
        length = to_expr(count) if count.value is not None else map_expr(to_expr(count), _wide)
        return Bin("&&", Bin(">=", here, length), Bin("<=", before, Bin("-", here, length)))

    def holds(self, path: Path, index: Expr) -> bool:
        found = self.reader.place(path, index)
        if found is None or found[0] != self.start:
            return False
        (first, last), (low, high) = self.span, found[1]
        gaps = ((low - first).value, (last - high).value)
        return all(g is not None and g >= 0 for g in gaps)


def rows_of_one_length(fn: Function, loop: For) -> Iterator[RowsOfOneLength]:
    """The rows of a loop that counts upwards by 1 from a number, for each start that every
    iteration certainly reads, and that says where elements are which the loop stores to."""
    if value_of(loop.step) != 1 or value_of(loop.lo) is None:
        return
    if any(isinstance(s, Return) for _, s in walk(loop.body)):
        return
    reader = _Reader(fn, loop)
    found = defaultdict[Load, list[Span]](list)
    stored = writes(loop.body) - declared(loop.body).keys()
    places = ((p, x) for p, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
    for path, x in places:
        for index in x.index if x.array in stored else ():
            if (place := reader.place(path, index)) is not None:
                found[place[0]].append(place[1])
    surely = set(reader.surely(loop.body))
    for start, spans in found.items():
        first, last = _least([a for a, _ in spans]), _least([-b for _, b in spans])
        if start in surely and first is not None and last is not None:
            yield RowsOfOneLength(reader, start, (first, -last))


def _least(numbers: Sequence[Poly]) -> Poly | None:
    """The least of numbers whose differences are known."""
    gaps = [(n - numbers[0]).value for n in numbers]
    known = [g for g in gaps if g is not None]
    return numbers[gaps.index(min(known))] if len(known) == len(gaps) else None


class _Reader:
    """What subscripts in the body of a loop say of its iteration."""

    def __init__(self, fn: Function, loop: For) -> None:
        self.loop, self.types, self.changed = loop, symbols(fn), moving(loop)
        self.scalars = self._scalars()

    def _scalars(self) -> dict[str, tuple[int, Expr]]:
        """What each iteration sets once, from what it does not change, with the statement of its
        body that does."""
        out = dict[str, tuple[int, Expr]]()
        inside = [s for _, s in walk(self.loop.body)]
        sets = Counter(name for s in inside for name in _set_by(s))
        for n, s in enumerate(self.loop.body):
            if not isinstance(s, Assign) or not isinstance(s.target, Var) or s.op:
                continue
            value = substitute(s.value, {name: e for name, (_, e) in out.items()})
            once = sets[s.target.name] == 1 and not names(value) & self.changed
            if once and self._keeps(Cast(self.types[s.target.name], value)):
                out[s.target.name] = n, value
        return out

    def _keeps(self, e: Expr) -> bool:
        """Whether a value is computed of signed integers that no cast makes shorter."""
        parts = {x: type_of(x, self.types) for x in walk_expr(e)}
        casts = (x for x in parts if isinstance(x, Cast))
        whole = all(x.type.bytes >= type_of(x.operand, self.types).bytes for x in casts)
        return whole and all(t.is_integer and not t.is_unsigned for t in parts.values())

    def place(self, path: Path, index: Expr) -> tuple[Load, Span] | None:
        """The start that a subscript at `path` is counted from, and how far behind it the
        subscript may be."""
        known = {name: e for name, (n, e) in self.scalars.items() if n < path[0]}
        whole = poly(substitute(index, known))
        starts = [m for m, _ in whole.terms if any(isinstance(x, Load) for x in _parts(m))]
        if len(starts) != 1 or len(starts[0]) != 1 or not isinstance(starts[0][0], Load):
            return None
        start = starts[0][0]
        rest = whole - poly(start)
        fixed = names(start).isdisjoint(self.changed) and self.loop.var in names(start)
        if any(isinstance(x, Load) for m, _ in rest.terms for x in _parts(m)) or not fixed:
            return None
        if self.types[start.array].is_unsigned or not self.types[start.array].is_integer:
            return None
        low = high = constant(0)
        for m, factor in rest.terms:
            span = self._span(m, path)
            if span is None:
                return None
            ends = [constant(factor) * x for x in span]
            first, last = ends if factor > 0 else reversed(ends)
            low, high = low + first, high + last
        return start, (low, high)

    def _span(self, product: Monomial, path: Path) -> Span | None:
        """Between which numbers a product is: a counter of a loop around the place, or what no
        iteration changes."""
        around = {s.var: s for s in along(self.loop.body, path)[:-1] if isinstance(s, For)}
        match product:
            case (Var(name),) if name in around:
                s = around[name]
                step = value_of(s.step)
                if not step or name in writes(s.body) or self.types[name].is_unsigned:
                    return None
                lo, hi = poly(s.lo), poly(s.hi)
                ends = (lo, hi - constant(1)) if step > 0 else (hi + constant(1), lo)
                same = all(self._is_fixed(m) for x in ends for m, _ in x.terms)
                return ends if same else None
            case _ if self._is_fixed(product):
                return (Poly(((product, 1),)),) * 2
        return None

    def _is_fixed(self, product: Monomial) -> bool:
        """Whether it is signed, and the same in all iterations."""
        parts = list(_parts(product))
        named = {n for x in parts for n in names(x)}
        unsigned = any(type_of(x, self.types).is_unsigned for x in parts)
        is_data = any(isinstance(x, Load) for x in parts)
        return not (unsigned or is_data or named & (self.changed | {self.loop.var}))

    def surely(self, body: Sequence[Stmt]) -> Iterator[Load]:
        """The elements that every run of a body reads, scalars replaced."""
        known = {name: e for name, (_, e) in self.scalars.items()}
        for s in body:
            for e in self._asked(s):
                for x, guards in touched(substitute(e, known)):
                    if isinstance(x, Load) and not guards:
                        yield x
            if isinstance(s, For) and s.asks is None and _runs(s):
                yield from self.surely(s.body)

    def _asked(self, s: Stmt) -> Iterator[Expr]:
        match s:
            case Assign(target, value):
                yield value
                yield from target.index if isinstance(target, Load) else ()
            case If(cond):
                yield cond
            case For():
                yield from (s.lo, s.hi)


def _wide(e: Expr) -> Expr:
    return Cast(LLONG, e) if isinstance(e, Var) else e


def _parts(product: Monomial) -> Iterator[Expr]:
    return (x for atom in product for x in walk_expr(atom))


def _set_by(s: Stmt) -> tuple[str, ...]:
    """The scalar that a statement sets itself."""
    if isinstance(s, For):
        return (s.var,)
    return (s.target.name,) if isinstance(s, Assign) and isinstance(s.target, Var) else ()


def _runs(loop: For) -> bool:
    """Whether a loop certainly has an iteration."""
    first, last, step = (value_of(e) for e in (loop.lo, loop.hi, loop.step))
    if first is None or last is None or not step:
        return False
    return first < last if step > 0 else first > last
