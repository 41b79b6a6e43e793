"""Constants of the file whose values its text gives, and which a kernel has in constant memory."""

from __future__ import annotations

from loopxform.ir.nodes import Function, Param

CONSTANT_BYTES = 32 * 1024
"""Of constant memory, half of what every device has."""


def tables(fn: Function) -> tuple[Param, ...]:
    """The constants that a kernel of `fn` holds; larger ones are arguments."""
    out: list[Param] = []
    room = CONSTANT_BYTES
    for p in fn.globals:
        size = p.type.bytes * len(p.values)
        if p.values and size <= room:
            out.append(p)
            room -= size
    return tuple(out)
