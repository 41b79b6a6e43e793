"""The extensions of OpenCL C that atomic updates need."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Assign, Function
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk

WIDE = 8
"""Bytes of the elements whose atomic functions are in extensions."""


def extensions(fn: Function) -> Iterator[str]:
    """Those with the atomic functions that the kernels of a function call."""
    types = symbols(fn)
    updates = [s for _, s in walk(fn.body) if isinstance(s, Assign) and s.atomic]
    ops = {s.op for s in updates if type_of(s.target, types).bytes == WIDE}
    if ops & {"+", "-"}:
        yield "cl_khr_int64_base_atomics"
    if ops - {"+", "-"}:
        yield "cl_khr_int64_extended_atomics"
