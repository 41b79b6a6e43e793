"""How often loops run where tile sizes divide their ranges, and which conditions hold there.

The range of a loop is what its bounds say without the checks that only partial tiles need: a bound
that another one implies is left out, `e / T * T` is `e`. A condition that bounds the counter of a
loop narrows that loop. What stays open makes a range wider than it is: an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Call, Const, Expr, For, Function, Load, Var
from loopxform.ir.visit import loops, names, walk_expr, writes
from loopxform.model.quasi_polynomials import Amount, Divisions, amount, atom, number
from loopxform.records import record
from loopxform.transforms.edges.bounds import trips_to

Around = tuple[For, ...]
"""Loops without their bodies, outermost first."""

NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


@record
class Range:
    """`count` values from `first` in steps; at most so many where it is not `exact`. A count that
    is not `told` by sizes and counters is the average, and the values are unknown."""

    first: Amount
    step: Amount
    count: Amount
    exact: bool = True
    told: bool = True


def average(var: str) -> Amount:
    """How often the loop over `var` runs, of all the times that it does: `trips(e)`."""
    return atom(Var(f"trips({var})"))


def is_average(name: str) -> bool:
    return name.startswith("trips(")


def bare(loop: For) -> For:
    """The header of a loop."""
    return replace(loop, body=())


@record
class Ranges:
    """Of the loops of one program: `exact` are divisions that leave no rest, `sizes` are scalars
    that have one value throughout."""

    exact: Divisions
    sizes: frozenset[str]
    _found: dict[tuple[For, Around], Range] = field(default_factory=dict, compare=False)

    def of(self, loop: For, around: Around) -> Range:
        """The range of a loop inside others."""
        key = (loop, around)
        if key not in self._found:
            self._found[key] = self._range(loop, around)
        return self._found[key]

    def _range(self, loop: For, around: Around) -> Range:
        down = (value_of(loop.step) or 1) < 0
        ends = self._tightest(_parts(loop.hi, "max" if down else "min"), around, most=down)
        starts = self._tightest(_parts(loop.lo, "min" if down else "max"), around, most=not down)
        exact = len(starts) == 1 and len(ends) == 1
        pairs = ((self._count(loop, lo, hi), lo) for lo in starts for hi in ends)
        found = [(c, lo) for c, lo in pairs if c is not None and self._told(c, around)]
        step = amount(loop.step, self.exact)
        found.sort(key=lambda pair: pair[0].known is None)
        for count, lo in found:
            first = amount(lo, self.exact)
            if not any(count.mentions(x.var) for x in around):
                none = count.known is not None and count.known < 0
                return Range(first, step, Amount() if none else count, exact)
            if self._never_negative(count, around):
                return Range(first, step, count, exact)
            most = self._most(count, around)
            if most is not None and all(c > 0 for _, c in most.terms):
                return Range(first, step, most, exact=False)
        return Range(Amount(), step, average(loop.var), told=False)

    def _count(self, loop: For, lo: Expr, hi: Expr) -> Amount | None:
        step = amount(loop.step, self.exact)
        if step.known in (1, -1) or poly(loop.step) in self.exact:
            gap = amount(hi, self.exact) - amount(lo, self.exact)
            return gap.over(step)
        trips = trips_to(replace(loop, lo=lo), hi)
        return None if trips is None else amount(to_expr(trips), self.exact)

    def _told(self, a: Amount, around: Around) -> bool:
        """Whether a number follows from sizes, and from counters of which no loop further in has an
        average for its count: that must not be multiplied by what varies with it."""
        known = {x.var: n for n, x in enumerate(around)}
        for name in _scalars(a):
            if name not in known and name not in self.sizes:
                return False
            if name in known and not self.all_told(around, known[name]):
                return False
        return not any(isinstance(x, Load | Call) for e in _atoms(a) for x in walk_expr(e))

    def all_told(self, around: Around, depth: int) -> bool:
        """Whether the counts of all loops from a depth on are told."""
        return all(self.of(x, around[:n]).told for n, x in enumerate(around) if n >= depth)

    def _tightest(self, parts: list[Expr], around: Around, *, most: bool) -> list[Expr]:
        """Without the operands of a min (of a max where `most`) that another one implies."""
        kept: list[Expr] = []
        for n, e in enumerate(parts):
            others = [*kept, *parts[n + 1 :]]
            gaps = (self._apart(e, o) if not most else self._apart(o, e) for o in others)
            if not any(self._never_negative(g, around) for g in gaps):
                kept.append(e)
        return kept

    def _apart(self, a: Expr, b: Expr) -> Amount:
        return amount(a, self.exact) - amount(b, self.exact)

    # ------------------------------------------------------------ extreme values

    def _never_negative(self, a: Amount, around: Around) -> bool:
        """Whether a number that may depend on counters is known to be 0 or more."""
        least = self._least(a, around)
        return least is not None and least.known is not None and least.known >= 0

    def _most(self, a: Amount, around: Around) -> Amount | None:
        least = self._least(-a, around)
        return None if least is None else -least

    def _least(self, a: Amount, around: Around) -> Amount | None:
        """The least value over the loops; None where that is no formula."""
        for n in reversed(range(len(around))):
            loop = around[n]
            if not a.mentions(loop.var):
                continue
            powers, r = a.powers_of(loop.var), self.of(loop, around[:n])
            if powers is None or not r.told or powers.keys() - {0, 1}:
                return None
            sign = powers[1].known
            if sign is None:
                return None
            last = r.first + r.step * (r.count - number(1))
            upwards = (r.step.known or 1) > 0
            at = r.first if (sign > 0) == upwards else last
            a = powers.get(0, Amount()) + powers[1] * at
        return a

    # ------------------------------------------------------------ conditions

    def holds(self, test: Expr, around: Around) -> bool | None:
        """Whether a comparison always holds, or never; None where that is open."""
        gap = _gap(test)
        if gap is None or not self._counted(test, around):
            return None
        found = amount(to_expr(gap), self.exact)
        if self._never_negative(found, around):
            return True
        return False if self._never_negative(-found - number(1), around) else None

    def narrowed(self, test: Expr, around: Around) -> Around | None:
        """The loops of those iterations in which a comparison of counters holds; None where that
        is no range."""
        if not self._counted(test, around):
            return None
        match test:
            case Bin("==", left, right):
                once = self.narrowed(Bin("<=", left, right), around)
                return None if once is None else self.narrowed(Bin(">=", left, right), once)
            case _:
                gap = _gap(test)
        inner = [n for n, x in enumerate(around) if gap is not None and gap.mentions(x.var)]
        if gap is None or not inner:
            return None
        if not self.all_told(around, inner[-1]):
            return None
        loop = around[inner[-1]]
        factor, rest = gap.coefficient(loop.var), gap.without(loop.var)
        whole = rest + factor * poly(Var(loop.var)) == gap
        if not whole or factor.constant not in (1, -1) or value_of(loop.step) != 1:
            return None
        if factor.constant == 1:
            loop = replace(loop, lo=Bin("max", loop.lo, to_expr(-rest)))
        else:
            loop = replace(loop, hi=Bin("min", loop.hi, to_expr(rest + constant(1))))
        found = (*around[: inner[-1]], loop, *around[inner[-1] + 1 :])
        return found if self.all_told(found, inner[-1]) else None

    def _counted(self, test: Expr, around: Around) -> bool:
        """Whether it compares integers that are sizes and counters."""
        real = any(isinstance(x, Const) and x.type.is_float for x in walk_expr(test))
        return not real and names(test) <= self.sizes | {x.var for x in around}


def ranges(fn: Function, start: Function) -> Ranges:
    """Those of a program derived from `start`: the steps of loops that are not there are tiles."""
    own = {poly(s.loop.step) for s in loops(start)}
    exact: dict[Poly, frozenset[Poly]] = {}
    for x in (s.loop for s in loops(fn)):
        step = poly(x.step)
        if step not in own and len(step.terms) == 1:
            exact[step] = exact.get(step, frozenset()) | {poly(x.hi) - poly(x.lo)}
    counters = {s.loop.var for s in loops(fn)}
    numbers = {p.name for p in fn.objects if not p.array and p.type.is_integer}
    sizes = numbers - writes(fn.body) - counters
    return Ranges(exact, frozenset(sizes))


def negated(test: Expr) -> Expr | None:
    """The opposite of a comparison, or of an alternative of comparisons."""
    match test:
        case Bin("||", left, right):
            a, b = negated(left), negated(right)
            return None if a is None or b is None else Bin("&&", a, b)
        case Bin(op, left, right) if op in NEGATED:
            return Bin(NEGATED[op], left, right)
        case _:
            return None


def _gap(test: Expr) -> Poly | None:
    """What is 0 or more where a comparison of integers holds."""
    match test:
        case Bin("<", a, b):
            return poly(b) - poly(a) - constant(1)
        case Bin("<=", a, b):
            return poly(b) - poly(a)
        case Bin(">", a, b):
            return poly(a) - poly(b) - constant(1)
        case Bin(">=", a, b):
            return poly(a) - poly(b)
        case _:
            return None


def _parts(e: Expr, op: str) -> list[Expr]:
    """The operands of nested mins or maxs."""
    if isinstance(e, Bin) and e.op == op:
        return [*_parts(e.left, op), *_parts(e.right, op)]
    return [e]


def _atoms(a: Amount) -> Iterator[Expr]:
    return (x for powers, _ in a.terms for x, _ in powers)


def _scalars(a: Amount) -> set[str]:
    return {n for x in _atoms(a) for n in names(x)}
