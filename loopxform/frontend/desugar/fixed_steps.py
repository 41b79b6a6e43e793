"""Steps of loops that are local constants, as their numbers.

    const int T = 16; for (i = 0; i < n; i += T) for (k = i; k < i + T; k++) S
        ->  for (i = 0; i < n; i += 16) for (k = i; k < i + 16; k++) S

All uses of such a variable become the number, so that tiles have the size of the step.
"""

from __future__ import annotations

from typing import cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import kind, once
from loopxform.frontend.desugar.names import changed, governed
from loopxform.frontend.syntax.tree import clone, every, replace_children


def with_fixed_steps(node: c_ast.FuncDef) -> None:
    """Rewrites the body of `node` in place."""
    steps = {
        x.name
        for n in every(node.body)
        if isinstance(n, c_ast.For) and n.next is not None
        for s in every(n.next)
        if isinstance(s, c_ast.Assignment)
        for x in every(s.rvalue)
        if isinstance(x, c_ast.ID)
    }
    if not steps:
        return
    moving = changed(node.body) | governed(node.body)
    found = {n: d for n, d in once(node).items() if n in steps - moving and _is_number(d)}
    if found:
        node.body = _Numbers(found).visit(node.body)


def _is_number(d: c_ast.Decl) -> bool:
    """Whether a declaration is that of a whole number that the text gives."""
    plain = isinstance(d.init, c_ast.Constant) and d.init.type == "int"
    return plain and not d.storage and kind(d) in ("signed", "unsigned")


def _is_int(literal: c_ast.Constant) -> bool:
    """Whether a whole number without a suffix is an `int`."""
    octal = literal.value.isdigit() and literal.value.startswith("0")
    return int(literal.value, 8 if octal else 0) < 1 << 31


class _Numbers:
    """`found` are the variables that are numbers, with what declares them."""

    def __init__(self, found: dict[str, c_ast.Decl]) -> None:
        self.found = found

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        match n:
            case c_ast.ID(name=name) if name in self.found:
                return self._number(self.found[name])
            case c_ast.Decl(name=name) if name in self.found:
                return build.nothing(n)
            case c_ast.StructRef():
                n.name = self.visit(n.name)
                return n
        replace_children(n, self.visit)
        return n

    def _number(self, d: c_ast.Decl) -> c_ast.Node:
        value = cast(c_ast.Constant, clone(cast(c_ast.Node, d.init)))
        own = isinstance(d.type, c_ast.TypeDecl) and d.type.type
        if isinstance(own, c_ast.IdentifierType) and own.names == ["int"] and _is_int(value):
            return value
        return build.cast_to(d.type, value)
