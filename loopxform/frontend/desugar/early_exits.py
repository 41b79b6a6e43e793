"""Exits at the start of a loop's body that ask for its counter are part of its condition.

    for (i = 0; i < n; i++) { if (i >= m) break; S }  ->  for (i = 0; i < n && i < m; i++) { S }
    for (;;) { if (i == n) break; S; i++; }           ->  for (; i != n; ) { S; i++; }

The exit is asked where the condition is, right after it. Only integers of the function are
compared, which the loop leaves alone or steps: what data say is a search, and stays one.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import kind
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
    while items and (stays := _stays(items[0], scope)) is not None:
        if set_here & mentioned(stays):
            return
        always = loop.cond is None or getattr(loop.cond, "value", "") == "1"
        loop.cond = stays if always else build.binary("&&", loop.cond, stays)
        items = items[1:]
        loop.stmt = build.block(items, s)


def _stays(s: c_ast.Node, scope: Scope) -> c_ast.Node | None:
    """The condition under which a statement does not leave the loop, where it does nothing else."""
    match s:
        case c_ast.If(cond=c_ast.BinaryOp(op=op) as cond, iftrue=leave, iffalse=None) if (
            op in _OPPOSITE
        ):
            left = [x for x in statements(leave) if not isinstance(x, c_ast.EmptyStatement)]
            if len(left) != 1 or not isinstance(left[0], c_ast.Break):
                return None
            plain = all(
                _is_integer(x, scope) for side in (cond.left, cond.right) for x in every(side)
            )
            return build.binary(_OPPOSITE[op], cond.left, cond.right) if plain else None
        case _:
            return None


def _is_integer(x: c_ast.Node, scope: Scope) -> bool:
    match x:
        case c_ast.ID(name=name):
            known = scope.types.get(name)
            return known is not None and kind(known) in ("signed", "unsigned")
        case c_ast.Constant(type=t):
            return "int" in t
        case c_ast.BinaryOp(op=op):
            return op in ("+", "-", "*")
        case _:
            return False
