"""Places in block tiles: in local memory, among the iterations of a nest, in another scale."""

from __future__ import annotations

from fractions import Fraction

from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Cast, Const, Expr
from loopxform.ir.types import INT, Scalar
from loopxform.ir.visit import loads
from loopxform.transforms.overlapped.block_stages import Along, Piece


def apart(e: Expr, first: Expr) -> Expr:
    """How far a coordinate is from the first one; elements in it may be of any type, which sums in
    one form know nothing of."""
    distance = Bin("-", e, first)
    return distance if any(loads(e)) else simplify(distance)


def plus(a: Expr, b: Expr) -> Expr:
    """A sum of places."""
    return a if b == Const(0) else simplify(Bin("+", a, b))


def minus(a: Expr, b: Expr) -> Expr:
    """How far a place is from another."""
    return a if b == Const(0) else simplify(Bin("-", a, b))


def counts(p: Piece, widths: tuple[int, ...]) -> list[int]:
    """The most iterations of each loop that write elements of a box."""
    return [_count(a, n) for a, n in zip(p.along, widths) if a.var]


def _count(a: Along, n: int) -> int:
    if a.factor == 1:
        return n
    return -(-n // a.factor) if a.exact else n // a.factor + 2


def scaled(e: Expr, scale: Fraction, *, up: bool = False) -> Expr:
    """`e * scale`, rounded down or up, of numbers that are not negative."""
    out = e if scale.numerator == 1 else Bin("*", e, Const(scale.numerator))
    if scale.denominator == 1:
        return out
    if up:
        out = Bin("+", out, Const(scale.denominator - 1))
    return Bin("/", out, Const(scale.denominator))


def of_type(e: Expr, type: Scalar, coordinate: Scalar) -> Expr:
    """A coordinate as the loop of the user has it."""
    other = max(type.bytes, INT.bytes) != coordinate.bytes and not type.is_unsigned
    return Cast(type, e) if other else e
