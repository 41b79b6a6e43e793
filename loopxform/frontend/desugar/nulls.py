"""What a pointer to new memory is asked: `if (!t) return;` goes, `free(t);` goes.

A branch for the case that there is no memory is dropped only where it leaves the function.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.syntax.tree import clone, every, replace_children, statements

_EXITS = ("exit", "abort", "_exit", "_Exit", "quick_exit")
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Label)


class Kept(Exception):
    """The pointer cannot be seen as an array."""


class Nulls:
    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, body: c_ast.Node) -> c_ast.Node:
        """A copy of `body` in which the memory is there; Kept where a test decides more."""
        return self.visit(clone(body))

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name == "free":
            given = n.args.exprs if n.args is not None else []
            if len(given) == 1 and self._is(given[0]):
                return build.nothing(n)
        if isinstance(n, c_ast.If) and self._asks(n.cond):
            return self._branch(n)
        replace_children(n, self.visit)
        return n

    def _branch(self, n: c_ast.If) -> c_ast.Node:
        rest = self._without(n.cond)
        if not isinstance(rest, bool):
            left = n.iftrue
            if not _leaves(left):
                raise Kept
            n.cond = rest
            n.iftrue = self.visit(left)
            n.iffalse = None if n.iffalse is None else self.visit(n.iffalse)
            return n
        kept, dropped = (n.iftrue, n.iffalse) if rest else (n.iffalse, n.iftrue)
        if dropped is not None and not _leaves(dropped):
            raise Kept
        return build.nothing(n) if kept is None else self.visit(kept)

    def _asks(self, n: c_ast.Node) -> bool:
        """Whether a condition asks for the pointer itself."""
        match n:
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._asks(n.left) or self._asks(n.right)
            case _:
                return isinstance(self._truth(n), bool)

    def _without(self, n: c_ast.Node) -> c_ast.Node | bool:
        """A condition once the pointer is known not to be null."""
        match n:
            case c_ast.BinaryOp(op="&&" | "||" as op):
                left, right = self._without(n.left), self._without(n.right)
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, bool):
                        return one if one == (op == "||") else other
                made = cast(Any, n)
                made.left, made.right = left, right
                return n
            case _:
                return self._truth(n)

    def _truth(self, n: c_ast.Node) -> c_ast.Node | bool:
        match n:
            case c_ast.ID() if self._is(n):
                return True
            case c_ast.UnaryOp(op="!"):
                found = self._truth(n.expr)
                return not found if isinstance(found, bool) else n
            case c_ast.BinaryOp(op="==" | "!=" as op, left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if self._is(one) and _is_null(other):
                        return bool(op == "!=")
        return n

    def _is(self, n: c_ast.Node) -> bool:
        while isinstance(n, c_ast.Cast):
            n = n.expr
        return isinstance(n, c_ast.ID) and n.name == self.name


def _is_null(n: c_ast.Node) -> bool:
    while isinstance(n, c_ast.Cast):
        n = n.expr
    if isinstance(n, c_ast.Constant):
        return n.value in ("0", "0L")
    return isinstance(n, c_ast.ID) and bool(n.name == "NULL")


def _leaves(branch: c_ast.Node) -> bool:
    """Whether a branch ends the function, and holds nothing that is asked about."""
    items = statements(branch)
    if not items or any(isinstance(n, _LOOPS) for n in every(branch)):
        return False
    match items[-1]:
        case c_ast.Return() | c_ast.Goto():
            return True
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            return name in _EXITS
        case _:
            return False
