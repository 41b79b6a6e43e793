"""Numbers that statements of a function begin with as they are declared:

int k = 0;                                 void f_1(int n, ..., int *k_out)
for (i = 0; i < n; i++)               ->   { int k = 0;
  if (a[i] > 0) out[k++] = a[i];             for (i = 0; i < n; i++) ...
return k;                                    *k_out = k; }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard, cast

from pycparser import c_ast

from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every

JUMPS = c_ast.Label | c_ast.Goto | c_ast.Case | c_ast.Default
"""They may pass a declaration by, or run what follows it again."""


def is_literal(init: c_ast.Node | None) -> TypeGuard[c_ast.Node]:
    """Whether a variable is declared with a number that the text says."""
    value = init.expr if isinstance(init, c_ast.UnaryOp) and init.op in "+-~!" else init
    return isinstance(value, c_ast.Constant) and value.type != "string"


def begins_as_declared(
    d: c_ast.Decl,
    region: Sequence[c_ast.Node],
    function: c_ast.FuncDef,
    variables: Variables,
) -> bool:
    """Whether a number that is declared with a literal has that value wherever consecutive
    statements begin: they stand behind it in its block, and nothing between sets it."""
    lasts = {"static", "extern"} & set(d.storage or ())
    if lasts or not is_literal(d.init) or variables.escaping[id(d)]:
        return False
    nodes = list(every(function.body))
    blocks = (x.block_items or [] for x in nodes if isinstance(x, c_ast.Compound))
    block = next((items for items in blocks if any(x is d for x in items)), [])
    if not any(x is region[0] for x in block) or any(isinstance(x, JUMPS) for x in nodes):
        return False
    first = variables.order[id(region[0])]
    return all(variables.order[id(x)] >= first for x in variables.sets[id(d)])


def begins_with(
    d: c_ast.Decl,
    region: Sequence[c_ast.Node],
    function: c_ast.FuncDef,
    variables: Variables,
) -> c_ast.Node | None:
    """The literal that a number has wherever consecutive statements begin, None where that is not
    known: it is declared so, or set in the same block and left alone from there on."""
    if begins_as_declared(d, region, function, variables):
        return cast("c_ast.Node | None", d.init)
    nodes = list(every(function.body))
    if variables.escaping[id(d)] or any(isinstance(x, JUMPS) for x in nodes):
        return None
    sets = {id(x) for x in variables.sets[id(d)]}
    for item in reversed(in_front(region[0], nodes)):
        if not any(id(x) in sets for x in every(item)):
            continue
        value: c_ast.Node | None = (
            item.rvalue if isinstance(item, c_ast.Assignment) and item.op == "=" else None
        )
        return value if id(item) in sets and is_literal(value) else None
    return None


def in_front(node: c_ast.Node, nodes: Iterable[c_ast.Node]) -> list[c_ast.Node]:
    """The statements in front of one in its block; `nodes` are those of its function."""
    for x in nodes:
        items = (x.block_items or []) if isinstance(x, c_ast.Compound) else []
        place = next((n for n, s in enumerate(items) if s is node), None)
        if place is not None:
            return list(items[:place])
    return []
