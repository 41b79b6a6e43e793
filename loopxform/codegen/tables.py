"""Constants of the file whose values its text gives: C that is written defines them, a kernel has
them in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.codegen import cexpr, halves
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Expr, Function, Param
from loopxform.ir.types import HALF

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
    return p.type != HALF or all(halves.constant(e) is not None for e in p.values)


def initialiser(p: Param, d: Dialect) -> str:
    """The values as C writes them, a pair of braces for each row."""
    return _rows([cexpr.expr(e, d) for e in p.values], p.shape)


def _rows(values: Sequence[str], shape: Sequence[Expr | None]) -> str:
    if not shape:
        return values[0]
    parts = list(_split(values, (value_of(shape[0]) if shape[0] is not None else None) or 1))
    return "{" + ", ".join(_rows(part, shape[1:]) for part in parts) + "}"


def _split(values: Sequence[str], count: int) -> Iterator[Sequence[str]]:
    size = len(values) // count
    return (values[n * size : (n + 1) * size] for n in range(count))


def kernel_table(p: Param, name: str, d: Dialect) -> str:
    """`__constant float w[4] = {...};`: every array of a kernel is linear."""
    values = [cexpr.converted(e, p.type, d) for e in p.values]
    size, text = (f"[{len(values)}]", f"{{{', '.join(values)}}}") if p.array else ("", values[0])
    return f"__constant {d.type_name(p.type)} {name}{size} = {text};"
