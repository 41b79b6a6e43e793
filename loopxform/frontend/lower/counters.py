"""What a loop that is not modelled counts, as far as a reader can tell."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.desugar.names import shown


def counts(loop: c_ast.For) -> str:
    """The variable of a `for` that is not modelled: what the header sets first, else what it
    changes last; "" where it does neither."""
    match loop.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=name), *_]):
            return shown(name)
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
            return shown(name)
        case c_ast.ExprList(exprs=[c_ast.Assignment(lvalue=c_ast.ID(name=name)), *_]):
            return shown(name)
    match loop.next:
        case c_ast.UnaryOp(expr=c_ast.ID(name=name)):
            return shown(name)
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
            return shown(name)
        case c_ast.ExprList(exprs=[*_, c_ast.UnaryOp(expr=c_ast.ID(name=name))]):
            return shown(name)
    return ""
