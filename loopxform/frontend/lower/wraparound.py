"""Unsigned arithmetic that may wrap around is marked, so that nobody takes it for mathematics.

    e of an unsigned type T  ->  e        where 0 <= e < 2^bits is proven, or asked of the arguments
                             ->  (T) e    otherwise

A cast of an expression to the type it has already means nothing in C. In the loop tree it says that
the arithmetic below may wrap (C11 6.2.5): analysis takes the whole for an unknown number, and no
rewriting looks through it. Subscripts, loop bounds, conditions, and scalars that may stand for them
are checked; other arithmetic on data is left alone. As analysis learns nothing of comparisons with
data, nothing is asked for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from loopxform.frontend.lower.accesses import known_scalars
from loopxform.frontend.lower.facts import Facts, follows, is_stable
from loopxform.frontend.lower.ranges import Context, extremes, loop_bounds, under
from loopxform.ir.affine import Poly, poly, to_expr
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
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
    While,
)
from loopxform.ir.types import ULONG, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import (
    loads,
    map_children,
    map_expr,
    names,
    stmt_exprs,
    substitute,
    walk,
)

Known: TypeAlias = Callable[[Expr], bool]

LARGEST_SIZE = 0x7FFFFFFF
"""What 64-bit sizes are asked to be at most, where a product of them must not wrap."""

LARGEST_FACTOR = 1024
"""Sums in which a size is multiplied by more are not asked to fit: they are meant to wrap."""


def mark_wraparound(fn: Function, facts: Facts) -> Function:
    """`fn` with every unsigned expression that may wrap around marked; `facts` collects what is
    asked of the arguments."""
    marking = _Marking(facts, known_scalars(fn, facts), _counting(fn), _from_data(fn))
    return replace(fn, body=marking.body(fn.body, ()))


def _counting(fn: Function) -> frozenset[str]:
    """Names that subscripts, bounds and conditions read, themselves or through other scalars."""
    found: set[str] = set()
    values: list[tuple[str, frozenset[str]]] = []
    for _, s in walk(fn.body):
        for e in stmt_exprs(s):
            found |= {n for x in loads(e) for i in x.index for n in names(i)}
        match s:
            case For():
                found |= names(s.lo) | names(s.hi)
            case If():
                found |= names(s.cond)
            case Assign(Var(name), value):
                values.append((name, names(value)))
    for _ in values:
        found |= {n for name, read in values if name in found for n in read}
    return frozenset(found)


def _from_data(fn: Function) -> frozenset[str]:
    """Scalars that are set to what is computed from elements of arrays."""
    sets = (s for _, s in walk(fn.body) if isinstance(s, Assign) and any(loads(s.value)))
    return frozenset(s.target.name for s in sets if isinstance(s.target, Var))


class _Marking:
    """`values` are those of locals that only name a sum of arguments; `known` the ones met so far
    whose arithmetic does not wrap."""

    def __init__(
        self,
        facts: Facts,
        values: dict[str, Expr],
        counting: frozenset[str],
        data: frozenset[str],
    ) -> None:
        self.facts = facts
        self.data = data
        self.values = values
        self.known: dict[str, Expr] = {}
        self.counting = counting

    # ------------------------------------------------------------ statements

    def body(self, body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
        return tuple(self.statement(s, context) for s in body)

    def statement(self, s: Stmt, context: Context) -> Stmt:
        match s:
            case For():
                return self._loop(s, context)
            case If():
                cond = self.number(s.cond, context)
                s = replace(s, cond=cond)
                taken = under(s.cond, self.known, context, taken=True)
                other = under(s.cond, self.known, context, taken=False)
                return replace(s, then=self.body(s.then, taken), orelse=self.body(s.orelse, other))
            case Assign(Var(name), value) if name in self.counting:
                return replace(s, value=self._counted(name, value, context))
            case Assign(target, value):
                inside = self.subscripts(target, context)
                assert isinstance(inside, Var | Load)
                return replace(s, target=inside, value=self.subscripts(value, context))
            case While():
                cond = self.subscripts(s.cond, context)
                return replace(s, cond=cond, body=self.body(s.body, context))
            case Opaque():
                return replace(s, body=self.body(s.body, context))
            case _:
                return s

    def _loop(self, s: For, context: Context) -> For:
        s = replace(s, lo=self.number(s.lo, context), hi=self.number(s.hi, context))
        self.facts.enter(s)
        inside = (*context, *loop_bounds(s, self.known))
        s = replace(s, body=self.body(s.body, inside))
        self.facts.leave()
        return s

    def _counted(self, name: str, value: Expr, context: Context) -> Expr:
        """The value of a scalar that analysis computes with."""
        new = self.number(value, context)
        plain = new == value and names(value) <= self.facts.stable | self.known.keys()
        if name in self.values and plain:
            self.known[name] = self.values[name]
        return new

    # ------------------------------------------------------------ expressions

    def subscripts(self, e: Expr, context: Context) -> Expr:
        """`e`, a value, with the subscripts and conditions in it marked."""
        match e:
            case Load(_, index):
                return replace(e, index=tuple(self.number(i, context, index=True) for i in index))
            case Select(cond, then, orelse):
                then, orelse = self.subscripts(then, context), self.subscripts(orelse, context)
                return replace(e, cond=self.number(cond, context), then=then, orelse=orelse)
            case Bin("&&" | "||", left, right):
                left, right = self.number(left, context), self.subscripts(right, context)
                return replace(e, left=left, right=right)
            case _:
                return map_children(e, lambda x: self.subscripts(x, context))

    def number(self, e: Expr, context: Context, *, index: bool = False, asks: bool = True) -> Expr:
        """`e`, a number that analysis computes with, marked where it may wrap; what would have to
        be asked of the arguments is not proven where nothing `asks`."""
        if isinstance(e, Load):
            return self.subscripts(e, context)
        asks = asks and not self._compares_data(e)
        t = type_of(e, self.facts.types)
        if not _wraps(e, t):
            return map_children(e, lambda x: self.number(x, context, asks=asks))
        e = self._operands(e, t, context, asks)
        inside = self._stays_inside(e, t, context, index, asks)
        return e if inside else Cast(t, e, origin=e.origin)

    def _compares_data(self, e: Expr) -> bool:
        """Whether it compares something with elements, or what is computed from them."""
        is_comparison = isinstance(e, Bin) and e.op in ("<", "<=", ">", ">=", "==", "!=")
        return is_comparison and (any(loads(e)) or not names(e).isdisjoint(self.data))

    def _operands(self, e: Expr, t: Scalar, context: Context, asks: bool) -> Expr:
        """The operands of arithmetic in `t`, which as a whole wraps around or does not."""

        def operand(x: Expr) -> Expr:
            same = type_of(x, self.facts.types) == t
            if same and isinstance(x, Cast) and type_of(x.operand, self.facts.types) == t:
                return operand(x.operand)
            if same and _wraps(x, t):
                return map_children(x, operand)
            return self.number(x, context, asks=asks)

        return map_children(e, operand)

    # ------------------------------------------------------------ proofs

    def _stays_inside(self, e: Expr, t: Scalar, context: Context, index: bool, asks: bool) -> bool:
        """Whether 0 <= e < 2^bits is known, or can be asked of the arguments (and now is). An index
        of 64 bits that would be below 0 wraps to one that no array has."""
        p = poly(substitute(_plain(e), self.known))
        bits = 8 * t.bytes
        known = _known(context, self.facts)
        lows = extremes(p, context, known, greatest=False) or [p]
        highs = extremes(p, context, known, greatest=True) or [p]
        floor = -(1 << 62) if index and bits == 64 else 0
        above = any(self._range(low, known)[0] >= floor or self._is_asked(low) for low in lows)
        below = any(self._range(high, known)[1] < 1 << bits for high in highs)
        if not asks:
            return above and below
        return (above or self._ask_low(lows, known)) and (
            below or self._ask_high(highs, bits, known)
        )

    def _is_asked(self, low: Poly) -> bool:
        """Whether it is asked already that a least value is not negative."""
        return follows(Bin(">=", to_expr(low), Const(0)), self.facts.assumes)

    def _range(self, p: Poly, known: Known, more: tuple[Expr, ...] = ()) -> tuple[int, int]:
        """The least and greatest value that the types, what is known not to be negative, what is
        asked already, and `more` leave to a polynomial."""
        low = high = 0
        for m, c in p.terms:
            least, most = _product([self._ends(x, known, more) for x in m])
            low += min(c * least, c * most)
            high += max(c * least, c * most)
        return low, high

    def _ends(self, x: Expr, known: Known, more: tuple[Expr, ...]) -> tuple[int, int]:
        t = type_of(x, self.facts.types)
        most = (1 << (8 * t.bytes - (0 if t.is_unsigned else 1))) - 1
        asked_for = Bin(">=", x, Const(0)) in self.facts.assumes
        least = 0 if asked_for or known(x) else -most - 1
        for asked in (*self.facts.assumes, *more):
            match asked:
                case Bin("<=", left, Const(value)) if left == x:
                    most = min(most, int(value))
        return least, most

    def _ask_low(self, lows: list[Poly], known: Known) -> bool:
        """Asks that a least value is not negative, where that is not always so or never."""
        for low in lows:
            minus = Poly(tuple((m, -c) for m, c in low.terms if c < 0))
            plus = Poly(tuple((m, c) for m, c in low.terms if c > 0))
            small = all(self._range(x, known)[1] < 1 << 62 for x in (minus, plus))
            if small and plus.constant is None and minus.terms:
                condition = Bin("<=", to_expr(minus), to_expr(plus))
                if is_stable(condition, self.facts.stable):
                    return self.facts.assume(condition)
        return False

    def _ask_high(self, highs: list[Poly], bits: int, known: Known) -> bool:
        """Asks that a greatest value fits: the sum itself in 32 bits, its sizes in 64."""
        for high in sorted(highs, key=lambda p: len(p.terms)):
            top = Poly(tuple((m, c) for m, c in high.terms if c > 0))
            e = to_expr(top)
            asks_much = top.constant is not None or max(c for _, c in top.terms) > LARGEST_FACTOR
            if asks_much or not is_stable(e, self.facts.stable) or self._range(top, known)[0] < 0:
                continue
            single = top.terms[0][0] if len(top.terms) == 1 and top.terms[0][1] == 1 else ()
            if bits == 32 and self._range(top, known)[1] < 1 << 64:
                return self.facts.assume(Bin("<=", _in_64_bits(e), _LARGEST_32))
            if bits == 32 and single:
                factors = tuple(map(_in_64_bits, single))
                return self.facts.assume_all(_products_below(factors, _LARGEST_32))
            small = self._small_sizes(e)
            if bits == 64 and self._range(top, known, small)[1] < 1 << 64:
                return self.facts.assume_all(small)
            if bits == 64 and single:
                rest = _products_below(single[1:], Const(LARGEST_SIZE))
                return self.facts.assume_all((*small, *rest))
        return False

    def _small_sizes(self, e: Expr) -> tuple[Expr, ...]:
        """The conditions that keep the 64-bit sizes in `e` small."""
        wide = sorted(n for n in names(e) if self.facts.types[n].bytes == 8)
        return tuple(Bin("<=", Var(n), Const(LARGEST_SIZE)) for n in wide)


def _known(context: Context, facts: Facts) -> Known:
    """Whether a number is not negative where all loops around have an iteration."""
    pairs = ((a, b) for a in context for b in context if a.var == b.var and a.lower > b.lower)
    gaps = [b.limit - a.limit for a, b in pairs]

    def is_known(e: Expr) -> bool:
        more = ((poly(e) - g).constant for g in gaps)
        return facts.known(e) or any(x is not None and x >= 0 for x in more)

    return is_known


def _in_64_bits(e: Expr) -> Expr:
    """Sums and products computed in 64 bits, of what their operands are in their own types."""
    match e:
        case Const():
            return e
        case Bin("+" | "-" | "*"):
            return map_children(e, _in_64_bits)
        case _:
            return Cast(ULONG, e)


_LARGEST_32 = Const(0xFFFFFFFF, ULONG, "4294967295UL")


def _products_below(factors: tuple[Expr, ...], limit: Const) -> Iterator[Expr]:
    """The conditions that keep a product of numbers up to a limit, of which each is not beyond it:
    asked one after the other, none of them overflows."""
    product = factors[-1]
    for x in factors[-2::-1]:
        product = Bin("*", x, product)
        yield Bin("<=", product, limit)


def _wraps(e: Expr, t: Scalar) -> bool:
    """Arithmetic that C does modulo 2^bits."""
    arithmetic = (isinstance(e, Bin) and e.op in ("+", "-", "*", "<<")) or (
        isinstance(e, Un) and e.op == "-"
    )
    return arithmetic and t.is_unsigned and t.bytes >= 4


def _plain(e: Expr) -> Expr:
    """`e` with shifts by constants as products."""

    def product(x: Expr) -> Expr:
        if isinstance(x, Bin) and x.op == "<<" and isinstance(x.right, Const):
            amount = int(x.right.value)
            return Bin("*", x.left, Const(1 << amount)) if 0 <= amount < 64 else x
        return x

    return map_expr(e, product)


def _product(ends: list[tuple[int, int]]) -> tuple[int, int]:
    low, high = 1, 1
    for a, b in ends:
        corners = [low * a, low * b, high * a, high * b]
        low, high = min(corners), max(corners)
    return low, high
