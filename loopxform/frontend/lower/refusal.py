"""Why a piece of C is not modelled: the codes, and the exception that carries one to a statement.

    code   what it covers
    -----  ------------------------------------------------------------------------------
    LX010  a construct of C outside the subset
    LX011  control flow: while, do, switch, goto, labels, break, continue, return inside
    LX012  a call of a function whose effects are not known
    LX013  a loop header that does not count from a start to a bound in constant steps
    LX014  a subscript or pointer that does not name one element of one array
    LX015  a type or storage class: structs, jagged arrays, static locals, long double
    LX016  volatile objects and asm
    LX017  a side effect inside an expression
    LX018  a name that is not declared
    LX019  unsigned arithmetic that may wrap around where a bound or a subscript needs a number

A whole function that cannot be modelled is refused with one of the same codes.
"""

from __future__ import annotations

from pycparser import c_ast


class NotModelled(Exception):
    """Raised while lowering an expression or a header; the statement around it becomes Opaque."""

    def __init__(self, code: str, reason: str, help: str, node: c_ast.Node) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.help = help
        self.node = node


def refused(node: c_ast.Node, reason: str, help: str) -> NotModelled:
    """A loop header that is not modelled because of `node`."""
    return NotModelled("LX013", reason, help, node)
