"""Headers with commas: one variable counts the loop, the others are set and stepped apart.

for (i = 0, j = 9; i < n; i++, j--) S    ->  { j = 9; for (i = 0; i < n; i++) { S; j--; } }
for (i = 0, j = n; i < j; i++, j--) S    ->  ... i < (n + 1) / 2 ...     they meet in the middle
for (i = s = 0; i < n; s += a[i], i++) S ->  ... { S; s += a[i]; }       what stands before the step
for (i = 1, j = n - i; i < n; i++, j++) S  ->  { i = 1; j = n - i; for (i = 1; i < n; i++) ... }
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared, mentioned
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import clone, every, statements

_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), LOOPS)


def apart(loop: c_ast.For, types: Mapping[str, c_ast.Decl], private: frozenset[str]) -> c_ast.Node:
    """The loop with a header without commas, or as it is. `types` gives the declarations of
    variables, `private` those that only the text of the function changes."""
    loop.init = _unchained(loop.init)
    starts = _starts(loop.init)
    steps = list(loop.next.exprs) if isinstance(loop.next, c_ast.ExprList) else [loop.next]
    if starts is None or loop.cond is None or (len(starts) < 2 and len(steps) < 2):
        return loop
    names = [stepped(s) if s is not None else None for s in steps]
    main = next((n for n, x in enumerate(names) if x and x in mentioned(loop.cond)), None)
    if main is None or _CONTINUE.held(loop.stmt):
        return loop
    var = cast(str, names[main])
    if var not in private:
        return loop
    others = [s for n, s in enumerate(steps) if n != main]
    behind = steps[main + 1 :]
    if any(var in mentioned(s) for s in behind if s is not None):
        return loop
    first = next((s for s in starts if s[0] == var), None)
    between = starts[starts.index(first) + 1 :] if first is not None else []
    if first is not None and any(s[0] in mentioned(first[1]) for s in between):
        return loop
    again = first is not None and any(var in mentioned(s[1]) for s in between)
    if again and not all(_is_plain(s[1]) for s in starts):
        return loop
    cond = _met(loop, var, others, dict(starts), types, private)
    before = [s for s in starts if again or s is not first]
    return _rebuilt(loop, (first, before), (steps[main], others), cond)


def _is_plain(value: c_ast.Node) -> bool:
    """Whether a value may be computed again: of variables and numbers, without effects."""
    kinds = c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.TernaryOp
    return all(
        isinstance(n, kinds) or (isinstance(n, c_ast.UnaryOp) and n.op in ("-", "+", "!", "~"))
        for n in every(value)
    )


def _unchained(init: c_ast.Node | None) -> c_ast.Node | None:
    """A start without assignments in assignments: `i = 1, j = i` for `j = i = 1`."""
    items = [s for item in _items(init) for s in _chain(item)]
    if init is None or len(items) == len(_items(init)):
        return init
    return cast(c_ast.Node, cast(Any, c_ast.ExprList)(items, coord=init.coord))


def _chain(s: c_ast.Node) -> list[c_ast.Node]:
    match s:
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(), rvalue=c_ast.Assignment(op="=", lvalue=c_ast.ID()) as inner
        ):
            value = build.name(inner.lvalue.name, s)
            return [*_chain(inner), build.assignment(s.lvalue.name, value, s)]
        case _:
            return [s]


def _starts(init: c_ast.Node | None) -> list[tuple[str, c_ast.Node]] | None:
    """The variables that a header sets and to what, in order; None where it does anything else."""
    match init:
        case None:
            return []
        case c_ast.DeclList(decls=items) | c_ast.ExprList(exprs=items):
            pass
        case _:
            items = [init]
    out = []
    for s in items:
        match s:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                out.append((name, value))
            case c_ast.Decl(name=name, init=value) if value is not None and not s.storage:
                out.append((name, value))
            case _:
                return None
    return out


def _rebuilt(
    loop: c_ast.For,
    starts: tuple[tuple[str, c_ast.Node] | None, list[tuple[str, c_ast.Node]]],
    steps: tuple[c_ast.Node, list[c_ast.Node]],
    cond: c_ast.Node,
) -> c_ast.Node:
    first, before = starts
    kept = {id(s): s for s in _items(loop.init)}
    own = isinstance(loop.init, c_ast.DeclList)
    again = first in before
    settings = [s for s in kept.values() if again or not _is_of(s, first)]
    init = next((s for s in kept.values() if _is_of(s, first)), None)
    if again and first is not None:
        init = build.assignment(first[0], clone(first[1]), loop)
    elif own and init is not None:
        init = build.declarations(cast(c_ast.Decl, init))
    assert len(settings) == len(before)
    step, others = steps
    items = statements(loop.stmt)
    if any(declared(loop.stmt) & mentioned(s) for s in others):
        items = [build.block(items, loop.stmt)]
    body = build.block([*items, *others], loop.stmt)
    made = cast(Any, c_ast.For)(init, cond, step, body, coord=loop.coord)
    return build.block([*settings, cast(c_ast.Node, made)], loop) if settings else made


def _items(init: c_ast.Node | None) -> list[c_ast.Node]:
    match init:
        case None:
            return []
        case c_ast.DeclList(decls=items) | c_ast.ExprList(exprs=items):
            return list(items)
        case _:
            return [init]


def _is_of(s: c_ast.Node, start: tuple[str, c_ast.Node] | None) -> bool:
    value = s.init if isinstance(s, c_ast.Decl) else cast(Any, s).rvalue
    return start is not None and value is start[1]


def _met(
    loop: c_ast.For,
    var: str,
    others: list[c_ast.Node],
    starts: Mapping[str, c_ast.Node],
    types: Mapping[str, c_ast.Decl],
    private: frozenset[str],
) -> c_ast.Node:
    """The condition `i < j` of variables that run towards each other, in terms of where they
    start; else the condition as it is."""
    cond = loop.cond
    match cond:
        case c_ast.BinaryOp(
            op="<" | "<=" as op, left=c_ast.ID(name=low), right=c_ast.ID(name=high)
        ):
            pass
        case c_ast.BinaryOp(
            op=">" | ">=" as op, left=c_ast.ID(name=high), right=c_ast.ID(name=low)
        ):
            op = {">": "<", ">=": "<="}[op]
        case _:
            return cast(c_ast.Node, cond)
    down = any(_is_by_one(s, high, "--", "-=") for s in others)
    up = any(_is_by_one(s, low, "++", "+=") for s in _items(loop.next))
    kinds = {kind(types[n]) for n in (low, high) if n in types}
    signed = kinds == {"signed"} and {low, high} <= private & types.keys()
    start, end = starts.get(low), starts.get(high)
    if low != var or not (down and up and signed) or start is None or end is None:
        return cast(c_ast.Node, cond)
    moving = changed(loop.stmt) | {low, high}
    plain = c_ast.ID | c_ast.Constant | c_ast.BinaryOp
    steady = all(isinstance(n, plain) for n in every(end)) and not mentioned(end) & moving
    if not (isinstance(start, c_ast.Constant) and steady and mentioned(end) <= private):
        return cast(c_ast.Node, cond)
    more = int(str(start.value).rstrip("uUlL"), 0) + (1 if op == "<" else 2)
    total = build.binary("+", clone(end), build.number(more, end))
    return build.binary("<", build.name(low, cond), build.binary("/", total, build.number(2, end)))


def _is_by_one(s: c_ast.Node, name: str, step: str, op: str) -> bool:
    match s:
        case c_ast.UnaryOp(op=found, expr=c_ast.ID(name=x)):
            return bool(x == name) and found.removeprefix("p") == step
        case c_ast.Assignment(op=found, lvalue=c_ast.ID(name=x), rvalue=c_ast.Constant(value="1")):
            return bool(x == name and found == op)
        case _:
            return False
