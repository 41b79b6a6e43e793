"""New pieces of the parser's tree. `at` is the node whose place they take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.syntax.tree import clone

_make = cast(Any, c_ast)


def name(text: str, at: c_ast.Node) -> c_ast.ID:
    return cast(c_ast.ID, _make.ID(text, coord=at.coord))


def number(value: int, at: c_ast.Node) -> c_ast.Node:
    return cast(c_ast.Node, _make.Constant("int", str(value), coord=at.coord))


def infinity(suffix: str, at: c_ast.Node) -> c_ast.Node:
    """`1.0 / 0.0`, or `1.0f / 0.0f`."""
    kind = "float" if suffix else "double"
    one, zero = (_make.Constant(kind, f"{x}.0{suffix}", coord=at.coord) for x in (1, 0))
    return binary("/", one, zero)


def binary(op: str, left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
    return cast(c_ast.Node, _make.BinaryOp(op, left, right, coord=left.coord))


def negated(node: c_ast.Node) -> c_ast.Node:
    """`!node`, or what `node` negates."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return cast(c_ast.Node, node.expr)
    return cast(c_ast.Node, _make.UnaryOp("!", node, coord=node.coord))


def minus(node: c_ast.Node) -> c_ast.Node:
    """`-node`"""
    return cast(c_ast.Node, _make.UnaryOp("-", node, coord=node.coord))


def element(array: str, index: c_ast.Node, at: c_ast.Node) -> c_ast.Node:
    """`array[index]`"""
    return cast(c_ast.Node, _make.ArrayRef(name(array, at), index, coord=at.coord))


def step(op: str, text: str, at: c_ast.Node) -> c_ast.Node:
    """`text++` or `text--`."""
    return cast(c_ast.Node, _make.UnaryOp(f"p{op}", name(text, at), coord=at.coord))


def cast_to(type: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
    """`(type) value`; `type` is the type node of a declaration."""
    unnamed = _make.Typename(None, [], None, typed(type, None), coord=value.coord)
    return cast(c_ast.Node, _make.Cast(unnamed, value, coord=value.coord))


def choice(cond: c_ast.Node, then: c_ast.Node, orelse: c_ast.Node) -> c_ast.Node:
    """`cond ? then : orelse`."""
    return cast(c_ast.Node, _make.TernaryOp(cond, then, orelse, coord=cond.coord))


def assignment(target: str, value: c_ast.Node, at: c_ast.Node) -> c_ast.Assignment:
    """`target = value`."""
    return cast(c_ast.Assignment, _make.Assignment("=", name(target, at), value, coord=at.coord))


def block(items: Iterable[c_ast.Node], at: c_ast.Node) -> c_ast.Compound:
    return cast(c_ast.Compound, _make.Compound(list(items), coord=at.coord))


def nothing(at: c_ast.Node) -> c_ast.Node:
    """The empty statement."""
    return cast(c_ast.Node, _make.EmptyStatement(coord=at.coord))


def branch(
    cond: c_ast.Node, then: c_ast.Node, orelse: c_ast.Node | None, at: c_ast.Node
) -> c_ast.If:
    """`if (cond) then else orelse`."""
    return cast(c_ast.If, _make.If(cond, then, orelse, coord=at.coord))


def returned(value: c_ast.Node | None, at: c_ast.Node) -> c_ast.Node:
    """`return value;`"""
    return cast(c_ast.Node, _make.Return(value, coord=at.coord))


def local(
    text: str, type: c_ast.Node, at: c_ast.Node, init: c_ast.Node | None = None
) -> c_ast.Decl:
    """The declaration of a local variable of the type of a type node."""
    made = _make.Decl(text, [], [], [], [], typed(type, text), init, None, coord=at.coord)
    return cast(c_ast.Decl, made)


def declarations(d: c_ast.Decl) -> c_ast.Node:
    """A declaration as the start of a for."""
    return cast(c_ast.Node, _make.DeclList([d], coord=d.coord))


def without_value(d: c_ast.Decl) -> c_ast.Decl:
    """A declaration without its initialiser."""
    out = cast(c_ast.Decl, _make.Decl(*(getattr(d, s) for s in _DECL), coord=d.coord))
    out.init = None
    return out


_DECL = ("name", "quals", "align", "storage", "funcspec", "type", "init", "bitsize")


def integer(at: c_ast.Node, name: str = "int") -> c_ast.Node:
    """The type node of an integer type."""
    plain = _make.IdentifierType(name.split(), coord=at.coord)
    return cast(c_ast.Node, _make.TypeDecl(None, [], None, plain, coord=at.coord))


def pointer_to(type: c_ast.Node) -> c_ast.Node:
    """The type node of a pointer."""
    return cast(c_ast.Node, _make.PtrDecl([], type, coord=type.coord))


def typed(type: c_ast.Node, text: str | None) -> c_ast.Node:
    """A copy of a type node that declares `text`."""
    out = inner = cast(Any, clone(type))
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = text
    return cast(c_ast.Node, out)


def is_void(type: c_ast.Node) -> bool:
    """Whether a type node says `void`."""
    if not isinstance(type, c_ast.TypeDecl):
        return False
    return isinstance(type.type, c_ast.IdentifierType) and type.type.names == ["void"]
