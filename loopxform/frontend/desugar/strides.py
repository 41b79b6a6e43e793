"""Loops whose step is a variable count their iterations.

    for (i = lo; i < hi; i += s) S
    ->  for (it = 0; it < (s > 0 && lo < hi ? (hi - 1 - lo) / s + 1 : 0); it++) { i = lo + it*s; S }

Where the loop has an iteration and the step is not positive, the counter overflows in the end, or
the loop never ends, and C leaves open what happens (C11 6.5p5, 6.8.5p6): only loops without jumps
out of them are read so. The number of iterations must fit its type, so this is for questions about
the loop, which is not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared, mentioned
from loopxform.frontend.desugar.starts import Scope
from loopxform.frontend.syntax.tree import clone, every, statements
from loopxform.records import record

_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Label, c_ast.Return)
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_PLAIN = c_ast.ID | c_ast.Constant | c_ast.BinaryOp


@record
class _Stride:
    """`i += step` or `i -= step`, the way to the bound that the condition names, and the start."""

    name: str
    step: c_ast.Node
    up: bool
    op: str
    bound: c_ast.Node
    start: c_ast.Node
    own: bool


def counted_strides(loop: c_ast.For, scope: Scope) -> list[c_ast.Node] | None:
    """The statements that a loop with such a header becomes."""
    found = _stride(loop)
    if found is None or not _is_steady(loop, found, scope):
        return None
    at = loop
    count = scope.fresh.name("iteration")
    step, start = found.step, found.start
    trips = _trips(found)
    offset = build.binary("*", build.name(count, at), clone(step))
    value = build.binary("+" if found.up else "-", clone(start), offset)
    type = scope.types[found.name].type
    alone = found.own or found.name not in scope.outside
    first: c_ast.Node = build.assignment(found.name, value, at)
    if alone:
        first = build.local(found.name, type, at, value)
    head = build.declarations(build.local(count, type, at, build.number(0, at)))
    cond = build.binary("<", build.name(count, at), trips)
    body = build.block([first, *statements(loop.stmt)], loop.stmt)
    made = cast(Any, c_ast.For)(head, cond, build.step("++", count, at), body, coord=at.coord)
    if alone:
        return [made]
    end = build.binary("*", clone(trips), clone(step))
    last = build.binary("+" if found.up else "-", clone(start), end)
    return [made, build.assignment(found.name, last, at)]


def _stride(loop: c_ast.For) -> _Stride | None:
    match loop.next:
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name), rvalue=step):
            up = op == "+="
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=name),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=same), right=step),
        ) if same == name:
            up = op == "+"
        case _:
            return None
    match loop.init:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=first), rvalue=start):
            own = False
        case c_ast.DeclList(decls=[c_ast.Decl(name=first, init=start)]) if start is not None:
            own = True
        case _:
            return None
    match loop.cond:
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=side), right=bound) if side == name:
            pass
        case c_ast.BinaryOp(op=op, left=bound, right=c_ast.ID(name=side)) if side == name:
            op = _MIRROR.get(op, "")
        case _:
            return None
    if first != name or op not in (("<", "<=") if up else (">", ">=")):
        return None
    return _Stride(name, step, up, op, bound, start, own)


def _is_steady(loop: c_ast.For, found: _Stride, scope: Scope) -> bool:
    """Whether the step is a variable of the counter's type, and the header says the same in each
    iteration."""
    if found.name not in scope.private or any(isinstance(x, _JUMPS) for x in every(loop.stmt)):
        return False
    moving = changed(loop.stmt) | declared(loop.stmt)
    if found.name in moving:
        return False
    fixed = scope.private - moving - {found.name}
    steps = list(_variables(found.step))
    known = [scope.types.get(name) for name in (found.name, *steps)]
    if not steps or any(d is None or kind(d) != "signed" for d in known):
        return False
    types = {tuple(cast(Any, d).type.type.names) for d in known}
    plain = all(isinstance(x, _PLAIN) for n in (found.step, found.start) for x in every(n))
    constant = any("const" in d.quals and d.init is not None for d in known[1:] if d is not None)
    within = mentioned(found.step) | mentioned(found.start) <= fixed
    return len(types) == 1 and plain and within and not constant


def _variables(e: c_ast.Node) -> Iterator[str]:
    return (x.name for x in every(e) if isinstance(x, c_ast.ID))


def _trips(found: _Stride) -> c_ast.Node:
    """The number of iterations."""
    step, start, bound = found.step, found.start, found.bound
    low, high = (start, bound) if found.up else (bound, start)
    high = clone(high)
    if found.op in ("<", ">"):
        high = build.binary("-", high, build.number(1, high))
    distance = build.binary("-", high, clone(low))
    trips = build.binary("+", build.binary("/", distance, clone(step)), build.number(1, step))
    positive = build.binary(">", clone(step), build.number(0, step))
    runs = build.binary(found.op, clone(start), clone(bound))
    return build.choice(build.binary("&&", positive, runs), trips, build.number(0, step))
