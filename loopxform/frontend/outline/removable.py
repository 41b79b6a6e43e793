"""Statements that can be taken out of their function: no jump leaves or enters them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.callee import defines_type
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.tree import every

_JUMPS = c_ast.Return | c_ast.Goto | c_ast.Label | c_ast.Case | c_ast.Default


def require_whole(region: Sequence[c_ast.Node]) -> None:
    """Raises NotModelled for statements that are left or entered in the middle, and for
    declarations that are more than variables."""
    for x in (x for n in region for x in every(n)):
        if isinstance(x, _JUMPS):
            help = "keep jumps out of the loops"
            raise NotModelled("LX011", "a jump, or a place to jump to", help, x)
        if isinstance(x, c_ast.Decl) and set(x.storage) & {"static", "extern"}:
            help = "declare it in front of the loops"
            raise NotModelled("LX015", f"'{x.name}' is not a plain local variable", help, x)
        if defines_type(x):
            raise NotModelled("LX015", "a type of the function", "declare it in the file", x)
    for n in region:
        if out := next(_leaving(n), None):
            raise NotModelled("LX011", "a jump out of the statements", "use an if", out)


def _leaving(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The `break` and `continue` that leave a statement."""
    match node:
        case c_ast.Break() | c_ast.Continue():
            yield node
        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
            return
        case c_ast.Switch():
            yield from (x for x in every(node) if isinstance(x, c_ast.Continue))
        case _:
            for child in cast(Any, node):
                yield from _leaving(child)


def marks_scop(node: c_ast.Node) -> bool:
    """What is taken out is looked at as a whole."""
    return isinstance(node, c_ast.Pragma) and pragma_text(node) in ("scop", "endscop")
