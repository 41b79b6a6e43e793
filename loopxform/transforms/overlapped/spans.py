"""Which elements of an array a tile needs: bounds that are the same for every tile.

A subscript that never falls as a coordinate p of the element that is written grows lies within
`factor*p + [low, high]`, whatever clamps it: `p/2`, `2*p + 1`, `max(min(p - 1, n - 1), 0)`.
What it is over a tile lies between what it is at the tile's ends.

Clamps move no two numbers further apart, median(u, A, B) - median(u', A', B') being at most the
greatest of the differences |u - u'|, |A - A'|, |B - B'|: so a box has at most as many elements as
`Span.width` says, wherever the tile lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm

from loopxform.ir.affine import Monomial, Poly, poly, value_of
from loopxform.ir.clamps import clamped, extremum
from loopxform.ir.memo import Table, remembered
from loopxform.ir.nodes import Bin, Const, Expr, Select, Var
from loopxform.ir.visit import map_expr, names, substitute
from loopxform.records import record

Slack = tuple[int, int]

LARGEST = 1 << 31

DEEPEST = 8
"""Choices of mins and maxes that are looked into."""


@record
class Line:
    """Whatever clamps it, an expression of a coordinate p, which is not negative, lies within
    `factor*p + [low, high]`, and never falls."""

    factor: Fraction
    low: Fraction
    high: Fraction


@remembered(8192)
def line(e: Expr, p: str) -> Line | None:
    """An integer expression of a coordinate and of numbers that no tile changes, as a line; None
    where it is none that never falls."""
    whole = poly(e)
    if not whole.mentions(p):
        return None
    varying = [(m, c) for m, c in whole.terms if any(p in names(a) for a in m)]
    rest = Poly(tuple(t for t in whole.terms if t not in varying)).value
    if len(varying) != 1 or rest is None or len(varying[0][0]) != 1 or varying[0][1] <= 0:
        return None
    ((atom,), times) = varying[0]
    inner = Line(Fraction(1), Fraction(0), Fraction(0)) if atom == Var(p) else _atom(atom, p)
    if inner is None:
        return None
    return Line(inner.factor * times, inner.low * times + rest, inner.high * times + rest)


def _atom(e: Expr, p: str) -> Line | None:
    match e:
        case Bin("/", left, right) if (n := value_of(right)) is not None and n > 0:
            return _divided(line(left, p), n, n - 1)
        case Bin(">>", left, right) if (n := value_of(right)) is not None and 0 <= n < 31:
            return _divided(line(left, p), 1 << n, 0)
        case Bin("min" | "max", left, right):
            inside = [x for x in (left, right) if p in names(x)]
            return line(inside[0], p) if len(inside) == 1 else None
        case _:
            return None


def _divided(inner: Line | None, n: int, up: int) -> Line | None:
    """C rounds towards 0: up to n - 1 less than what is divided, or more where that is negative."""
    if inner is None:
        return None
    up = up if inner.low < 0 else 0
    return Line(inner.factor / n, (inner.low - (n - 1)) / n, (inner.high + up) / n)


@record
class Clamped:
    """A subscript, which is what it stands for if each of `ends` is a first and a last number."""

    index: Expr
    ends: tuple[tuple[Expr, Expr], ...] = ()


def without_choices(e: Expr, counters: frozenset[str]) -> Clamped:
    """A subscript of signed integers with mins and maxes for the choices that clamp it."""
    ends = list[tuple[Expr, Expr]]()

    def each(x: Expr) -> Expr:
        if not isinstance(x, Select):
            return x
        op = extremum(x.cond, x.then, x.orelse)
        if op is not None:
            return Bin(op, x.then, x.orelse)
        of = clamped(x, lambda y: not names(y) & counters)
        if of.floor is None or of.last is None:
            return x
        ends.append((of.floor, of.last))
        return Bin("max", Bin("min", of.index, of.last), of.floor)

    return Clamped(map_expr(e, each), tuple(ends))


# ---------------------------------------------------------------- spans


@record
class Span:
    """Coordinates median(u, A, B), u from `scale*b + low` to `scale*(b + size) + high` where the
    tile begins at b along dimension `axis` of space and has so many elements there (None: the same
    for all tiles), A in `first` and B in `last`, each with so much `slack` before and behind."""

    axis: int | None
    scale: Fraction
    low: Fraction
    high: Fraction
    first: Expr
    last: Expr
    slack: tuple[Slack, Slack] = ((0, 0), (0, 0))

    def width(self, sizes: tuple[int, ...], begin: tuple[int | None, ...] = ()) -> int:
        """The most elements, of tiles of some sizes, the first of which begins at `begin` (None:
        not known): as many as there are whole numbers between the ends."""
        grows, there, parts, least = self._widths
        size = sizes[self.axis] if self.axis is not None else 0
        at = begin[self.axis] if self.axis is not None and begin else None
        if at is not None and not (grows * at % parts or grows * size % parts):
            apart = grows * size // parts + floor(self.high) - ceil(self.low)
            return max(apart, least) + 1
        return max((grows * size + there) // parts, least) + 1

    @cached_property
    def _widths(self) -> tuple[int, int, int, int]:
        """How far apart the ends are: the floor of a line of sizes in whole numbers (how it grows,
        where it begins, by what it is divided), or the `least` number."""
        apart = self.high - self.low
        parts = lcm(self.scale.denominator, apart.denominator)
        least = max(behind - before for before, behind in self.slack)
        return int(self.scale * parts), int(apart * parts), parts, least

    def read(self, e: Expr, p: str) -> Span | None:
        """The values of a subscript over the elements of the span."""
        if p not in names(e):
            return fixed(e)
        of = line(e, p)
        if of is None:
            return None
        spread = of.high - of.low
        at_first, at_last = (_moved(s, of.factor, spread) for s in self.slack)
        return Span(
            self.axis,
            self.scale * of.factor,
            of.factor * self.low + of.low,
            of.factor * self.high + of.high,
            substitute(e, {p: self.first}),
            substitute(e, {p: self.last}),
            (at_first, at_last),
        )

    def every_nth(self, factor: int, offset: int, first: Expr, last: Expr) -> Span:
        """The iterations, from `first` to `last`, that write every so manieth coordinate."""
        spread = Fraction(factor - 1, factor)
        (a, b), (c, d) = (_moved(s, Fraction(1, factor), spread) for s in self.slack)
        return Span(
            self.axis,
            self.scale / factor,
            (self.low - offset) / factor,
            (self.high - offset) / factor,
            first,
            last,
            ((a - 1, b), (c, d + 1)),
        )

    def with_(self, other: Span) -> Span | None:
        """The hull; None where no number bounds it."""
        if (self.axis, self.scale) != (other.axis, other.scale):
            return None
        at_first = _either(self.first, self.slack[0], other.first, other.slack[0])
        at_last = _either(self.last, self.slack[1], other.last, other.slack[1])
        if at_first is None or at_last is None:
            return None
        low, high = min(self.low, other.low), max(self.high, other.high)
        return replace(self, low=low, high=high, slack=(at_first, at_last))

    def clamped(self, first: Expr, last: Expr) -> Span:
        """The same where the coordinates are clamped, as far as it is known by how much."""
        (_, behind), (before, _) = self.slack
        above, below = difference(self.first, first)[1], difference(self.last, last)[0]
        found = self
        if above is not None:
            found = replace(found, first=first, slack=((0, max(0, above + behind)), found.slack[1]))
        if below is not None:
            found = replace(found, last=last, slack=(found.slack[0], (min(0, below + before), 0)))
        return found

    def within(self, first: Expr, last: Expr) -> Span:
        """The same where the coordinates are clamped."""
        found = self.clamped(first, last)

        def end(e: Expr) -> Expr:
            return e if e in (first, last) else Bin("max", Bin("min", e, last), first)

        return replace(found, first=end(found.first), last=end(found.last))


def _either(mine: Expr, slack: Slack, theirs: Expr, more: Slack) -> Slack | None:
    """The slack around `mine` that holds another end too."""
    least, most = difference(theirs, mine)
    if least is None or most is None:
        return None
    return min(slack[0], least + more[0]), max(slack[1], most + more[1])


def fixed(e: Expr) -> Span | None:
    """A subscript that is a number."""
    n = value_of(e)
    return None if n is None else whole(Const(n), Const(n))


def whole(first: Expr, last: Expr) -> Span | None:
    """All of a dimension, where its ends are numbers."""
    lo, hi = value_of(first), value_of(last)
    if lo is None or hi is None:
        return None
    return Span(None, Fraction(0), Fraction(lo), Fraction(hi), first, last)


def _moved(slack: Slack, factor: Fraction, spread: Fraction) -> Slack:
    before, behind = slack
    return (
        -floor(-before * factor + spread) if before else 0,
        floor(behind * factor + spread) if behind else 0,
    )


# ---------------------------------------------------------------- differences


Bounds = tuple[int | None, int | None]

_differences = Table[Bounds](16384, lasting=True)


def difference(a: Expr, b: Expr) -> Bounds:
    """Numbers that a - b is not less and not more than, whatever the sizes are."""
    found = _differences.get((a, b))
    if found is None:
        found = _difference(a, b)
        _differences.put((a, b), found)
    return found


def _difference(a: Expr, b: Expr) -> Bounds:
    gap = poly(a) - poly(b)
    least, most = _most(_terms(-gap), 0), _most(_terms(gap), 0)
    return None if least is None else ceil(-least), None if most is None else floor(most)


Terms = Mapping[Monomial, Fraction]


def _terms(p: Poly) -> Terms:
    return {m: Fraction(c) for m, c in p.terms}


def _most(terms: Terms, depth: int) -> Fraction | None:
    """A number that a sum is not more than."""
    found = next(((m, c) for m, c in terms.items() if len(m) == 1 and _opens(m[0])), None)
    if found is None:
        return terms.get((), Fraction(0)) if terms.keys() <= {()} else None
    (atom,), factor = found
    assert isinstance(atom, Bin)
    if atom.op in ("/", ">>"):
        n = value_of(atom.right) or 0
        n = n if atom.op == "/" else 1 << n
        share = _plus(terms, poly(atom.left), factor / n, without=(atom,))
        return _most({**share, (): share.get((), Fraction(0)) + abs(factor) * (n - 1) / n}, depth)
    if depth >= DEEPEST:
        return None
    left, right = (
        _most(_plus(terms, poly(x), factor, without=(atom,)), depth + 1)
        for x in (atom.left, atom.right)
    )
    either = (left, right) if (atom.op == "min") == (factor > 0) else (_greater(left, right),)
    every = (*either, *_paired(terms, atom, factor, depth))
    return min((x for x in every if x is not None), default=None)


def _paired(terms: Terms, atom: Bin, factor: Fraction, depth: int) -> Iterator[Fraction | None]:
    """min(a, b) - min(c, d) is at most the greater one of a - c and b - d."""
    for m, c in terms.items():
        other = m[0] if len(m) == 1 else None
        if c != -factor or not isinstance(other, Bin) or other.op != atom.op:
            continue
        rest = {k: v for k, v in terms.items() if k not in ((atom,), m)}
        for x, y in ((other.left, other.right), (other.right, other.left)):
            each = (
                _most(_plus(rest, poly(p) - poly(q), factor, without=None), depth + 1)
                for p, q in ((atom.left, x), (atom.right, y))
            )
            yield _greater(*each)


def _greater(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else max(a, b)


def _opens(atom: Expr) -> bool:
    match atom:
        case Bin("/" | ">>", _, right):
            return 0 < (value_of(right) or 0) < (31 if atom.op == ">>" else LARGEST)
        case Bin("min" | "max"):
            return True
        case _:
            return False


def _plus(terms: Terms, more: Poly, factor: Fraction, without: Monomial | None) -> Terms:
    out = {m: c for m, c in terms.items() if m != without}
    for m, c in more.terms:
        out[m] = out.get(m, Fraction(0)) + factor * c
    return {m: c for m, c in out.items() if c}
