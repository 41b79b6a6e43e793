"""Floats of which only the upper 16 bits are kept (bfloat16), as C has them: an unsigned short
whose bits are made those of a float.

    float f;
    uint32_t u = (uint32_t)h << 16;
    memcpy(&f, &u, sizeof f);
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Call, Cast, Decl, Expr, Return, Routine, Var
from loopxform.ir.types import FLOAT, UINT, USHORT
from loopxform.ir.visit import substitute

AS_FLOAT = "float of bits"
"""What gives the float of some bits (`ir.routines`)."""

SHIFT = 16


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
