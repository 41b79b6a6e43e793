"""Loops whose body steps their counter in several places step it once, at the end.

    while (p < n) { r = a[p]; p++; g = a[p]; p++; S }
    ->  while (p < n) { r = a[p]; g = a[p + 1]; S; p += 2; }

Each iteration makes all of these steps, as they are statements of the body itself: what stands
behind some of them reads the counter as it is then. They are constants.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.early_steps import Instead, leaves, measures
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared, mentioned
from loopxform.frontend.desugar.starts import Scope
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import statements

_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), LOOPS)


def stepped_once(s: c_ast.Node, scope: Scope) -> None:
    """Has a loop step each number or pointer that it asks for once, in place."""
    if not isinstance(s, LOOPS):
        return
    loop = cast(Any, s)
    if loop.cond is None or not any(map(stepped, statements(loop.stmt))):
        return
    if any(map(_CONTINUE.held, statements(loop.stmt))):
        return
    for name in sorted(mentioned(loop.cond) & scope.private & scope.types.keys()):
        if kind(scope.types[name]) != "other":
            _step_once(loop, name, scope)


def _step_once(loop: Any, name: str, scope: Scope) -> None:
    """Does so with one of them, where it steps it by constants, and nothing else may change it."""
    items = statements(loop.stmt)
    steps = {n: _amount(s) for n, s in enumerate(items) if stepped(s) == name}
    next: c_ast.Node | None = getattr(loop, "next", None)
    in_header = next is not None and stepped(next) == name
    last = _amount(next) if next is not None and in_header else 0
    behind = items[min(steps) + 1 :] if steps else []
    if None in steps.values() or last is None or not (behind or in_header):
        return
    others = [s for n, s in enumerate(items) if n not in steps]
    if any(name in changed(s) | declared(s) or measures(s, name) for s in others):
        return
    is_read = any(name in mentioned(s) for s in behind)
    if not (is_read or (steps and in_header)) or (name in scope.outside and leaves(behind)):
        return
    by = last + sum(n or 0 for n in steps.values())
    if not by:
        return
    made, total = list[c_ast.Node](), 0
    for n, s in enumerate(items):
        if n in steps:
            total += steps[n] or 0
        else:
            made.append(Instead(name, _moved(name, total, s)).visit(s) if total else s)
    step = _step(name, by, loop)
    if in_header:
        loop.next = step
    else:
        made.append(step)
    loop.stmt = build.block(made, loop.stmt)


def _amount(s: c_ast.Node) -> int | None:
    """By how much a statement steps a variable, where that is a number of type int."""
    match s:
        case c_ast.UnaryOp(op=op):
            return 1 if "+" in op else -1
        case c_ast.Assignment(op="+=" | "-=" as op, rvalue=value):
            sign = op[0]
        case c_ast.Assignment(rvalue=c_ast.BinaryOp(op=sign, left=c_ast.ID(), right=value)):
            pass
        case _:
            return None
    plain = isinstance(value, c_ast.Constant) and value.type == "int" and value.value.isdecimal()
    if not plain or value.value.startswith("0") or len(value.value) > _DIGITS:
        return None
    return int(value.value) if sign == "+" else -int(value.value)


_DIGITS = 4


def _moved(name: str, by: int, at: c_ast.Node) -> c_ast.Node:
    """The counter after some of its steps."""
    return build.binary("-" if by < 0 else "+", build.name(name, at), build.number(abs(by), at))


def _step(name: str, by: int, at: c_ast.Node) -> c_ast.Node:
    if abs(by) == 1:
        return build.step("+" * 2 if by > 0 else "-" * 2, name, at)
    made = build.assignment(name, build.number(abs(by), at), at)
    made.op = "+=" if by > 0 else "-="
    return made
