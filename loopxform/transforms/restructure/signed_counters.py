"""Signed counters: for (unsigned i = 1; i < n - 1; i++) A[i] = B[i - 1];
  ->  int n_2 = n;  for (int i = 1; i < n_2 - 1; i++) A[i] = B[i - 1];

Many steps compute with coordinates beside those of the program, a halo before the first element
say, where unsigned numbers wrap around. Legal where the sizes are parameters that nothing sets, and
are assumed to be small (`assume n<=536870912`): a bound that is a size more or less a number is
then the same in signed numbers, and so are sums of two counters or sizes in subscripts. Elsewhere,
a counter is converted back to its type. (ISO C11, 6.2.5 and 6.3.1.3, on numbers that wrap around.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, value_of
from loopxform.ir.names import fresh
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
    Stmt,
    Var,
)
from loopxform.ir.types import INT, Scalar
from loopxform.ir.typing import COMPARISONS, symbols
from loopxform.ir.visit import (
    LoopSite,
    map_body,
    map_children,
    names,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted

MOST = 1 << 29
"""What sizes are assumed to be at most: sums of two, and as much again, are ints."""

TWO = 2
"""Counters and sizes of a sum, counted as often as they are added."""


@record
class SignedCounters(Step):
    """Counts with ints in `loop` and in the loops inside it, where they count with unsigned
    numbers, or up to them."""

    loop: str

    verb: ClassVar[str] = "signed-counters"
    usage: ClassVar[str] = "signed-counters LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        return tuple(_Counters(fn, site).obstacles())[:1]

    def rewrite(self, fn: Function) -> Function:
        return _Counters(fn, trusted(one_loop(fn, self.loop))).signed(str(self))

    def reason(self, fn: Function) -> str:
        found = _Counters(fn, trusted(one_loop(fn, self.loop)))
        return f"{', '.join(sorted(found.counters | found.sizes))} are small and not negative"


def small(name: str) -> Expr:
    """What is assumed of a size."""
    return Bin("<=", Var(name), Const(MOST))


def unsigned_sizes(fn: Function, site: LoopSite) -> frozenset[str]:
    """The sizes that a nest counts up to in unsigned numbers."""
    return _Counters(fn, site).sizes


class _Counters:
    """The loops of a nest, the counters that are unsigned, and the unsigned `sizes` in bounds."""

    def __init__(self, fn: Function, site: LoopSite) -> None:
        self.fn, self.site, self.types = fn, site, symbols(fn)
        self.loops = [s for _, s in walk((site.loop,)) if isinstance(s, For)]
        self.counters = frozenset(x.var for x in self.loops if _wraps(x.type))
        bounds = frozenset(n for x in self.loops for e in (x.lo, x.hi) for n in names(e))
        unsigned = frozenset(n for n in bounds if n in self.types and _wraps(self.types[n]))
        self.sizes = unsigned - {x.var for x in self.loops}

    def obstacles(self) -> Iterator[Obstacle]:
        fn, loc = self.fn, self.site.loop.origin.loc
        if not self.counters | self.sizes:
            yield Obstacle("LX268", "no loop of the nest counts in unsigned numbers", loc)
        fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
        for name in sorted(self.sizes - fixed):
            text = f"'{name}' is no integer of the caller's that keeps its value"
            yield Obstacle("LX268", text, loc, remedy="count up to a parameter")
        for name in sorted(self.sizes):
            if small(name) not in fn.assumes:
                text = f"'{name}' may be too large for an int"
                yield Obstacle("LX268", text, loc, remedy=f"assume {name}<={MOST}")
        plain = (For, Assign, If, Decl)
        for _, x in walk((self.site.loop,)):
            if not isinstance(x, plain):
                text = "a statement of the nest is none that can be rewritten"
                yield Obstacle("LX268", text, x.origin.loc)
        inside = {id(s) for s in self.loops}
        for s in (s for _, s in walk(fn.body) if isinstance(s, For) and id(s) not in inside):
            if s.var in self.counters:
                text = f"'{s.var}' counts another loop as well"
                yield Obstacle("LX268", text, s.origin.loc, remedy="give it a counter of its own")
        for loop in self.loops:
            if (loop.var in self.counters or self._is_converted(loop)) and not self._keeps_bounds(
                loop
            ):
                text = f"the bounds of '{loop.var}' may have other values as signed numbers"
                remedy = "count upwards, to a size plus or minus a number"
                yield Obstacle("LX268", text, loop.origin.loc, remedy=remedy)

    def _is_converted(self, x: For) -> bool:
        return bool((names(x.lo) | names(x.hi)) & (self.sizes | self.counters))

    def _keeps_bounds(self, x: For) -> bool:
        return value_of(x.step) == 1 and not x.live_out and all(map(self._is_exact, (x.lo, x.hi)))

    def _is_exact(self, e: Expr) -> bool:
        """Whether a bound is a small number that is not negative, whatever the sizes are."""
        sum, constant = poly(e), 0
        used = names(e)
        if len(used) > 1 or not used <= self.sizes | self.counters:
            return False
        for name in used:
            rest = (sum - poly(Var(name))).value
            if rest is None or abs(rest) > MOST:
                return False
            constant = rest
            if constant < 0:
                return any(_is_least(a, name, -constant) for a in self.fn.assumes)
        return bool(used) or 0 <= (sum.value if sum.value is not None else -1) <= MOST

    # ------------------------------------------------------------ rewriting

    def signed(self, step: str) -> Function:
        """The function with the nest in signed numbers."""
        fn, origin = self.fn, self.site.loop.origin.then(step)
        self.own: dict[str, Expr] = {n: Var(n) for n in self.counters}
        before: list[Stmt] = []
        for name in sorted(self.sizes):
            own = fresh(fn, name)
            first = Assign(Var(own), Var(name), label=f"begin_{own}", origin=origin)
            before += [Decl(own, INT, origin=origin), first]
            self.own[name] = Var(own)
        body = map_body((self.site.loop,), lambda s: (self._statement(s),))
        fn = replace_at(fn, self.site.path, body)
        return replace(fn, body=(*before, *fn.body))

    def _statement(self, s: Stmt) -> Stmt:
        if isinstance(s, For) and not (s.var in self.counters or self._is_converted(s)):
            return s
        if isinstance(s, For):
            type = INT if s.var in self.counters else s.type
            return replace(s, type=type, lo=self._linear(s.lo), hi=self._linear(s.hi))
        if isinstance(s, Assign):
            target = s.target
            if isinstance(target, Load):
                target = replace(target, index=tuple(map(self._subscript, target.index)))
            return replace(s, target=target, value=self._value(s.value))
        return replace(s, cond=self._value(s.cond)) if isinstance(s, If) else s

    def _value(self, e: Expr) -> Expr:
        """A value, in which counters are converted back."""
        if isinstance(e, Load):
            return replace(e, index=tuple(map(self._subscript, e.index)))
        if isinstance(e, Var) and e.name in self.counters:
            return Cast(self.types[e.name], e)
        if isinstance(e, Bin) and e.op in COMPARISONS - {"&&", "||"}:
            left, right = self._natural(e.left), self._natural(e.right)
            if left is not None and right is not None:
                return replace(e, left=left, right=right)
        return map_children(e, self._value)

    def _subscript(self, e: Expr) -> Expr:
        used = names(e) & self.own.keys()
        if not used:
            return map_children(e, self._subscript) if isinstance(e, Load) else self._value(e)
        natural = self._linear(e) if self._is_sum(e) else self._natural(e)
        return self._value(e) if natural is None else natural

    def _natural(self, e: Expr) -> Expr | None:
        """In ints, an expression that is no negative number; None where that is not known."""
        match e:
            case Bin("%" | "&" | "/", left, Const(int(n))) if n > 0:
                natural = self._natural(left)
                return None if natural is None else replace(e, left=natural, right=Const(n))
        if self._is_sum(e) and all(c >= 0 for _, c in poly(e).terms):
            return self._linear(e)
        return None

    def _is_sum(self, e: Expr) -> bool:
        """Whether an expression is a sum of at most two counters or sizes, and of a number."""
        count = 0
        for monomial, factor in poly(e).terms:
            match monomial:
                case ():
                    if abs(factor) > MOST:
                        return False
                case (Var(name),) if name in self.own:
                    count += abs(factor)
                case _:
                    return False
        return count <= TWO

    def _linear(self, e: Expr) -> Expr:
        if isinstance(e, Var):
            return self.own.get(e.name, e)
        if isinstance(e, Cast):
            return self._linear(e.operand)
        if isinstance(e, Const):
            return Const(e.value) if isinstance(e.value, int) else e
        return map_children(e, self._linear)


def _wraps(t: Scalar) -> bool:
    return t.is_integer and t.is_unsigned and t.bytes >= INT.bytes


def _is_least(a: Expr, name: str, number: int) -> bool:
    """Whether a condition says that a size is no less than a number."""
    match a:
        case Bin(">=", Var(n), Const(int(least))):
            return n == name and least >= number
        case _:
            return False
