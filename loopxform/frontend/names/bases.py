"""The objects that lvalues and pointer expressions start from."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.lower.pointers import rank_left
from loopxform.frontend.names.symbols import Symbol, Table


def base_symbol(node: c_ast.Node, table: Table) -> Symbol | None:
    """The object an lvalue or a pointer expression starts from: A of `*(A + i)`, `A[i].x`."""
    match node:
        case c_ast.ID():
            return table.of(node)
        case c_ast.ArrayRef():
            return _pointer_of((node.name, node.subscript), table)
        case c_ast.StructRef():
            return base_symbol(node.name, table)
        case c_ast.UnaryOp() if node.op in ("*", "&"):
            return base_symbol(node.expr, table)
        case c_ast.BinaryOp() if node.op in ("+", "-"):
            return _pointer_of((node.left, node.right), table)
        case c_ast.Cast():
            return base_symbol(node.expr, table)
        case _:
            return None


def addressed(value: c_ast.Node | None, table: Table) -> Iterator[Symbol]:
    """The objects and pointers whose addresses and values an address is computed from."""
    match value:
        case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="&" | "*"):
            symbol = base_symbol(value, table) if rank_left(value, table.of) else None
            if symbol is not None:
                yield symbol
            return
        case c_ast.Cast() | c_ast.NamedInitializer():
            parts = [value.expr]
        case c_ast.BinaryOp(op="+" | "-"):
            parts = [value.left, value.right]
        case c_ast.TernaryOp():
            parts = [value.iftrue, value.iffalse]
        case c_ast.Assignment():
            parts = [value.rvalue]
        case c_ast.InitList() | c_ast.ExprList():
            parts = value.exprs
        case c_ast.CompoundLiteral():
            parts = [value.init]
        case _:
            return
    for part in parts:
        yield from addressed(part, table)


def _pointer_of(sides: tuple[c_ast.Node, c_ast.Node], table: Table) -> Symbol | None:
    """The pointer among a base and an offset, in whatever order."""
    found = [base_symbol(side, table) for side in sides]
    pointers = [s for s in found if s is not None and s.type.derived]
    return pointers[0] if pointers else found[0]
