"""Atomic updates in OpenCL C: the functions, and the extensions that they need.

OpenCL C 1.2 has atomic functions of integers. A sum or an extremum of real numbers is exchanged for
the one before until no other work-item came between; an extremum only where that changes it. A
store is volatile: no compiler may put another value there on the way, and all that are made to an
element at the same time are of one value, so that it does not matter in which parts they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from loopxform.codegen.cexpr import Dialect, expr, stored
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Assign, Cast, Function, Load, Un
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk
from loopxform.transforms.reductions.atomic_updates import WIDE

Space: TypeAlias = Literal["local", "global"]
"""Where work-items share an array."""

_WORDS = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor", "min": "min", "max": "max"}
"""Of functions of OpenCL C: atomic_add, of 64 bits atom_add."""

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


def _extremum(op: str, kind: str, space: str) -> str:
    bits, word = _BITS[kind]
    if base_name(op) == op:  # not replaced by a NaN, but in place of one
        wanted = f"const {bits} other = as_{bits}({op}(as_{kind}(old), e));"
        kept = "other == old"
    else:
        wanted = f"const {bits} other = as_{bits}(e);"
        kept = f"!(e {'<' if op == 'min' else '>'} as_{kind}(old))"
    return f"""void lx_{op}_{kind}_{space}(volatile __{space} {bits} *p, const {kind} e)
{{
  {bits} old, now = *p;
  do {{
    old = now;
    {wanted}
    if ({kept})
      return;
    now = {word}_cmpxchg(p, old, other);
  }} while (now != old);
}}"""


_EXTREMA = ("min", "max", "fmin", "fmax")
_PLACES = tuple((kind, space) for kind in _BITS for space in ("global", "local"))
_OF_REALS = {
    **{f"lx_add_{kind}_{space}(": _definition(kind, space) for kind, space in _PLACES},
    **{
        f"lx_{op}_{kind}_{space}(": _extremum(op, kind, space)
        for op in _EXTREMA
        for kind, space in _PLACES
    },
}


def update(s: Assign, target: Load, space: Space, d: Dialect) -> str:
    """The call that updates an element in one piece, or the store of a value that others store."""
    to, e = d.type_of(target), s.value
    if not s.op:
        kind = to.memory if target.array in d.packed else d.type_name(to)
        return f"*(volatile __{space} {kind} *)&{d.load(target)} = {stored(e, target, d)}"
    if isinstance(e, Cast) and to.is_integer and e.type.bytes == to.bytes:
        e = e.operand  # the device's integers wrap around
    value = e if d.type_of(e) == to else Cast(to, e)
    if not to.is_float:
        word = "atom" if to.bytes == WIDE else "atomic"
        return f"{word}_{_WORDS[s.op]}(&{d.load(target)}, {expr(value, d)})"
    pointer = f"(volatile __{space} {_BITS[to.cl][0]} *)&{d.load(target)}"
    op = base_name(s.op) or (s.op if s.op in _EXTREMA else "add")
    return (
        f"lx_{op}_{to.cl}_{space}({pointer}, {expr(Un('-', value) if s.op == '-' else value, d)})"
    )


def helpers(text: str) -> Iterator[str]:
    """The definitions of functions that kernels call, in order."""
    return (definition for call, definition in _OF_REALS.items() if call in text)


def extensions(fn: Function) -> Iterator[str]:
    """Those with the atomic functions that the kernels of a function call."""
    types = symbols(fn)
    updates = [s for _, s in walk(fn.body) if isinstance(s, Assign) and s.atomic and s.op]
    wide = {s.op for s in updates if type_of(s.target, types).bytes == WIDE}
    if wide & {"+", "-"}:
        yield "cl_khr_int64_base_atomics"
    if wide - {"+", "-"}:
        yield "cl_khr_int64_extended_atomics"
