"""Records whose members are a row of numbers, stored in vectors (the step `store-vectors`):

#ifdef LX_RECORDS
LX_STORE(float2, 2, &p[b].x + 0, (float2)(x_reg[0], y_reg[0]));
LX_STORE(float2, 2, &p[b].x + 2, (float2)(z_reg[0], x_reg[1]));
LX_STORE(float2, 2, &p[b].x + 4, (float2)(y_reg[1], z_reg[1]));
#else
the loop as it is
#endif

Compilers that make vectors themselves keep the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.vector_moves import stored_vector
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Cast, Const, For, Load
from loopxform.ir.visit import substitute
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.latency.record_stores import record_stores

RECORDS = "LX_RECORDS"
"""Defined where records are stored in vectors."""

_CHOICE = f"""
/* Records are stored in vectors of their members. */
#if (defined(__NV_CL_C_VERSION) && !defined(LX_NO_WORDS)) || defined(LX_AS_WORDS)
#define {RECORDS}
#endif"""


def helpers(text: str) -> Iterator[str]:
    """The definition of the macro, where kernels use it."""
    if f"#ifdef {RECORDS}" in text:
        yield _CHOICE


def record_lines(s: For, d: KernelDialect) -> list[str]:
    """The vectors of all iterations of a loop."""
    structs = {at.struct.name: at.struct for at in d.places.values()}
    found, fixed = record_stores(structs.values(), s), fixed_trips(s)
    assert found is not None
    assert fixed is not None
    numbers = found.numbers(s.var, int(fixed[0].value or 0))
    scalar, width = d.types[found.first.array], s.stores
    begin = tuple(simplify(substitute(e, {s.var: Const(0)})) for e in found.first.index)
    first, lines = f"&{cexpr.expr(Load(found.first.array, begin), d)}", list[str]()
    for at in range(0, len(numbers), width):
        own = (e if d.type_of(e) == scalar else Cast(scalar, e) for e in numbers[at : at + width])
        # Of a member, compilers take the alignment of its struct, and of a sum that of the vector.
        place = f"{first} + {at}"
        parts = [cexpr.expr(e, d) for e in own]
        lines.append(stored_vector(d.type_name(scalar), place, parts))
    return lines
