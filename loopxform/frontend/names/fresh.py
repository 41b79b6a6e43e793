"""Pointers in structs that are set to memory which has no other name in the function.

    s->a = malloc(n * sizeof *s->a);       new memory
    s->a = realloc(s->a, m);               new memory, or what it was
    s->a = pool_get(pool_size);            what a call gives that knows none of the pointers here

Whether it overlaps other arrays is taken for granted or not as of pointers that the caller gives.
"""

from __future__ import annotations

from collections.abc import Container

from pycparser import c_ast

from loopxform.frontend.desugar.heap import is_allocation
from loopxform.frontend.names.ctype import Lookup, ctype
from loopxform.frontend.names.lvalues import lvalue
from loopxform.frontend.names.symbols import Symbol, Table

_ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")


def is_fresh(
    value: c_ast.Node | None, member: Symbol, table: Table, typedef: Lookup, own: Container[str]
) -> bool:
    """Whether a member is set to such memory, or to nothing; `own` are functions of the file."""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    match value:
        case c_ast.Constant(value="0"):
            return True
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=args) if name not in own:
            given = list(args.exprs) if args is not None else []
            kept = [a for a in given if not _is_number(a, table, typedef)]
            return is_allocation(value) or all(_is(a, member, table) for a in kept)
        case _:
            return False


def _is(node: c_ast.Node, member: Symbol, table: Table) -> bool:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return isinstance(node, c_ast.StructRef) and table.of(node) is member


def _is_number(node: c_ast.Node, table: Table, typedef: Lookup) -> bool:
    """Whether an argument says nothing of where anything is."""
    match node:
        case c_ast.Constant(type=type):
            return bool(type != "string")
        case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
            return True
        case c_ast.UnaryOp(op="-" | "+" | "~" | "!"):
            return _is_number(node.expr, table, typedef)
        case c_ast.BinaryOp(op=op) if op in _ARITHMETIC:
            return all(_is_number(x, table, typedef) for x in (node.left, node.right))
        case c_ast.Cast():
            return ctype(node.to_type, typedef).is_scalar and _is_number(node.expr, table, typedef)
        case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*"):
            t = lvalue(node, table, typedef).type
            return t is not None and t.is_scalar
        case _:
            return False
