"""Statements that step a variable: `i++`, `i += 2`, `i = i + 2`."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.desugar.names import mentioned


def stepped(s: c_ast.Node) -> str | None:
    """The variable that a statement steps."""
    match s:
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--", expr=c_ast.ID(name=name)):
            return str(name)
        case c_ast.Assignment(op="+=" | "-=", lvalue=c_ast.ID(name=name)):
            return str(name)
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(op="+" | "-")
        ) if name in mentioned(s.rvalue):
            return str(name)
        case _:
            return None
