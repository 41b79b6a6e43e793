"""Which names and expressions of C are not modelled, and why."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.ctype import CType
from loopxform.frontend.names.symbols import Symbol


def check_scalar(symbol: Symbol, node: c_ast.Node) -> None:
    """NotModelled unless `symbol` is a scalar variable."""
    name, t = symbol.name, symbol.type
    if not symbol.is_variable:
        what = "a function" if symbol.kind == "function" else "not a variable"
        raise NotModelled("LX010", f"'{name}' is {what}", "", node)
    if symbol.storage and "static" in symbol.storage and symbol.kind == "local":
        help = "make it a variable of the file or a parameter"
        raise NotModelled("LX015", f"'{name}' keeps its value between calls (static)", help, node)
    if t.is_array:
        help = f"name an element: {name}[i]"
        raise NotModelled("LX014", f"the address of '{name}' is used as a value", help, node)
    if not t.is_scalar:
        raise NotModelled("LX015", f"'{name}' has type {t}, which is not modelled", _help(t), node)


def sized(symbol: Symbol, node: c_ast.Node) -> Symbol:
    """The symbol. Raises NotModelled where its declaration says a size that is not read."""
    if symbol.unsized:
        help = "give it a size that is a number, or made of whole numbers"
        raise NotModelled("LX015", f"the size of '{symbol.name}' is not modelled", help, node)
    return symbol


def _help(t: CType) -> str:
    if t.spelling.startswith(("struct", "union")):
        return "use separate arrays and scalars for the members"
    return "use an arithmetic type or an array of one"


def odd_member(node: c_ast.StructRef) -> NotModelled:
    """Why a member of a struct or a union is not modelled."""
    help = "copy the member to a variable, or use separate arrays for the members"
    why = f"'{node.field.name}' is a struct or union member that is not modelled"
    return NotModelled("LX015", why, help, node)


def endless_member(node: c_ast.StructRef) -> NotModelled:
    """Why an array at the end of a struct is not modelled."""
    help = "make it a pointer, or declare it as long as it is"
    why = f"how long '{node.field.name}' is, at the end of a struct, is not known"
    return NotModelled("LX015", why, help, node)


def outside(node: c_ast.Node) -> NotModelled:
    """Why an expression is not modelled."""
    match node:
        case c_ast.Assignment():
            help = "write the assignment as a statement of its own"
            return NotModelled("LX017", "an assignment inside an expression", help, node)
        case c_ast.ExprList():
            return NotModelled("LX017", "the comma operator", "write separate statements", node)
        case c_ast.StructRef():
            return odd_member(node)
        case c_ast.CompoundLiteral() | c_ast.InitList():
            return NotModelled("LX015", "a compound literal", "use a variable", node)
        case c_ast.Compound():
            help = "write the statements before this one"
            return NotModelled("LX010", "a statement expression", help, node)
        case _:
            return NotModelled("LX010", "this expression is not modelled", "", node)
