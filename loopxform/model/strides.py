"""Where the elements of arrays in global memory lie: row after row, as C lays them out.

A[i, j, k] of shape [n, m, l], elements of 4 bytes        strides 4*m*l, 4*l, 4
the same with its dimensions in the order 1, 2, 0         strides 4, 4*l*n, 4*n
p[i].x, structs of 24 bytes                               stride 24
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Decl, Expr, Function
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk

Shape = tuple[Expr | None, ...]


@remembered(256)
def global_arrays(fn: Function) -> Mapping[str, Shape]:
    """The arrays of the caller, the copies of them that the function makes, and those that it
    declares beside its loops, with their shapes; None is a first dimension that C does not
    state."""
    out: dict[str, Shape] = {p.name: p.shape for p in fn.objects if p.array}
    copies = (s for _, s in walk(fn.body) if isinstance(s, Decl) and s.space is Space.GLOBAL)
    own = (s for s in fn.body if isinstance(s, Decl) and s.shape and not s.space)
    return out | {s.name: s.shape for s in (*copies, *own)}


def strides(
    fn: Function, array: str, value: Callable[[Expr], int], order: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Bytes from one index to the next in each dimension, for the numbers that `value` gives sizes;
    `order` lists the dimensions, outermost first, where that is not the order of C."""
    shape = global_arrays(fn)[array]
    step, out = symbols(fn)[array].bytes, [0] * len(shape)
    whole = {p.name: p.part_of for p in fn.objects}.get(array)
    struct = None if order else next((s for s in fn.structs if s.name == whole), None)
    for d in reversed(order or range(len(shape))):
        if struct is not None and d == len(struct.shape) - 1:
            step = struct.type.bytes
        out[d] = step
        extent = shape[d]
        step *= 1 if extent is None else max(1, value(extent))
    return tuple(out)
