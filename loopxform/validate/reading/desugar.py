"""Statements as plainer ones: loops that count down in their conditions, and `continue`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from pycparser import c_ast

from loopxform.validate.reading.syntax import is_zero

_NODE: Any = c_ast
"""pycparser's constructors, which have no types."""


def whole_number(value: int) -> c_ast.Constant:
    node: c_ast.Constant = _NODE.Constant("int", str(value))
    return node


def assignment(op: str, target: c_ast.Node, value: c_ast.Node, coord: Any) -> c_ast.Assignment:
    node: c_ast.Assignment = _NODE.Assignment(op, target, value, coord)
    return node


def operation(op: str, left: c_ast.Node, right: c_ast.Node) -> c_ast.BinaryOp:
    node: c_ast.BinaryOp = _NODE.BinaryOp(op, left, right)
    return node


def block(items: Sequence[c_ast.Node]) -> c_ast.Compound:
    node: c_ast.Compound = _NODE.Compound(list(items))
    return node


def counting_down(s: c_ast.Node) -> c_ast.For | None:
    """`while (n--)` and `for (k = n; k-- > 0;)` as loops over the numbers that their bodies see;
    None for any other statement."""
    if not isinstance(s, c_ast.While | c_ast.For) or getattr(s, "next", None) is not None:
        return None
    cond = s.cond
    if isinstance(cond, c_ast.BinaryOp) and cond.op in (">", "!=") and is_zero(cond.right):
        cond = cond.left
    if not (isinstance(cond, c_ast.UnaryOp) and cond.op == "p--"):
        return None
    counter = cond.expr
    if not isinstance(counter, c_ast.ID):
        return None
    init = s.init if isinstance(s, c_ast.For) else None
    first = _one_below(init, counter, s)
    holds = operation(">=", counter, whole_number(0))
    step = assignment("-=", counter, whole_number(1), s.coord)
    loop: c_ast.For = _NODE.For(first, holds, step, s.stmt, s.coord)
    return loop


def _one_below(init: Any, counter: c_ast.ID, s: c_ast.Node) -> c_ast.Node:
    """`int k = n - 1` of `int k = n`, `k = n - 1` of `k = n`, and of nothing `k = k - 1`."""
    if isinstance(init, c_ast.DeclList):
        first: Any = copy(init.decls[0])
        first.init = operation("-", first.init, whole_number(1))
        declarations: c_ast.DeclList = _NODE.DeclList([first], init.coord)
        return declarations
    start = counter if init is None else init.rvalue
    return assignment("=", counter, operation("-", start, whole_number(1)), s.coord)


def without_continue(s: c_ast.Node, rest: Sequence[c_ast.Node]) -> c_ast.If | None:
    """`if (c) { ...; continue; }` with the rest of its block as what is done where c does not
    hold; None for any other statement."""
    if not isinstance(s, c_ast.If):
        return None
    then = s.iftrue
    items = list(then.block_items or ()) if isinstance(then, c_ast.Compound) else [then]
    if not (items and isinstance(items[-1], c_ast.Continue)):
        return None
    other = [*([s.iffalse] if s.iffalse is not None else []), *rest]
    node: c_ast.If = _NODE.If(s.cond, block(items[:-1]), block(other), s.coord)
    return node
