"""The types of lvalues and pointer expressions, as C has them, whether they are modelled or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.names.ctype import Array, CType, Func, Lookup, Pointer, ctype
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.records import record


@record
class Lvalue:
    """`type` is None where it may be any, `within` the object of the function or the file that it
    lies in, None where pointers lead there: as many as `steps`, 2 where there are more, or where it
    is not known."""

    type: CType | None = None
    within: Symbol | None = None
    steps: int = 2


_ANY = Lvalue()


def lvalue(node: c_ast.Node, table: Table, typedef: Lookup) -> Lvalue:
    """What an expression denotes, or the pointer or array that it gives."""

    def of(inner: c_ast.Node) -> Lvalue:
        return lvalue(inner, table, typedef)

    match node:
        case c_ast.ID():
            s = table.of(node)
            known = s is not None and s.is_variable
            return Lvalue(s.type, None if s.is_pointer else s, 0) if s and known else _ANY
        case c_ast.ArrayRef():
            return _behind(_pointer(node.name, node.subscript, of))
        case c_ast.UnaryOp(op="*"):
            return _behind(of(node.expr))
        case c_ast.UnaryOp(op="&"):
            return _to(of(node.expr).type)
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return of(node.expr)
        case c_ast.StructRef():
            whole = of(node.name) if node.type == "." else _behind(of(node.name))
            plain = whole.type if whole.type is not None and not whole.type.derived else None
            return replace(whole, type=table.aliasing.member(plain, node.field.name))
        case c_ast.BinaryOp(op="+" | "-"):
            return _pointer(node.left, node.right, of)
        case c_ast.Cast():
            inner = of(node.expr)
            return Lvalue(ctype(node.to_type, typedef), steps=inner.steps)
        case c_ast.Assignment():
            return of(node.lvalue)
        case c_ast.FuncCall():
            return Lvalue(_returned(node.name, table))
        case _:
            return _ANY


def _pointer(left: c_ast.Node, right: c_ast.Node, of: Callable[[c_ast.Node], Lvalue]) -> Lvalue:
    """The pointer or array of two operands, in whatever order."""
    first = of(left)
    return first if first.type is None or first.type.derived else of(right)


def _behind(pointer: Lvalue) -> Lvalue:
    """The first element that a pointer points to, or that an array has."""
    t = pointer.type
    if t is None or not t.derived:
        return _ANY
    element = replace(t, derived=t.derived[1:])
    if isinstance(t.derived[0], Array) and (pointer.within is not None or pointer.steps):
        return replace(pointer, type=element)
    return Lvalue(element, None, min(pointer.steps + 1, 2))


def _to(t: CType | None) -> Lvalue:
    return _ANY if t is None else Lvalue(replace(t, derived=(Pointer(), *t.derived)))


def _returned(node: c_ast.Node, table: Table) -> CType | None:
    """The type that a function returns."""
    s = table.of(node)
    if s is None or not s.type.derived or not isinstance(s.type.derived[0], Func):
        return None
    return replace(s.type, derived=s.type.derived[1:])
