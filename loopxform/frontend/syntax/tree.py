"""The untyped calls of the parser's tree that everybody needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from pycparser import c_ast

from loopxform.budget import spend


def below(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The direct children of a node, in text order."""
    if node is not None:
        yield from cast(Any, node)


def every(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """`node` and all nodes below it, in text order."""
    spend()
    waiting = [] if node is None else [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += reversed(list(below(here)))


def replace_children(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> None:
    """Puts `change(child)` in the place of every direct child."""
    for slot in _slots(node):
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            setattr(node, slot, change(value))
        elif isinstance(value, list) and value and isinstance(value[0], c_ast.Node):
            setattr(node, slot, [change(v) for v in value])


def clone(node: c_ast.Node) -> c_ast.Node:
    """A copy of a tree that shares no node with it; coordinates are kept."""
    out = cast(Any, type(node)).__new__(type(node))
    for slot in _slots(node):
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            value = clone(value)
        elif isinstance(value, list):
            value = [clone(v) if isinstance(v, c_ast.Node) else v for v in value]
        setattr(out, slot, value)
    return cast(c_ast.Node, out)


def _slots(node: c_ast.Node) -> Iterator[str]:
    """What a node holds: the slots of its class and of those it derives from."""
    for c in type(node).__mro__:
        yield from (s for s in getattr(c, "__slots__", ()) if s != "__weakref__")


def statements(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a body or a branch."""
    if node is None:
        return []
    if isinstance(node, c_ast.Compound):
        return list(node.block_items or ())
    return [] if isinstance(node, c_ast.EmptyStatement) else [node]


def behind_address(node: c_ast.Node) -> c_ast.ID | None:
    """`x` where `node` is `*&x` or `(&x)[0]`, casts of the pointer aside."""
    match node:
        case c_ast.UnaryOp(op="*", expr=pointer):
            pass
        case c_ast.ArrayRef(name=pointer, subscript=c_ast.Constant(value="0")):
            pass
        case _:
            return None
    while isinstance(pointer, c_ast.Cast):
        pointer = pointer.expr
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return pointer.expr if isinstance(pointer.expr, c_ast.ID) else None
    return None
