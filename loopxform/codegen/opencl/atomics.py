"""Atomic updates in OpenCL C: the functions, and the extensions that they need.

OpenCL C 1.2 has atomic functions of integers. A sum of real numbers is exchanged for the one before
until no other work-item came between.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Assign, Function
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk

WIDE = 8
"""Bytes of the elements whose atomic functions are in extensions."""

_BITS = {"float": ("uint", "atomic"), "double": ("ulong", "atom")}


def _definition(kind: str, space: str) -> str:
    bits, word = _BITS[kind]
    return f"""void lx_add_{kind}_{space}(volatile __{space} {bits} *p, const {kind} e)
{{
  {bits} old, now = *p;
  do {{
    old = now;
    now = {word}_cmpxchg(p, old, as_{bits}(as_{kind}(old) + e));
  }} while (now != old);
}}"""


_SUMS = {
    f"lx_add_{kind}_{space}(": _definition(kind, space)
    for kind in _BITS
    for space in ("global", "local")
}


def helpers(text: str) -> Iterator[str]:
    """The definitions of functions that kernels call, in order."""
    return (definition for call, definition in _SUMS.items() if call in text)


def extensions(fn: Function) -> Iterator[str]:
    """Those with the atomic functions that the kernels of a function call."""
    types = symbols(fn)
    updates = [s for _, s in walk(fn.body) if isinstance(s, Assign) and s.atomic]
    wide = {s.op for s in updates if type_of(s.target, types).bytes == WIDE}
    if wide & {"+", "-"}:
        yield "cl_khr_int64_base_atomics"
    if wide - {"+", "-"}:
        yield "cl_khr_int64_extended_atomics"
