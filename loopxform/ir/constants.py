"""Constants of the file whose values its text gives, and which a kernel has in constant memory."""

from __future__ import annotations

from loopxform.ir.nodes import Cast, Const, Expr, Function, Param, Un
from loopxform.ir.types import HALF, as_half

CONSTANT_BYTES = 32 * 1024
"""Of constant memory, half of what every device has."""


def tables(fn: Function) -> tuple[Param, ...]:
    """The constants that a kernel of `fn` holds; larger ones are arguments."""
    out: list[Param] = []
    room = CONSTANT_BYTES
    for p in fn.globals:
        size = p.type.bytes * len(p.values)
        if p.values and size <= room and _is_written(p):
            out.append(p)
            room -= size
    return tuple(out)


def _is_written(p: Param) -> bool:
    """Whether OpenCL C can say the values: a half is rounded here, since no function may be."""
    return p.type != HALF or all(half(e) is not None for e in p.values)


def half(e: Expr) -> float | None:
    """The half that a constant is converted to; None where it is not known here."""
    match e:
        case Const(value):
            return as_half(value)
        case Un("-", Const(value, t)) if t.is_float or value:
            return as_half(-value)
        case Cast(t, operand) if t == HALF:
            return half(operand)
        case _:
            return None
