"""A while loop that counts is a for loop: its start stands before it, its step at its end.

    i = 0; while (i < n) { S; i++; }   ->   for (i = 0; i < n; i++) { S }
    i = 0; for (; i < n; i++) { S }    ->   for (i = 0; i < n; i++) { S }

Whether the header really counts is asked of every `for` later on.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import Jump
from loopxform.frontend.desugar.names import declared, mentioned
from loopxform.frontend.tree import every, statements

_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), (c_ast.For, c_ast.While, c_ast.DoWhile))


class CountedWhile(c_ast.For):
    """A `for` that was written with `while`."""

    __slots__ = ()


def counted(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """`items` with the counting loops in it as for loops that hold their start."""
    out: list[c_ast.Node] = []
    for s in items:
        made = _loop(s)
        if made is None:
            out.append(s)
            continue
        name, loop = made
        found = _start(out, name)
        if found is None:
            out.append(s)
            continue
        n, loop.init = found
        start = out[n]
        if isinstance(start, c_ast.Decl):
            out[n] = build.without_value(start)
        else:
            del out[n]
        out.append(loop)
    return out


def _loop(s: c_ast.Node) -> tuple[str, c_ast.For] | None:
    """The variable and the for loop, without start, that `s` stands for."""
    match s:
        case c_ast.While(cond=cond):
            items = statements(s.stmt)
            name = stepped(items[-1]) if items else None
            body, step = items[:-1], items[-1] if items else None
        case c_ast.For(init=None, cond=cond, next=step) if step is not None:
            name, body = stepped(step), statements(s.stmt)
        case c_ast.For(init=None, cond=cond, next=None):
            items = statements(s.stmt)
            name = stepped(items[-1]) if items else None
            body, step = items[:-1], items[-1] if items else None
        case _:
            return None
    if name is None or cond is None or name not in mentioned(cond):
        return None
    own = s.next is not None if isinstance(s, c_ast.For) else False
    if not own and any(map(_CONTINUE.held, body)):
        return None
    if any(name in declared(x) for x in body):
        return None
    kind = c_ast.For if isinstance(s, c_ast.For) else CountedWhile
    made = cast(Any, kind)(None, cond, step, build.block(body, s), coord=s.coord)
    return name, cast(c_ast.For, made)


def stepped(s: c_ast.Node) -> str | None:
    """The variable that a statement steps: `i++`, `i += 2`, `i = i + 2`."""
    match s:
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--", expr=c_ast.ID(name=name)):
            return str(name)
        case c_ast.Assignment(op="+=" | "-=", lvalue=c_ast.ID(name=name)):
            return str(name)
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(op="+" | "-")
        ) if name in mentioned(s.rvalue):
            return str(name)
        case _:
            return None


def _start(before: list[c_ast.Node], name: str) -> tuple[int, c_ast.Assignment] | None:
    """The statement that gives `name` its start, as an index and an assignment. What stands
    between it and the loop must not care."""
    for n in range(len(before) - 1, -1, -1):
        s = before[n]
        near = n == len(before) - 1
        match s:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=found), rvalue=value) if (
                found == name
            ):
                return (n, s) if near or _is_constant(value) else None
            case c_ast.Decl(name=found, init=init) if found == name:
                if init is None or s.storage or not (near or _is_constant(init)):
                    return None
                return n, build.assignment(name, init, s)
        if any(isinstance(x, c_ast.Label | c_ast.Case | c_ast.Default) for x in every(s)):
            return None
        if name in mentioned(s) or name in declared(s):
            return None
    return None


def _is_constant(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        return _is_constant(node.expr)
    return isinstance(node, c_ast.Constant)
