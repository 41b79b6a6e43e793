"""Structs that some statements use for themselves: `d.x = a[i] - b[j]; s += d.x * d.x;`."""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from loopxform.frontend.names.liveness import Use, sequence
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every


def is_scratch(d: c_ast.Decl, region: Sequence[c_ast.Node], variables: Variables) -> bool:
    """Whether statements set each member of a struct that they read: they name it for its members
    alone, and nobody has its address."""
    inside = [x for n in region for x in every(n)]
    mine = [x for x in inside if variables.meant.get(id(x)) is d]
    members = [x for x in inside if isinstance(x, c_ast.StructRef) and x.type == "."]
    members = [x for x in members if variables.meant.get(id(x.name)) is d]
    held = {id(getattr(x, "name", None)) for x in inside}
    if variables.escaping[id(d)] or len(members) < len(mine) or any(id(x) in held for x in members):
        return False

    def reads_first(field: str) -> bool:
        named = {id(x) for x in members if x.field.name == field}
        return sequence(region, lambda x: id(x) in named) is Use.READ

    return not any(reads_first(field) for field in {x.field.name for x in members})
