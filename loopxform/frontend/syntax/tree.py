"""The untyped calls of the parser's tree that everybody needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    following, children = waiting.pop, _backwards.get
    while waiting:
        here = following()
        yield here
        names = children(here.__class__)
        for name, many in _children_of(here.__class__) if names is None else names:
            child = getattr(here, name)
            if child is None:
                continue
            if many:
                waiting += child[::-1]
            else:
                waiting.append(child)


def alike(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Whether two trees say the same, wherever they stand."""
    if a.__class__ is not b.__class__:
        return False
    for slot in _slots.get(a.__class__) or _slots_of(a.__class__):
        x, y = getattr(a, slot, None), getattr(b, slot, None)
        if isinstance(x, c_ast.Node) and isinstance(y, c_ast.Node):
            same = alike(x, y)
        elif isinstance(x, list) and isinstance(y, list):
            nodes = all(isinstance(n, c_ast.Node) for n in (*x, *y))
            same = len(x) == len(y) and (all(map(alike, x, y)) if nodes else x == y)
        else:
            same = slot == "coord" or x == y
        if not same:
            return False
    return True


def replace_children(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node]) -> None:
    """Puts `change(child)` in the place of every direct child."""
    kind = node.__class__
    for slot in _slots.get(kind) or _slots_of(kind):
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            setattr(node, slot, change(value))
        elif isinstance(value, list) and value and isinstance(value[0], c_ast.Node):
            setattr(node, slot, [change(v) for v in value])


def clone(node: c_ast.Node) -> c_ast.Node:
    """A copy of a tree that shares no node with it; coordinates are kept."""
    return copied(node, lambda _: None)


def copied(node: c_ast.Node, finish: Callable[[c_ast.Node], None]) -> c_ast.Node:
    """A copy of a tree that shares no node with it; `finish` gets each new node."""

    def copy(node: c_ast.Node) -> c_ast.Node:
        kind: Any = node.__class__
        out = kind.__new__(kind)
        for slot in _slots.get(kind) or _slots_of(kind):
            value = getattr(node, slot, None)
            if isinstance(value, c_ast.Node):
                value = copy(value)
            elif isinstance(value, list):
                value = [copy(v) if isinstance(v, c_ast.Node) else v for v in value]
            setattr(out, slot, value)
        finish(out)
        return cast(c_ast.Node, out)

    return copy(node)


def copied_along(
    node: c_ast.Node, held: Mapping[int, c_ast.Node]
) -> tuple[c_ast.Node, dict[int, c_ast.Node]]:
    """A copy of a tree with nodes of its own for those that are `held`, by their identity, the
    parents of each among them; the others are shared. The new ones are given as well."""
    made: dict[int, c_ast.Node] = {}

    def copy(n: c_ast.Node) -> c_ast.Node:
        if id(n) not in held:
            return n
        out = shallow(n)
        made[id(out)] = out
        replace_children(out, copy)
        return out

    return copy(node), made


def shallow(node: c_ast.Node) -> c_ast.Node:
    """A copy of a node that has the same children."""
    kind: Any = node.__class__
    out = kind.__new__(kind)
    for slot in _slots.get(kind) or _slots_of(kind):
        value = getattr(node, slot, None)
        setattr(out, slot, list(value) if isinstance(value, list) else value)
    return cast(c_ast.Node, out)


_slots = dict[type, tuple[str, ...]]()
_backwards = dict[type, tuple[tuple[str, bool], ...]]()


def _slots_of(kind: type) -> tuple[str, ...]:
    """The slots of a class and of those it derives from."""
    own = (s for c in kind.__mro__ for s in getattr(c, "__slots__", ()))
    _slots[kind] = tuple(s for s in own if s != "__weakref__")
    return _slots[kind]


def _children_of(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The attributes of a class that hold children, the last first, and whether it is a list of
    them: those that its iterator gives, which is asked once."""
    probe = kind.__new__(kind)
    lists = {slot: [object()] for slot in _slots_of(kind)}
    for slot, value in lists.items():
        setattr(probe, slot, value)
    names = {id(value): (slot, False) for slot, value in lists.items()}
    names |= {id(value[0]): (slot, True) for slot, value in lists.items()}
    _backwards[kind] = tuple(names[id(child)] for child in probe)[::-1]
    return _backwards[kind]


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


def runs_once(node: c_ast.Node) -> bool:
    """Whether a loop is none: `do S while (0)`, as macros of several statements are written."""
    cond = node.cond if isinstance(node, c_ast.DoWhile) else None
    return isinstance(cond, c_ast.Constant) and cond.type == "int" and cond.value == "0"
