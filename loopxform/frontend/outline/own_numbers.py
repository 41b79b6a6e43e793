"""The variables of a file that are numbers and that no pointer leads to: `static double t;`.

Some are but scratch of the functions that name them: each sets the number before it reads it, and
calls nothing meanwhile. What such a function leaves there nobody reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pycparser import c_ast

from loopxform.frontend.names.liveness import Use, first
from loopxform.frontend.outline.untouched import is_pure
from loopxform.frontend.syntax.tree import every


def own_numbers(ast: c_ast.FileAST, types: Mapping[str, c_ast.Node]) -> dict[str, bool]:
    """By their names, and whether each is but scratch; `types` are those that the file names."""
    own = {d.name for d in ast.ext if isinstance(d, c_ast.Decl) and _is_own(d, types)}
    own -= {x.name for x in _addressed(ast) if isinstance(x, c_ast.ID)}
    functions = [x for x in ast.ext if isinstance(x, c_ast.FuncDef)]
    kept = {n for f in functions for n in _kept(f, own)}
    inits = {d.name for d in ast.ext if isinstance(d, c_ast.Decl) and d.init is not None}
    return {name: name not in kept | inits for name in own}


def _is_own(d: c_ast.Decl, types: Mapping[str, c_ast.Node]) -> bool:
    odd = {"volatile", "const", "_Atomic"} & set(d.quals)
    t: c_ast.Node = d.type
    while isinstance(t, c_ast.TypeDecl):
        t = t.type
        if isinstance(t, c_ast.IdentifierType) and len(t.names) == 1:
            t = types.get(t.names[0], t)
    return "static" in d.storage and not odd and isinstance(t, c_ast.IdentifierType)


def _addressed(ast: c_ast.FileAST) -> list[c_ast.Node]:
    """Every node that an address is taken of, or of a part of it."""
    taken = (x for x in every(ast) if isinstance(x, c_ast.UnaryOp) and x.op == "&")
    return [y for x in taken for y in every(x.expr)]


def _kept(function: c_ast.FuncDef, own: set[str]) -> set[str]:
    """The numbers that a function may read before it sets them, or that what it calls may."""
    named = {x.name for x in every(function) if isinstance(x, c_ast.ID)} & own
    if any(isinstance(x, c_ast.FuncCall) and not is_pure(x) for x in every(function.body)):
        return named
    return {name for name in named if first(function.body, partial(_is, name)) is Use.READ}


def _is(name: str, x: c_ast.Node) -> bool:
    return isinstance(x, c_ast.ID) and x.name == name
