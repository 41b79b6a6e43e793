"""Copies of arrays in C, in functions with halves: they have the type of what they are copied from.

What C computes from halves, and from others together with them, depends on the options of its
compiler (-fexcess-precision). Kernels know none: their tiles may hold the floats that halves are
computed with as (step `convert-on-copy`).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Assign, Copy, Decl, Function, Load, Stmt, Var
from loopxform.ir.types import HALF
from loopxform.ir.typing import symbols
from loopxform.ir.visit import map_body, walk


def with_halves(fn: Function) -> Function:
    """The function, if it has halves, with no tile that was converted."""
    types, copies = symbols(fn), set[str]()
    if HALF not in types.values():
        return fn
    for _, s in walk(fn.body):
        match s:
            case Copy(target=target, source=source):
                pass
            case Assign(Var(target), Load(source), label=label) if label == f"load_{source}":
                pass
            case _:
                continue
        types[target] = types[source]
        copies.add(target)

    def declared(s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, Decl) and s.name in copies:
            return (replace(s, type=types[s.name]),)
        return (s,)

    return replace(fn, body=map_body(fn.body, declared))
