"""Compound literals as variables: `q = (P){1, 2};` is `P new = {1, 2}; q = new;`.

Only where a statement is nothing but the literal and what it is given to: it is evaluated there for
certain, and nothing else is. The variable lives as long as the literal, until its block ends (C11
6.5.2.5).
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.syntax.tree import below, every


def without_literals(node: c_ast.FuncDef, fresh: Fresh) -> None:
    """Rewrites the body of `node` in place."""
    if any(isinstance(n, c_ast.CompoundLiteral) for n in every(node.body)):
        node.body = build.block(_Literals(fresh).items(node.body.block_items or []), node.body)


class _Literals:
    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh

    def items(self, items: list[c_ast.Node]) -> list[c_ast.Node]:
        return [x for s in items for x in self.item(s)]

    def item(self, s: c_ast.Node) -> list[c_ast.Node]:
        """The statements that one in a block becomes."""
        match s:
            case c_ast.Decl() if (given := _literal(s.init)) is not None:
                s.init = given.init
                return [s]
            case c_ast.Return() if (given := _literal(s.expr)) is not None:
                d, s.expr = self._variable(given)
                return [d, s]
            case c_ast.Assignment(op="=") if (given := _literal(s.rvalue)) is not None:
                d, s.rvalue = self._variable(given)
                return [d, s]
            case _:
                return [self.statement(s)]

    def statement(self, s: c_ast.Node) -> c_ast.Node:
        match s:
            case c_ast.Compound():
                s.block_items = self.items(s.block_items or [])
                return s
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                s.stmt = self.body(s.stmt)
            case c_ast.If():
                s.iftrue = self.body(s.iftrue)
                s.iffalse = None if s.iffalse is None else self.body(s.iffalse)
            case c_ast.Switch() | c_ast.Label():
                s.stmt = self.statement(s.stmt)
            case c_ast.Case() | c_ast.Default():
                s.stmts = [self.statement(x) for x in s.stmts]
        return s

    def body(self, s: c_ast.Node | None) -> c_ast.Node | None:
        """A body or a branch, which is a block of its own."""
        items = [] if s is None or isinstance(s, c_ast.Compound) else self.item(s)
        if len(items) > 1:
            return build.block(items, items[0])
        return s if s is None else self.statement(s)

    def _variable(self, given: c_ast.CompoundLiteral) -> tuple[c_ast.Node, c_ast.Node]:
        """A new variable with the value of a literal, and its name."""
        name = self.fresh.name("literal")
        d = build.local(name, cast(Any, given).type.type, given, given.init)
        return d, build.name(name, given)


def _literal(value: c_ast.Node | None) -> c_ast.CompoundLiteral | None:
    """The literal that a value is, of a struct as far as its text tells."""
    if not isinstance(value, c_ast.CompoundLiteral) or not isinstance(value.init, c_ast.InitList):
        return None
    plain = isinstance(value.type.type, c_ast.TypeDecl)
    inner = any(isinstance(n, c_ast.CompoundLiteral) for n in below(value.init))
    return value if plain and not inner and len(value.init.exprs) != 0 else None
