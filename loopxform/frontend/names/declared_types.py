"""The types that declarations give the objects and pointers in expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.names.ctype import Array, CType, Func, Lookup, Pointer, ctype
from loopxform.frontend.names.symbols import Table
from loopxform.ir.records import POINTER_BYTES, Record


def expression_type(node: c_ast.Node, table: Table, typedef: Lookup) -> CType | None:
    """The type of an expression that names an object, or points to one; None for others."""

    def of(n: c_ast.Node) -> CType | None:
        return expression_type(n, table, typedef)

    match node:
        case c_ast.ID():
            symbol = table.of(node)
            if symbol is None or not symbol.is_variable:
                return None
            given = symbol.kind == "param" and symbol.type.derived
            return _passed(symbol.type) if given else symbol.type
        case c_ast.StructRef():
            symbol = table.of(node)
            return symbol.member_type if symbol is not None else None
        case c_ast.ArrayRef():
            return _behind(of(node.name))
        case c_ast.UnaryOp(op="*"):
            return _behind(of(node.expr))
        case c_ast.UnaryOp(op="&"):
            inner = of(node.expr)
            return inner and replace(inner, derived=(Pointer(), *inner.derived))
        case c_ast.BinaryOp(op="+" | "-"):
            sides = [t for t in (of(node.left), of(node.right)) if t and t.derived]
            return _passed(sides[0]) if len(sides) == 1 else None
        case c_ast.Cast():
            return ctype(node.to_type, typedef)
        case _:
            return None


def size_of(
    t: CType, number: Callable[[c_ast.Node], int | None], layout: Callable[[CType], Record | None]
) -> int | None:
    """The bytes of an object; None where they are not known. `number` evaluates sizes of arrays."""
    if t.derived:
        first = t.derived[0]
        if isinstance(first, Pointer):
            return POINTER_BYTES
        inner = size_of(replace(t, derived=t.derived[1:]), number, layout)
        known = isinstance(first, Array) and first.size is not None
        count = number(first.size) if isinstance(first, Array) and known and first.size else None
        return None if inner is None or count is None or count <= 0 else count * inner
    if t.base is not None:
        return t.base.bytes
    found = layout(t) if t.record else None
    return None if found is None else found.bytes


def _passed(t: CType) -> CType:
    """A parameter that is declared as an array is a pointer; so is an array in an expression."""
    return replace(t, derived=(Pointer(), *t.derived[1:]))


def _behind(t: CType | None) -> CType | None:
    if t is None or not t.derived or isinstance(t.derived[0], Func):
        return None
    return replace(t, derived=t.derived[1:])
