"""Exits at the start of a loop's body that ask for its counter are part of its condition.

    for (i = 0; i < n; i++) { if (i >= m) break; S }  ->  for (i = 0; i < n && i < m; i++) { S }
    for (;;) { if (i == n) break; S; i++; }           ->  for (; i != n; ) { S; i++; }

The exit is asked where the condition is, right after it. Only integers of the function are
compared, which the loop leaves alone or steps, and elements (`len[i]`) that stay the same for all
of a loop that stores nothing: what data say of each iteration is a search, and stays one.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import element_kind, kind
from loopxform.frontend.desugar.names import changed, mentioned
from loopxform.frontend.desugar.starts import Scope
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import every, statements

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def with_early_exits(s: c_ast.Node, scope: Scope) -> None:
    """Moves such exits into the condition of a loop, in place."""
    if not isinstance(s, c_ast.For | c_ast.While):
        return
    loop = cast(Any, s)
    items = statements(loop.stmt)
    counting = {name for x in items if (name := stepped(x)) is not None}
    set_here = changed(loop.stmt) - counting
    fixed = None if _may_store(s, scope) else scope.types.keys() - changed(s)
    while items and (stays := _stays(items[0], scope, fixed)) is not None:
        if set_here & mentioned(stays):
            return
        always = loop.cond is None or getattr(loop.cond, "value", "") == "1"
        loop.cond = stays if always else build.binary("&&", loop.cond, stays)
        items = items[1:]
        loop.stmt = build.block(items, s)


def _stays(s: c_ast.Node, scope: Scope, fixed: Set[str] | None) -> c_ast.Node | None:
    """The condition under which a statement does not leave the loop, where it does nothing else;
    `fixed` are the variables that the loop leaves alone, None where it may change elements."""
    match s:
        case c_ast.If(cond=c_ast.BinaryOp(op=op) as cond, iftrue=leave, iffalse=None) if (
            op in _OPPOSITE
        ):
            left = [x for x in statements(leave) if not isinstance(x, c_ast.EmptyStatement)]
            if len(left) != 1 or not isinstance(left[0], c_ast.Break):
                return None
            sides = (cond.left, cond.right)
            plain = all(_is_integer(x, scope, fixed) for x in sides)
            if any(isinstance(x, c_ast.ArrayRef) for x in every(cond)):
                plain = plain and fixed is not None and _is_bound(*sides, fixed)
            return build.binary(_OPPOSITE[op], cond.left, cond.right) if plain else None
        case _:
            return None


def _is_bound(left: c_ast.Node, right: c_ast.Node, fixed: Set[str]) -> bool:
    """Whether one side is a variable that changes, the other one stays the same."""
    pairs = ((left, right), (right, left))
    return any(isinstance(a, c_ast.ID) and a.name not in fixed >= mentioned(b) for a, b in pairs)


def _is_integer(x: c_ast.Node, scope: Scope, fixed: Set[str] | None) -> bool:
    """Whether an expression is made of such integers."""
    match x:
        case c_ast.ID(name=name):
            known = scope.types.get(name)
            return known is not None and kind(known) in ("signed", "unsigned")
        case c_ast.Constant(type=t):
            return "int" in t
        case c_ast.BinaryOp(op="+" | "-" | "*", left=left, right=right):
            return _is_integer(left, scope, fixed) and _is_integer(right, scope, fixed)
        case c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=subscript):
            known = scope.types.get(array) if fixed is not None and array in fixed else None
            is_fixed = known is not None and mentioned(subscript) <= (fixed or set())
            integers = is_fixed and known is not None and element_kind(known) != "other"
            return integers and _is_integer(subscript, scope, fixed)
        case _:
            return False


def _may_store(loop: c_ast.Node, scope: Scope) -> bool:
    """Whether a loop may do more than set variables that only the text of the function changes."""
    for x in every(loop):
        match x:
            case c_ast.Assignment(lvalue=target):
                pass
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=target):
                pass
            case c_ast.FuncCall() | c_ast.Pragma() | c_ast.Label() | c_ast.Goto():
                return True
            case _:
                continue
        if not (isinstance(target, c_ast.ID) and target.name in scope.private):
            return True
    return False
