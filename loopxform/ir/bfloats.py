"""Floats of which only the upper 16 bits are kept (bfloat16), as C has them: an unsigned short
whose bits are made those of a float.

    float f;
    uint32_t u = (uint32_t)h << 16;
    memcpy(&f, &u, sizeof f);

A float is the sum of three of them, which have 8 bits each, as long as it is 2^-110 or more: the
one next to it, the one next to what that leaves, and the rest. Of an infinity the rest is a NaN.
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    Return,
    Routine,
    Select,
    Var,
)
from loopxform.ir.types import FLOAT, UINT, USHORT
from loopxform.ir.visit import substitute

AS_FLOAT = "float of bits"
"""What gives the float of some bits (`ir.routines`)."""

BITS_OF = "bits of float"
"""What gives them."""

SHIFT = 16


def widened(half: Expr) -> Expr:
    """The float of which that is the upper half."""
    return Call(AS_FLOAT, (Bin("<<", Cast(UINT, half), Const(SHIFT)),), FLOAT)


def nearest(x: Expr) -> Expr:
    """The bfloat16 next to a float, of two the larger one; of numbers that would be rounded to an
    infinity, infinities and NaN the upper half."""
    bits = Call(BITS_OF, (x,), UINT)
    rounded = Bin("<", Bin("&", bits, _unsigned(0x7FFFFFFF)), _unsigned(0x7F7F8000))
    more = Select(rounded, _unsigned(0x8000), _unsigned(0))
    return Cast(USHORT, Bin(">>", Bin("+", bits, more), Const(SHIFT)))


def _unsigned(number: int) -> Const:
    return Const(number, UINT)


def upper_half(e: Expr) -> Expr | None:
    """The number whose bits are the upper half of those of a float, the others being 0; None where
    an expression is something else."""
    if not (isinstance(e, Call) and e.name == AS_FLOAT and len(e.args) == 1):
        return None
    bits = _without_casts(e.args[0])
    if not isinstance(bits, Bin):
        return None
    left, amount = bits.left, value_of(bits.right)
    shifted = (bits.op == "<<" and amount == SHIFT) or (bits.op == "*" and amount == 1 << SHIFT)
    is_wide = isinstance(left, Cast) and left.type == UINT
    return left.operand if shifted and is_wide and isinstance(left, Cast) else None


def widens(r: Routine) -> bool:
    """Whether a function of the user's makes a float of its upper half, and does nothing else."""
    if len(r.params) != 1 or r.params[0].type != USHORT or r.returns != FLOAT:
        return False
    values = dict[str, Expr]()
    for s in r.body:
        match s:
            case Decl():
                continue
            case Assign(Var(name), value, "") if name != r.params[0].name:
                values[name] = substitute(value, values)
            case Return(value) if value is not None:
                return upper_half(substitute(value, values)) == Var(r.params[0].name)
            case _:
                return False
    return False


def _without_casts(e: Expr) -> Expr:
    return _without_casts(e.operand) if isinstance(e, Cast) and e.type == UINT else e
