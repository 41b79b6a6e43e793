"""The loops of a function as the user wrote them: where each is, and how much it may do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pycparser import c_ast

from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below, every, runs_once
from loopxform.records import record
from loopxform.source import Loc

_LOOPS = c_ast.For | c_ast.While | c_ast.DoWhile

MANY = 1000
"""Iterations of a loop whose text does not tell how many there are."""


@record
class Loop:
    """A loop of the function `owner`, from `loc` to the line `last`. `levels` are the loops around
    each other there, itself, those around it and those in it; `work` is how often what is innermost
    runs, at a guess. `node` is the identity of its node."""

    owner: str
    loc: Loc | None
    last: int
    levels: int
    work: int
    node: int
    inside: frozenset[int]

    def is_around(self, other: Loop) -> bool:
        return other.node in self.inside

    def holds(self, loc: Loc) -> bool:
        """Whether a place is in it."""
        at = self.loc
        return at is not None and loc.file == at.file and at.line <= loc.line <= self.last


def is_loop(node: c_ast.Node) -> bool:
    """Whether it is a loop, and not `do ... while (0)`."""
    return isinstance(node, _LOOPS) and not runs_once(node)


def loops(function: c_ast.FuncDef, places: Places) -> tuple[Loop, ...]:
    """Those of a function, in text order."""
    return tuple(_loops(function.body, function.decl.name, places, 0, 1))


def _loops(node: c_ast.Node, owner: str, places: Places, above: int, work: int) -> Iterator[Loop]:
    if is_loop(node):
        above, work = above + 1, work * _iterations(node)
        inner, times = _inside(node)
        lines = (x.coord.line for x in every(node) if x.coord is not None)
        last = max(lines, default=0)
        within = frozenset(id(x) for x in every(node) if is_loop(x) and x is not node)
        yield Loop(owner, places.node(node), last, above + inner, work * times, id(node), within)
    for child in below(node):
        yield from _loops(child, owner, places, above, work)


def _inside(node: c_ast.Node) -> tuple[int, int]:
    """The loops around each other inside a node, and how often the innermost of them iterates."""
    inner = [(0, 1)]
    for child in below(node):
        levels, work = _inside(child)
        one = is_loop(child)
        inner.append((levels + one, work * (_iterations(child) if one else 1)))
    return max(x for x, _ in inner), max(x for _, x in inner)


def _iterations(loop: c_ast.Node) -> int:
    """How many iterations there are, or `MANY`."""
    match loop:
        case c_ast.For(
            init=c_ast.Assignment(rvalue=first) | c_ast.DeclList(decls=[c_ast.Decl(init=first)]),
            cond=c_ast.BinaryOp(op="<" | "<=" | ">" | ">=" | "!=", right=end),
        ):
            low, high = number(first), number(end)
            if low is not None and high is not None:
                return max(1, abs(high - low))
    return MANY


def number(node: c_ast.Node | None) -> int | None:
    """The value of a constant expression, where it is plain."""
    match node:
        case c_ast.Constant(value=text):
            try:
                return int(cast(str, text).rstrip("uUlL"), 0)
            except ValueError:
                return None
        case c_ast.UnaryOp(op="-", expr=inner):
            value = number(inner)
            return None if value is None else -value
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" as op, left=left, right=right):
            a, b = number(left), number(right)
            if a is None or b is None or (op == "/" and (a < 0 or b <= 0)):
                return None
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // (b or 1)}[op]
        case _:
            return None
