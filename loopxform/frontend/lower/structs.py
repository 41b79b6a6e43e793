"""Copies of structs as copies of their members: `q[i] = p[i]` is `q[i].x = p[i].x; ...`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.names.ctype import Array, CType
from loopxform.frontend.names.members import Records
from loopxform.frontend.syntax.tree import below, clone, every

MOST = 16
"""How many numbers a struct holds at most whose copies are read so."""

Leaf: TypeAlias = tuple[str | int, ...]
"""A number in a struct: names of members, and subscripts."""


def copies(
    records: Records, key: str, target: c_ast.Node, value: c_ast.Node
) -> list[c_ast.Assignment] | None:
    """The assignments that `target = value` of structs stands for, or None where that is not
    plain."""
    if key not in records.whole or not _is_steady(target):
        return None
    leaves = list(_leaves(records, key, ()))
    if len(leaves) > MOST:
        return None
    while isinstance(value, c_ast.Cast):  # of an argument to the type of its parameter
        value = value.expr
    if isinstance(value, c_ast.InitList):
        return _listed(leaves, target, value)
    if not _is_steady(value):
        return None
    return [_assigned(_at(target, leaf), _at(value, leaf)) for leaf in leaves]


def _leaves(records: Records, key: str, path: Leaf) -> Iterator[Leaf]:
    for name, t in records.fields[key].items():
        for inner in _elements(t, (*path, name)):
            if t.record:
                yield from _leaves(records, t.record, inner)
            else:
                yield inner


def _elements(t: CType, path: Leaf) -> Iterator[Leaf]:
    found = [path]
    for d in t.derived:
        size = d.size if isinstance(d, Array) else None
        count = int(size.value) if isinstance(size, c_ast.Constant) else 0
        found = [(*p, n) for p in found for n in range(min(count, MOST + 1))]
    yield from found


def _listed(
    leaves: list[Leaf], target: c_ast.Node, value: c_ast.InitList
) -> list[c_ast.Assignment] | None:
    """`{1, 2}` gives the first members their values, and the others 0."""
    given = list(value.exprs)
    if any(isinstance(e, c_ast.NamedInitializer | c_ast.InitList) for e in given):
        return None
    if any(len(leaf) > 1 for leaf in leaves) or len(given) > len(leaves):
        return None
    zeros = [build.number(0, value) for _ in leaves[len(given) :]]
    return [_assigned(_at(target, x), e) for x, e in zip(leaves, [*given, *zeros])]


def _at(node: c_ast.Node, leaf: Leaf) -> c_ast.Node:
    make = cast(Any, c_ast)
    out = clone(node)
    for part in leaf:
        if isinstance(part, int):
            out = make.ArrayRef(out, build.number(part, node), coord=node.coord)
        else:
            out = make.StructRef(out, ".", make.ID(part, coord=node.coord), coord=node.coord)
    return out


def _assigned(target: c_ast.Node, value: c_ast.Node) -> c_ast.Assignment:
    made = cast(Any, c_ast.Assignment)("=", target, value, coord=target.coord)
    return cast(c_ast.Assignment, made)


def _is_steady(node: c_ast.Node) -> bool:
    """Whether a place is the same once some of its members are set: no subscript reads memory."""
    match node:
        case c_ast.ID():
            return True
        case c_ast.ArrayRef():
            return _is_steady(node.name) and all(map(_is_plain, every(node.subscript)))
        case c_ast.UnaryOp(op="*" | "&") | c_ast.StructRef():
            return _is_steady(next(below(node)))
        case c_ast.BinaryOp(op="+" | "-"):
            return _is_steady(node.left) and all(map(_is_plain, every(node.right)))
        case _:
            return False


def _is_plain(n: c_ast.Node) -> bool:
    if isinstance(n, c_ast.UnaryOp):
        return n.op in ("-", "+")
    return isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp)
