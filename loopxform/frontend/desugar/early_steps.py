"""Loops that step their counter before they use it.

    while (--i >= 0) S           ->  for (i = i_start - 1; i >= 0; i--) S
    for (i = n; --i >= 0;) S     ->  for (i = n - 1; i >= 0; i--) S
    while (i++ < n) S            ->  for (i = i_start + 1; i <= n; i++) S
    while (++i < n) S            ->  for (i = i_start + 1; i < n; i++) S
    while (--n) S                ->  for (n = n_start - 1; n != 0; n--) S
    while (i > 0) { --i; S }     ->  for (; i > 0; i--) S     with i - 1 for i in S
    while (i < n) { i++; S }     ->  for (; i < n; i++) S     with i + 1 for i in S

Unsigned variables have the third form alone: there they stay above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.counted import CountedWhile
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared, mentioned
from loopxform.frontend.desugar.starts import Scope, own_start, take_start
from loopxform.frontend.syntax.tree import clone, every, replace_children, statements

_LEAVE = Jump(lambda n: isinstance(n, c_ast.Break), (*LOOPS, c_ast.Switch))
_DOWN = {"--": True, "p--": True, "++": False, "p++": False}
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def stepped_in_condition(
    s: c_ast.Node, before: list[c_ast.Node], scope: Scope
) -> list[c_ast.Node] | None:
    """The statements that a loop becomes whose condition steps its counter first."""
    head = cast(Any, s)
    match head.cond if _has_no_step(s) else None:
        case c_ast.BinaryOp(
            op="<" | "<=" | ">" | ">=" as op,
            left=c_ast.UnaryOp(op="++" | "--" as step, expr=c_ast.ID(name=name)),
            right=bound,
        ):
            toward = (step == "--") == (op[0] == ">")
        case c_ast.BinaryOp(
            op="<" | ">" as op,
            left=c_ast.UnaryOp(op="p++" | "p--" as step, expr=c_ast.ID(name=name)),
            right=bound,
        ):
            step, toward, op = step[1:], (step == "p--") == (op == ">"), f"{op}="
        case c_ast.UnaryOp(op="--" as step, expr=c_ast.ID(name=name)):
            op, bound, toward = "!=", build.number(0, s), True
        case _:
            return None
    known = scope.types.get(name)
    if known is None or name not in scope.private or name in mentioned(bound):
        return None
    if kind(known) != "signed" or not toward:
        return None
    if name in declared(head.stmt) or name in changed(head.stmt):
        return None
    first, own = own_start(s, name)
    if first is None and getattr(s, "init", None) is not None:
        return None
    start = first or take_start(before, name, scope)
    made, value = list[c_ast.Node](), None if start is None else start.rvalue
    if value is None:
        kept = scope.fresh.name(f"{name}_start")
        made.append(build.local(kept, known.type, s, build.name(name, s)))
        value = build.name(kept, s)
    less = build.binary(step[0], value, build.number(1, s))
    init: c_ast.Node = build.assignment(name, less, s)
    if own:
        init = build.declarations(build.local(name, known.type, s, less))
    cond = build.binary(op, build.name(name, s), bound)
    return [*made, _for(s, init, cond, build.step(step, name, s), head.stmt)]


def stepped_at_the_start(s: c_ast.Node, scope: Scope) -> c_ast.Node | None:
    """The loop without start that a loop stands for whose body steps its counter first."""
    head = cast(Any, s)
    items = statements(head.stmt) if _has_no_step(s) else []
    compared = _compared(head.cond) if items else None
    if compared is None:
        return None
    name, down, cond = compared
    known = scope.types.get(name)
    if known is None or not _is_step(items[0], name, down=down) or name not in scope.private:
        return None
    sign = kind(known)
    if sign == "unsigned" and down:
        cond = build.binary(">", build.name(name, s), build.number(0, s))
    elif sign != "signed":
        return None
    rest = items[1:]
    if any(name in changed(x) | declared(x) or measures(x, name) for x in rest):
        return None
    if name in scope.outside and leaves(rest):
        return None
    by, one = "-" if down else "+", build.number(1, s)
    body = [Instead(name, build.binary(by, build.name(name, s), one)).visit(x) for x in rest]
    return _for(
        s, getattr(s, "init", None), cond, build.step(by * 2, name, s), build.block(body, s)
    )


def _has_no_step(s: c_ast.Node) -> bool:
    return isinstance(s, c_ast.While) or (
        isinstance(s, c_ast.For) and s.next is None and s.cond is not None
    )


def _compared(cond: c_ast.Node) -> tuple[str, bool, c_ast.Node] | None:
    """The variable of a condition that bounds it, whether from below, and the condition as an
    order: `i` and `i != 0` are `i > 0` where it counts down."""
    match cond:
        case c_ast.ID(name=name):
            zero = build.number(0, cond)
            return name, True, build.binary("!=", build.name(name, cond), zero)
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=name), right=bound) if op in _MIRROR:
            pass
        case c_ast.BinaryOp(op=mirrored, left=bound, right=c_ast.ID(name=name)) if (
            mirrored in _MIRROR
        ):
            op = _MIRROR[mirrored]
        case _:
            return None
    if name in mentioned(bound):
        return None
    if op in (">", "!="):
        return (name, True, cond) if getattr(bound, "value", "") == "0" else None
    return (name, False, cond) if op == "<" else None


def _is_step(s: c_ast.Node, name: str, *, down: bool) -> bool:
    match s:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=stepped)):
            return stepped == name and _DOWN.get(op) is down
        case c_ast.Assignment(
            op="+=" | "-=" as op,
            lvalue=c_ast.ID(name=stepped),
            rvalue=c_ast.Constant(value="1"),
        ):
            return stepped == name and (op == "-=") is down
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=stepped),
            rvalue=c_ast.BinaryOp(
                op="+" | "-" as op, left=c_ast.ID(name=left), right=c_ast.Constant(value="1")
            ),
        ):
            return stepped == left == name and (op == "-") is down
        case _:
            return False


def measures(node: c_ast.Node, name: str) -> bool:
    """Whether the type of a variable matters: `sizeof i`."""
    return any(
        isinstance(x, c_ast.UnaryOp) and x.op == "sizeof" and name in mentioned(x)
        for x in every(node)
    )


def leaves(items: Sequence[c_ast.Node]) -> bool:
    """Whether statements may leave the loop they are the body of, its counter on its way."""
    odd = (c_ast.Goto, c_ast.Label)
    return any(_LEAVE.held(s) or any(isinstance(x, odd) for x in every(s)) for s in items)


class Instead:
    """Puts an expression in the place of a variable."""

    def __init__(self, name: str, value: c_ast.Node) -> None:
        self.name, self.value = name, value

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        if isinstance(n, c_ast.ID):
            return clone(self.value) if n.name == self.name else n
        if isinstance(n, c_ast.StructRef):
            n.name = self.visit(n.name)
            return n
        replace_children(n, self.visit)
        return n


def _for(
    s: c_ast.Node, init: c_ast.Node | None, cond: c_ast.Node, step: c_ast.Node, body: c_ast.Node
) -> c_ast.Node:
    made = CountedWhile if isinstance(s, c_ast.While) else c_ast.For
    return cast(c_ast.Node, cast(Any, made)(init, cond, step, body, coord=s.coord))
