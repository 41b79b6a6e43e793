"""Integer quotients that written code computes ahead of the program, which may not get to them.

Processors stop at a division by 0, and at the least number divided by -1.
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Expr


def may_stop(e: Bin) -> bool:
    """Whether it divides by what may be 0 or -1."""
    return e.op in ("/", "%") and not _is_positive(e.right) and value_of(e.right) in (None, 0, -1)


def quotient(op: str, left: str, by: str, minus: str) -> str:
    """The text of a quotient or remainder that is 0 where the divisor is, and `minus` where that is
    -1; empty: the dividend is not the least number."""
    whole = f"{by} != 0 ? {left} {op} {by} : 0"
    return f"({by} == -1 ? {minus} : {whole})" if minus else f"({whole})"


def _is_positive(e: Expr) -> bool:
    """Whether it is known to be; products that overflow are refused before."""
    match e:
        case Bin("max", left, right):
            return _is_positive(left) or _is_positive(right)
        case Bin("*", left, right):
            return _is_positive(left) and _is_positive(right)
        case _:
            return (value_of(e) or 0) > 0
