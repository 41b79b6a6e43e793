"""The prototype of a function in plain C99: macros and typedefs expanded, qualifiers kept."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from loopxform.frontend.names.ctype import Array, CType, Func, Lookup, Pointer, ctype

Size = Callable[[c_ast.Node], str]


def declaration(name: str, t: CType, size: Size, typedef: Lookup) -> str:
    """`const float (*restrict a)[n]`."""
    text, after_pointer = name, False
    for d in t.derived:
        match d:
            case Pointer():
                quals = [q for q in ("const", "restrict", "volatile") if getattr(d, q)]
                lead = "*" + " ".join(quals)
                text = f"{lead} {text}" if quals and text else f"{lead}{text}"
            case Array():
                text = f"({text})" if after_pointer else text
                inside = [*d.quals, *([size(d.size)] if d.size is not None else [])]
                text = f"{text}[{' '.join(inside)}]"
            case Func():
                text = f"({text})" if after_pointer else text
                text = f"{text}({parameters(d.params, size, typedef)})"
        after_pointer = isinstance(d, Pointer)
    quals = [q for q in ("const", "volatile") if getattr(t, q)]
    return " ".join([*quals, t.spelling, text]).rstrip()


def parameters(params: c_ast.ParamList | None, size: Size, typedef: Lookup) -> str:
    """The list between the parentheses; `void` where there is none."""
    out = []
    for p in params.params if params else ():
        if isinstance(p, c_ast.EllipsisParam):
            out.append("...")
        else:
            out.append(
                declaration(getattr(p, "name", None) or "", ctype(p.type, typedef), size, typedef)
            )
    return ", ".join(out) or "void"
