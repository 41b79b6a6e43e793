"""Memory that a part allocates and frees again as arrays that it declares.

double *t = malloc(m * sizeof *t); ...; free(t);    ->    double t[m];    for calls with 1 <= m

The size is the same all the time. The device has the memory, or the user's loops run: as far as
they ask, there always is some.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Bin, Const, Decl, Function, Stmt
from loopxform.ir.visit import map_body, names, walk, writes


def with_own_memory(fn: Function) -> Function:
    """The function with such arrays as those that it declares, where their sizes are computed from
    arguments alone: the host asks for these. Others stay what they are."""
    given = {p.name for p in fn.params if not p.array and not p.pointer and p.type.is_integer}
    known = given - writes(fn.body)
    arrays = [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.heap]
    found = {d.name for d in arrays if all(names(e) <= known for e in d.shape)}
    if not found:
        return fn

    def declared(s: Stmt) -> tuple[Stmt, ...]:
        return (replace(s, heap=False) if isinstance(s, Decl) and s.name in found else s,)

    sizes = (e for d in arrays if d.name in found for e in d.shape if names(e))
    asked = [Bin("<=", Const(1), e) for e in sizes]
    assumes = tuple(dict.fromkeys((*fn.assumes, *asked)))
    return replace(fn, body=map_body(fn.body, declared), assumes=assumes)
