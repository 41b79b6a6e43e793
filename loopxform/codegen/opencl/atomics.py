"""Atomic updates in OpenCL C: the functions, and the extensions that they need.

OpenCL C 1.2 has atomic functions of integers. A product, or what real numbers are updated by, is
exchanged for the value before until no other work-item came between; an extremum only where that
changes it. A store is volatile: no compiler may put another value there on the way, and all that
are made to an element at the same time are of one value, so that it does not matter in which parts
they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from loopxform.codegen.cexpr import Dialect, expr, stored
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Assign, Cast, Function, Load, Un
from loopxform.ir.types import UINT, ULONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk
from loopxform.transforms.reductions.atomic_updates import WIDE

Space: TypeAlias = Literal["local", "global"]
"""Where work-items share an array."""

_WORDS = {"+": "add", "-": "sub", "&": "and", "|": "or", "^": "xor", "min": "min", "max": "max"}
"""Of functions of OpenCL C: atomic_add, of 64 bits atom_add."""

BASE = frozenset(["+", "-", "*"])
"""Updates of 64 bits by sums, or by exchange."""

_BITS = {"float": ("uint", "atomic"), "double": ("ulong", "atom")}
"""The type that has the bits of a real number, and the word of its atomic functions."""

_EXCHANGED = {**_BITS, "uint": ("uint", "atomic"), "ulong": ("ulong", "atom")}
_SIGNS = {"add": "+", "mul": "*"}


def _definition(op: str, kind: str, space: str) -> str:
    """A product begins with what copies of elements begin with: then all accesses are atomic."""
    bits, word = _EXCHANGED[kind]
    new = f"old {_SIGNS[op]} e" if bits == kind else f"as_{bits}(as_{kind}(old) {_SIGNS[op]} e)"
    first = "*p" if op == "add" else "1" if bits == kind else f"as_{bits}(({kind})1)"
    return f"""void lx_{op}_{kind}_{space}(volatile __{space} {bits} *p, const {kind} e)
{{
  {bits} old, now = {first};
  do {{
    old = now;
    now = {word}_cmpxchg(p, old, {new});
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
_FUNCTIONS = {
    **{f"lx_add_{kind}_{space}(": _definition("add", kind, space) for kind, space in _PLACES},
    **{
        f"lx_mul_{kind}_{space}(": _definition("mul", kind, space)
        for kind in _EXCHANGED
        for space in ("global", "local")
    },
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
    if s.op == "*":
        own = to if to.is_float else ULONG if to.bytes == WIDE else UINT
        factor = expr(e if d.type_of(e) == own else Cast(own, e), d)
        return f"lx_mul_{own.cl}_{space}({_pointer(target, own, space, d)}, {factor})"
    value = e if d.type_of(e) == to else Cast(to, e)
    if not to.is_float:
        word = "atom" if to.bytes == WIDE else "atomic"
        return f"{word}_{_WORDS[s.op]}(&{d.load(target)}, {expr(value, d)})"
    op = base_name(s.op) or (s.op if s.op in _EXTREMA else "add")
    text = expr(Un("-", value) if s.op == "-" else value, d)
    return f"lx_{op}_{to.cl}_{space}({_pointer(target, to, space, d)}, {text})"


def _pointer(target: Load, kind: Scalar, space: Space, d: Dialect) -> str:
    """The address of an element, as one of the bits that are exchanged."""
    return f"(volatile __{space} {_EXCHANGED[kind.cl][0]} *)&{d.load(target)}"


def helpers(text: str) -> Iterator[str]:
    """The definitions of functions that kernels call, in order."""
    return (definition for call, definition in _FUNCTIONS.items() if call in text)


def extensions(fn: Function) -> Iterator[str]:
    """Those with the atomic functions that the kernels of a function call."""
    types = symbols(fn)
    updates = [s for _, s in walk(fn.body) if isinstance(s, Assign) and s.atomic and s.op]
    wide = {s.op for s in updates if type_of(s.target, types).bytes == WIDE}
    if wide & BASE:
        yield "cl_khr_int64_base_atomics"
    if wide - BASE:
        yield "cl_khr_int64_extended_atomics"
