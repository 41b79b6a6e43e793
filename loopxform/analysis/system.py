"""Integer feasibility by exact elimination: the questions a compiler asks a thousand times.

A conjunction is reduced by steps that keep its integer solutions: an equality with a unit
coefficient is substituted, other equalities are reduced by Euclid's algorithm, a variable bounded
on one side only is dropped with its constraints, and a variable whose lower (or upper) bounds all
have coefficient 1 is eliminated by Fourier and Motzkin's rule, which is then exact (Pugh, "The
Omega test", 1991). What resists goes to isl (`sets.sample`). Nearly all questions about loop nests
end here, at a hundredth of the price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from math import gcd

from loopxform.analysis import sets
from loopxform.analysis.linear import Conj, Constraint, Lin, plus, replaced, times
from loopxform.budget import spend
from loopxform.records import slotted

Key = tuple[tuple[str, int], ...]
Point = dict[str, int]

LIMIT = 120
"""Inequalities beyond which a step that adds to them is left to isl."""


_fresh = count(1)
"""Names of new variables are never reused: what one elimination leaves may enter the next."""


class _Infeasible(Exception):
    """A contradiction was derived."""


@slotted
class _Drop:
    """`name` was removed; these are the inequalities it must satisfy."""

    name: str
    bounds: tuple[Lin, ...]


@slotted
class _Set:
    """`name` was replaced by `value`."""

    name: str
    value: Lin


class _System:
    """Equalities, and inequalities with the tightest constant for every left-hand side. `uses` and
    `bounds` index the inequalities by the names in them."""

    def __init__(self, conj: Iterable[Constraint]) -> None:
        self.eqs: list[Lin] = []
        self.ineqs: dict[Key, int] = {}
        self.uses: dict[str, dict[Key, None]] = {}
        self.bounds: dict[str, list[int]] = {}
        self.trail: list[_Drop | _Set] = []
        self.fixed: set[str] = set()
        for c in conj:
            if c.eq:
                self.add_eq(c.lin)
            else:
                self.add_ineq(c.lin)

    def _put(self, key: Key, c: int) -> None:
        if key not in self.ineqs:
            for name, a in key:
                uses = self.uses.get(name)
                if uses is None:
                    self.uses[name] = {key: None}
                    self.bounds[name] = [0, 0, 0, 0]
                else:
                    uses[key] = None
                self._count(name, a, 1)
        self.ineqs[key] = c

    def _take(self, key: Key) -> Lin:
        c = self.ineqs.pop(key)
        for name, a in key:
            del self.uses[name][key]
            self._count(name, a, -1)
        return _lin(key, c)

    def _count(self, name: str, a: int, n: int) -> None:
        """Lower bounds, upper bounds, and those of each with a coefficient beyond 1."""
        bounds, side = self.bounds[name], 0 if a > 0 else 1
        bounds[side] += n
        if a > 1 or a < -1:
            bounds[side + 2] += n

    def _take_all(self, name: str) -> list[Lin]:
        return [self._take(key) for key in tuple(self.uses.get(name, ()))]

    def add_eq(self, lin: Lin) -> None:
        c = lin.get("", 0)
        g = gcd(*(v for k, v in lin.items() if k))
        if g == 0:
            if c:
                raise _Infeasible
            return
        if c % g:
            raise _Infeasible
        self.eqs.append({k: v // g for k, v in lin.items()} if g > 1 else lin)

    def add_ineq(self, lin: Lin) -> None:
        c = lin.get("", 0)
        terms = [(k, v) for k, v in lin.items() if k]
        if not terms:
            if c < 0:
                raise _Infeasible
            return
        if len(terms) > 1:
            terms.sort()
        g = gcd(*(v for _, v in terms))
        if g > 1:
            terms = [(k, v // g) for k, v in terms]
            c //= g
        key = tuple(terms)
        old = self.ineqs.get(key)
        if old is not None and old <= c:
            return
        opposite = tuple((k, -v) for k, v in terms)
        other = self.ineqs.get(opposite)
        if other is not None and other + c <= 0:
            if other + c < 0:
                raise _Infeasible
            self._take(opposite)
            if old is not None:
                self._take(key)
            self.eqs.append(_lin(key, c))
            return
        self._put(key, c)

    def substitute(self, name: str, value: Lin) -> None:
        """Replaces `name` everywhere; the caller has removed the equality it came from."""
        self.trail.append(_Set(name, value))
        eqs, self.eqs = self.eqs, []
        for lin in eqs:
            self.add_eq(replaced(lin, name, value) if name in lin else lin)
        for lin in self._take_all(name):
            self.add_ineq(replaced(lin, name, value))

    # ------------------------------------------------------------ equalities

    def solve_equalities(self, keep: frozenset[str]) -> None:
        """Uses up every equality that can still remove a variable outside `keep`."""
        while True:
            found = self._unit(keep)
            if found is None and not self._euclid(keep):
                return
            if found is not None:
                n, name = found
                lin = self.eqs.pop(n)
                rest = {k: v for k, v in lin.items() if k != name}
                self.substitute(name, times(rest, -lin[name]))

    def _unit(self, keep: frozenset[str]) -> tuple[int, str] | None:
        for n, lin in enumerate(self.eqs):
            for name, c in lin.items():
                if (c == 1 or c == -1) and name and name not in keep:
                    return n, name
        return None

    def _euclid(self, keep: frozenset[str]) -> bool:
        """Shrinks the coefficients of one equality: with |a| the least coefficient of the removable
        names, a*x + sum(b*y) + ... becomes a*z + sum((b mod a)*y) + ..., z new. Where names to keep
        remain, it ends as g*z + (names to keep): z is then fixed, lest another equality undo it."""
        for lin in self.eqs:
            free = [(abs(v), k) for k, v in lin.items() if k and k not in keep | self.fixed]
            whole = len(free) == sum(1 for k in lin if k)
            if len(free) == 1 and not whole:
                self.fixed.add(free[0][1])
            if len(free) < 2:
                continue
            _, name = min(free)
            a, removable = lin[name], {k for _, k in free} | ({""} if whole else set())
            shift = {k: v // a for k, v in lin.items() if k != name and k in removable and v // a}
            self.substitute(name, plus({f"$e{next(_fresh)}": 1}, shift, -1))
            return True
        return False

    # ------------------------------------------------------------ inequalities

    def eliminate(self, keep: frozenset[str]) -> None:
        """Removes variables outside `keep` while an exact rule applies."""
        while True:
            spend()
            self.solve_equalities(keep)
            best = self._cheapest(keep)
            if best is None:
                return
            self._fourier_motzkin(best)

    def _cheapest(self, keep: frozenset[str]) -> str | None:
        """The removable name that leaves the fewest inequalities; None where there is none, or
        where a large system would grow."""
        fixed = {k for lin in self.eqs for k in lin}
        best, cost = None, 1 << 30 if len(self.ineqs) <= LIMIT else 1
        for name, (low, high, rough_low, rough_high) in self.bounds.items():
            price = low * high - low - high
            if price >= cost or name in keep or name in fixed or not (low or high):
                continue
            if low and high and rough_low and rough_high:
                continue
            best, cost = name, price
        return best

    def _fourier_motzkin(self, name: str) -> None:
        lins = self._take_all(name)
        del self.uses[name], self.bounds[name]
        self.trail.append(_Drop(name, tuple(lins)))
        lowers = [x for x in lins if x[name] > 0]
        uppers = [x for x in lins if x[name] < 0]
        for low in lowers:
            for high in uppers:
                self.add_ineq(plus(times(low, -high[name]), high, low[name]))

    # ------------------------------------------------------------ results

    def rest(self) -> Conj:
        eqs = tuple(Constraint(True, x) for x in self.eqs)
        return eqs + tuple(Constraint(False, _lin(k, c)) for k, c in self.ineqs.items())


def _unwound(trail: list[_Drop | _Set], point: Point) -> Point:
    """Values for the removed variables, last removed first, each as near to 0 as it can be."""
    out = dict(point)
    for step in reversed(trail):
        if isinstance(step, _Set):
            out[step.name] = _value(step.value, out)
        else:
            out[step.name] = _nearest(step, out)
    return out


def _lin(key: Key, c: int) -> Lin:
    out = dict(key)
    if c:
        out[""] = c
    return out


def _value(lin: Lin, point: Point) -> int:
    return sum(c * (point.setdefault(k, 0) if k else 1) for k, c in lin.items())


def _nearest(step: _Drop, point: Point) -> int:
    low: int | None = None
    high: int | None = None
    for lin in step.bounds:
        a = lin[step.name]
        rest = sum(
            c * (point.setdefault(k, 0) if k else 1) for k, c in lin.items() if k != step.name
        )
        if a > 0:
            bound = -(rest // a)
            low = bound if low is None else max(low, bound)
        else:
            bound = rest // -a
            high = bound if high is None else min(high, bound)
    value = 0 if low is None else max(low, 0)
    return value if high is None else min(value, high)


NOTHING: frozenset[str] = frozenset()


class Elimination:
    """A conjunction reduced to `rest`, whose projection on `keep` is the same, with as few other
    variables as the exact rules leave; `rest` is None where it is certainly infeasible."""

    def __init__(self, conj: Sequence[Constraint], keep: frozenset[str] = NOTHING) -> None:
        self.rest: Conj | None = None
        self._trail: list[_Drop | _Set] = []
        try:
            system = _System(conj)
            system.eliminate(keep)
        except _Infeasible:
            return
        self.rest, self._trail = system.rest(), system.trail

    def point(self, also: Conj = ()) -> Point | None:
        """An integer point of the conjunction that satisfies `also` (over names that were kept), or
        None where there is none. Raises `sets.TooHard` where isl gives up."""
        if self.rest is None:
            return None
        rest = (*self.rest, *also)
        known = Elimination(rest).point() if also else sets.sample(rest) if rest else {}
        return None if known is None else _unwound(self._trail, known)


def solve(conj: Sequence[Constraint]) -> Point | None:
    """An integer point of the conjunction (names it does not mention are absent), or None where
    there is none. Raises `sets.TooHard` where isl gives up."""
    return Elimination(conj).point()


def feasible(conj: Sequence[Constraint]) -> bool:
    """Whether the conjunction has an integer point; true where isl gives up."""
    reduced = Elimination(conj)
    if not reduced.rest:
        return reduced.rest is not None
    try:
        return sets.sample(reduced.rest) is not None
    except sets.TooHard:
        return True


def eliminate(conj: Sequence[Constraint], keep: frozenset[str]) -> Conj | None:
    """See `Elimination`."""
    return Elimination(conj, keep).rest
