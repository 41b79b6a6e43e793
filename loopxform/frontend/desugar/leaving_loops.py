"""Jumps out of loops leave the loops first.

    for (j = 0; j < m; j++) { if (c) goto next; S }     left = 0;
    T                                                   for (j = 0; j < m; j++) {
    next: ;                                        ->     if (c) { left = 1; break; } S
                                                        }
                                                        if (left) goto next;
                                                        T
                                                        next: ;

What is left is a jump within a list of statements, which `jumps` makes a guard of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.syntax.tree import clone, every, statements

Change = Callable[[list[c_ast.Node]], list[c_ast.Node]]


class Leaving(c_ast.Break):
    """A `break` that was written as a jump out of the loop."""

    __slots__ = ()


def out_of_loops(items: list[c_ast.Node], jump: Jump, fresh: Fresh) -> list[c_ast.Node]:
    """The statements with a `break` for each jump out of a loop among them, and the jump behind the
    loop; as they are where a `switch` or a label stands in between. What is given is not changed:
    the jumps that are left may not be guards, and then the loops stay what they were."""
    inside = [x for s in items for x in every(s)]
    loops = (x for x in inside if isinstance(x, LOOPS))
    odd = (x for x in inside if isinstance(x, c_ast.Switch | c_ast.Label))
    if not any(map(jump.held, loops)) or any(map(jump.held, odd)):
        return items
    return _outside([clone(s) for s in items], jump, fresh)


def _outside(items: list[c_ast.Node], jump: Jump, fresh: Fresh) -> list[c_ast.Node]:
    made: list[c_ast.Node] = []
    for s in items:
        if not jump.held(s):
            made.append(s)
        elif isinstance(s, LOOPS):
            left = fresh.name("left")
            made.append(build.local(left, build.integer(s), s, build.number(0, s)))
            goto = next(x for x in every(s) if jump.is_jump(x))
            made.append(_broken(s, jump, left))
            made.append(build.branch(build.name(left, s), build.block([goto], s), None, s))
        else:
            made.append(_with_bodies(s, lambda body: _outside(body, jump, fresh)))
    return made


def _broken(loop: c_ast.Node, jump: Jump, left: str) -> c_ast.Node:
    """A loop that is left by `break`, and says so in a flag."""

    def inside(items: list[c_ast.Node]) -> list[c_ast.Node]:
        made: list[c_ast.Node] = []
        for s in items:
            if jump.is_jump(s):
                made += [build.assignment(left, build.number(1, s), s), _leave(s)]
            elif isinstance(s, LOOPS) and jump.held(s):
                leave = build.block([_leave(s)], s)
                made.append(_broken(s, jump, left))
                made.append(build.branch(build.name(left, s), leave, None, s))
            else:
                made.append(_with_bodies(s, inside) if jump.held(s) else s)
        return made

    body = cast(Any, loop)
    body.stmt = build.block(inside(statements(body.stmt)), loop)
    return loop


def _leave(at: c_ast.Node) -> c_ast.Node:
    return cast(c_ast.Node, cast(Any, Leaving)(coord=at.coord))


def _with_bodies(s: c_ast.Node, change: Change) -> c_ast.Node:
    """A block or an `if` whose statements are changed."""
    match s:
        case c_ast.Compound():
            s.block_items = change(statements(s))
        case c_ast.If():
            s.iftrue = build.block(change(statements(s.iftrue)), s)
            s.iffalse = s.iffalse and build.block(change(statements(s.iffalse)), s)
        case _:
            pass
    return s
