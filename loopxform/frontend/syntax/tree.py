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
    for slot in _slots_of(type(node)):
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            setattr(node, slot, change(value))
        elif isinstance(value, list) and value and isinstance(value[0], c_ast.Node):
            setattr(node, slot, [change(v) for v in value])


def clone(node: c_ast.Node) -> c_ast.Node:
    """A copy of a tree that shares no node with it; coordinates are kept."""
    out = cast(Any, type(node)).__new__(type(node))
    for slot in _slots_of(type(node)):
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            value = clone(value)
        elif isinstance(value, list):
            value = [clone(v) if isinstance(v, c_ast.Node) else v for v in value]
        setattr(out, slot, value)
    return cast(c_ast.Node, out)


_slots = dict[type, tuple[str, ...]]()


def _slots_of(kind: type) -> tuple[str, ...]:
    """The slots of a class and of those it derives from."""
    if kind not in _slots:
        own = (s for c in kind.__mro__ for s in getattr(c, "__slots__", ()))
        _slots[kind] = tuple(s for s in own if s != "__weakref__")
    return _slots[kind]


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
