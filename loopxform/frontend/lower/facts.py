"""Numbers known not to be negative, and what the function must be given for them to be so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product

from loopxform.frontend.lower.ranges import Context, loop_bounds
from loopxform.ir.affine import Poly, constant, poly
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Select, Un, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import names, walk_expr


class Facts:
    """`stable` are the scalar parameters and globals that keep their value during a call; only
    conditions on those can be checked before the loops run. `assumes` collects them, and
    `representable` those that only written code needs; `around` says what the loops around give."""

    def __init__(self, types: dict[str, Scalar], stable: frozenset[str]) -> None:
        self.types = types
        self.stable = stable
        self.assumes: list[Expr] = []
        self.representable: list[Expr] = []
        self.around: Context = ()
        self._from_zero: list[str] = []
        self._entered: list[Context] = []

    def enter(self, loop: For) -> None:
        """Inside `loop`; leave with `leave`."""
        known = loop.type.is_unsigned or self._counts_from_zero(loop)
        self._from_zero.append(loop.var if known else "")
        self._entered.append(self.around)
        self.around = (*self.around, *loop_bounds(loop, {}))

    def leave(self) -> None:
        self._from_zero.pop()
        self.around = self._entered.pop()

    def _counts_from_zero(self, loop: For) -> bool:
        up = isinstance(loop.step, Const) and loop.step.value > 0
        if up:
            return self.known(loop.lo)
        return isinstance(loop.hi, Const) and loop.hi.value >= -1

    def known(self, e: Expr) -> bool:
        """Whether `e` is never negative, whatever the arguments."""
        match e:
            case Const(value):
                return value >= 0
            case Var(name):
                return name in self._from_zero or type_of(e, self.types).is_unsigned
            case Bin("+" | "*" | "/" | "%" | "min" | "&" | ">>", left, right):
                return self.known(left) and self.known(right)
            case Bin("max", left, right):
                return self.known(left) or self.known(right)
            case Select(Bin(">" | ">=", a, b), then, orelse) if (a, b) == (then, orelse):
                return self.known(a) or self.known(b)
            case Select(_, then, orelse):
                return self.known(then) and self.known(orelse)
            case Cast(t, operand):
                return t.is_unsigned or (t.bytes >= 4 and self.known(operand))
            case _:
                return is_truth(e) or type_of(e, self.types).is_unsigned

    def non_negative(self, e: Expr) -> bool:
        """Whether `e >= 0` is known, or can be asked of the arguments (and now is)."""
        return self.known(e) or self.assume(Bin(">=", e, Const(0)))

    def assume(self, condition: Expr) -> bool:
        """Adds a condition on the arguments; False where it is on anything else, or can hardly be
        met."""
        return self.assume_all([condition])

    def represent(self, condition: Expr) -> bool:
        """Adds a condition on the arguments under which a number exists; False as `assume`."""
        if condition in self.representable:
            return True
        known = (*self.assumes, *self.representable)
        found = is_stable(condition, self.stable) and can_hold((*known, condition))
        self.representable += [condition] if found else []
        return found

    def assume_all(self, conditions: Iterable[Expr]) -> bool:
        """Adds all conditions on the arguments, or none and says False."""
        new = [c for c in dict.fromkeys(conditions) if c not in self.assumes]
        if not all(is_stable(c, self.stable) for c in new):
            return False
        if new and not can_hold((*self.assumes, *new)):
            return False
        self.assumes += new
        return True


def is_truth(e: Expr) -> bool:
    """Whether it is 0 or 1."""
    match e:
        case Bin("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||") | Un("!"):
            return True
        case _:
            return False


def follows(condition: Expr, known: Iterable[Expr]) -> bool:
    """Whether a comparison of sums says no more than one of others: `m <= n + 1` after `n >= m`."""
    least = _least(condition)
    more = (least - x for x in map(_least, known) if x is not None and least is not None)
    return any((x.constant if x.constant is not None else -1) >= 0 for x in more)


def _least(condition: Expr) -> Poly | None:
    """What is not negative where a comparison of whole numbers holds."""
    match condition:
        case Bin(">=", left, right) | Bin("<=", right, left):
            return poly(left) - poly(right)
        case Bin(">", left, right) | Bin("<", right, left):
            return poly(left) - poly(right) - constant(1)
        case _:
            return None


def can_hold(conditions: Iterable[Expr]) -> bool:
    """Whether some arguments greater than 1 meet all conditions. What only 0 or 1 could meet
    (`n <= n/2`) asks for no program that anyone runs."""
    conditions = tuple(conditions)
    scalars = sorted(frozenset().union(*map(names, conditions)))
    return any(all(_holds(c, values) for c in conditions) for values in _samples(scalars))


SIZES = (2, 3, 5, 16, 100, 1000, 10**6, 10**9)
MOST_SAMPLES = 4096


def _samples(scalars: list[str]) -> Iterator[dict[str, int]]:
    """Equal values first, then every combination of some sizes as far as there are not too many."""
    for size in SIZES:
        yield dict.fromkeys(scalars, size)
    for values in islice(product(SIZES, repeat=len(scalars)), MOST_SAMPLES):
        yield dict(zip(scalars, values))


def _holds(condition: Expr, values: dict[str, int]) -> bool:
    try:
        return bool(evaluate(condition, values))
    except ArithmeticError:
        return False


def is_stable(e: Expr, stable: Iterable[str]) -> bool:
    """Whether `e` is made of constants and scalars of `stable` only."""
    atoms = [x for x in walk_expr(e) if not isinstance(x, Bin | Cast | Const)]
    return all(isinstance(x, Var) and x.name in stable for x in atoms)
