"""The object that an lvalue or a pointer expression starts from."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.symbols import Symbol, Table


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


def _pointer_of(sides: tuple[c_ast.Node, c_ast.Node], table: Table) -> Symbol | None:
    """The pointer among a base and an offset, in whatever order."""
    found = [base_symbol(side, table) for side in sides]
    pointers = [s for s in found if s is not None and s.type.derived]
    return pointers[0] if pointers else found[0]
