"""Structs of a function that a loop only reads: their members are what they were in front of it.

    layer l = make(n);                        void f(layer l, int n)
    for (i = 0; i < n; i++) l.w[i] = 0;  ->   { for (i = 0; i < n; i++) l.w[i] = 0; }

Nobody else sets a struct whose address the function never takes, that of an array in it included.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

from loopxform.frontend.names.expression_types import ExpressionTypes
from loopxform.frontend.names.variables import changed
from loopxform.frontend.syntax.tree import every

_PLAIN = ("number", "pointer")


def is_kept(
    d: c_ast.Decl, inside: Iterable[c_ast.Node], body: c_ast.Node, types: ExpressionTypes
) -> bool:
    """Whether the struct that `d` declares is only read by the nodes of a loop, and known by its
    name alone in the `body` of the function."""
    variables = types.variables
    if variables.kind(d) != "struct" or variables.escaping[id(d)]:
        return False
    if {"volatile", "_Atomic"} & set(d.quals) or {"static", "extern"} & set(d.storage):
        return False
    nodes = list(every(body))
    subscripted = {id(x.name) for x in nodes if isinstance(x, c_ast.ArrayRef)}
    named = [x for x in nodes if _owner(x, types) is d]
    known = {types.sort(x) for x in named if types.sort(x) != "array" or id(x) not in subscripted}
    return known <= {*_PLAIN, "struct"} and _is_read(d, list(inside), types)


def reads_pointer(d: c_ast.Decl, inside: Iterable[c_ast.Node], types: ExpressionTypes) -> bool:
    """Whether a loop reads a pointer in a struct, or hands it on."""
    return any(
        (_owner(x, types) is d and types.sort(x) == "pointer")
        or (isinstance(x, c_ast.FuncCall) and _given(d, x, types) > 0)
        for x in inside
    )


def _given(d: c_ast.Decl, call: c_ast.FuncCall, types: ExpressionTypes) -> int:
    """How many arguments of a call are the struct itself."""
    args = call.args.exprs if call.args is not None else []
    return sum(types.variables.meant.get(id(a)) is d for a in args)


def _is_read(d: c_ast.Decl, inside: list[c_ast.Node], types: ExpressionTypes) -> bool:
    """Whether all that a loop does to a struct is to read members, and to pass it by value."""
    uses = sum(types.variables.meant.get(id(x)) is d for x in inside)
    targets = {id(t) for x in inside if (t := changed(x)) is not None}
    reads = 0
    for x in inside:
        if isinstance(x, c_ast.FuncCall):
            reads += _given(d, x, types)
        elif id(x) not in targets and _owner(x, types) is d:
            reads += types.sort(x) in _PLAIN
    return uses == reads


def _owner(x: c_ast.Node, types: ExpressionTypes) -> c_ast.Decl | None:
    """The variable of which a node names a member, one of a member, or an element in one."""
    if not isinstance(x, c_ast.StructRef | c_ast.ArrayRef):
        return None
    while (isinstance(x, c_ast.StructRef) and x.type == ".") or (
        isinstance(x, c_ast.ArrayRef) and types.sort(x.name) == "array"
    ):
        x = x.name
    return types.variables.meant.get(id(x))
