"""Prototypes and declarations in C99."""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.nodes import Function, Param, Struct


def enumeration(tiles: Mapping[str, int]) -> list[str]:
    if not tiles:
        return []
    return [f"  enum {{ {', '.join(f'{t} = {v}' for t, v in tiles.items())} }};"]


def prototype(fn: Function, name: str | None = None) -> str:
    """The user's prototype without semicolon, renamed on request; made from the parameters where
    the function has none."""
    if fn.signature:
        text = fn.signature.rstrip().rstrip(";")
        return re.sub(rf"\b{re.escape(fn.name)}\b(?=\s*\()", name or fn.name, text, count=1)
    returns = fn.returns.c if fn.returns else "void"
    params = ", ".join(declaration(p) for p in fn.params) or "void"
    return f"{returns} {name or fn.name}({params})"


def declaration(p: Param) -> str:
    """`const float A[restrict n][m]`, `float *A`, rows behind pointers `float **A`, or a scalar."""
    const = "const " if p.const else ""
    if not p.shape:
        return f"{const}{p.type.c} {p.name}"
    if p.rows:
        return f"{const}{p.type.c} {'*' * len(p.shape)}{p.name}"
    if p.pointer:
        return _pointer(p)
    qualifier = "restrict" if p.restrict and not p.is_global else ""
    if p.flat and not p.is_global:
        return f"{const}{p.type.c} *{qualifier + ' ' if qualifier else ''}{p.name}"
    plain = Dialect()
    extents = ["" if d is None else cexpr.expr(d, plain) for d in p.shape]
    first = " ".join(x for x in (qualifier, extents[0]) if x)
    return f"{const}{p.type.c} {p.name}" + "".join(f"[{d}]" for d in [first, *extents[1:]])


def struct_declaration(s: Struct) -> str:
    """`struct v p[8]`, `struct v *p`."""
    const = "const " if s.const else ""
    sizes = "".join("[]" if d is None else f"[{cexpr.expr(d, Dialect())}]" for d in s.shape)
    if s.pointer:
        return f"{const}{s.type.c} *{'restrict ' if s.restrict else ''}{s.name}"
    return f"{const}{s.type.c} {s.name}{sizes}"


def _pointer(p: Param) -> str:
    """`float *p`, `const float (*restrict p)[10]`."""
    rows = "" if p.flat else "".join(f"[{cexpr.expr(d, Dialect())}]" for d in p.shape[1:] if d)
    name = f"*restrict {p.name}" if p.restrict else f"*{p.name}"
    return f"{'const ' if p.const else ''}{p.type.c} " + (f"({name}){rows}" if rows else name)
