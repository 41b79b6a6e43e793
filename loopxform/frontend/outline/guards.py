"""Conditions under which a function comes to a loop.

    if (n > 1) return;                the loop runs where !(n > 1)
    if (m == 2)
      for (i = 0; i < n; i++) S       and where m == 2

Only those that the text says in one place: branches around the loop, and branches before it, in the
blocks around it, that leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import clone, every

_Guard: TypeAlias = tuple[c_ast.Node, bool]
"""A condition, and whether it holds."""

_LEAVING = c_ast.Return | c_ast.Goto | c_ast.Break | c_ast.Continue
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)
_PLAIN = c_ast.ID | c_ast.Constant | c_ast.BinaryOp
_DATA = (c_ast.ArrayRef, c_ast.FuncCall, c_ast.UnaryOp)


class Guards:
    """The conditions for a loop to run that ask for what it uses."""

    def __init__(self, body: c_ast.Node, loop: c_ast.Node, variables: Variables) -> None:
        self.variables = variables
        self._certain = not any(isinstance(x, _JUMPS) for x in every(body))
        self._named = {d.name: d for d in variables.used([loop])}
        found = [g for g in _guards(body, loop, variables) if self._is_about_it(g[0])]
        self.kept = [g for g in found if self._is_plain(g[0])]
        self.odd = [cond for cond, _ in found if not self._is_plain(cond)]

    def around(self, loop: c_ast.Node) -> c_ast.Node:
        """A loop, under those conditions that say the same in a function of its own."""
        for cond, holds in self.kept:
            asked = clone(cond) if holds else build.negated(clone(cond))
            loop = build.branch(asked, loop, None, loop)
        return loop

    def used(self) -> list[c_ast.Decl]:
        """The variables that these ask for."""
        return self.variables.used([cond for cond, _ in self.kept])

    def doubtful(self) -> Iterator[str]:
        """The variables, and the members of structs as `.n`, that others limit. What is compared
        with data may have any value, for some of these."""
        for cond in self.odd:
            members = (x for x in every(cond) if isinstance(x, c_ast.StructRef))
            yield from (f".{x.field.name}" for x in members)
            if not any(isinstance(x, _DATA) for x in every(cond)):
                yield from (d.name for d in self.variables.used([cond]))

    def _is_about_it(self, cond: c_ast.Node) -> bool:
        return any(self._named.get(d.name) is d for d in self.variables.used([cond]))

    def _is_plain(self, cond: c_ast.Node) -> bool:
        """Whether a condition asks for numbers that the caller gave, and there is but one way to
        the loop."""
        plain = all(isinstance(x, _PLAIN) for x in every(cond))
        return self._certain and plain and all(map(self._is_given, self.variables.used([cond])))

    def _is_given(self, d: c_ast.Decl) -> bool:
        v = self.variables
        given = id(d) in v.params and v.kind(d) == "number" and self._named.get(d.name, d) is d
        return given and not v.sets[id(d)] and not v.escaping[id(d)]


def _guards(body: c_ast.Node, loop: c_ast.Node, variables: Variables) -> Iterator[_Guard]:
    """What holds where the loop in a function's body begins, condition by condition. Of a `switch`
    its value, which is one of several."""
    way = [loop]
    while way[-1] is not body:
        outer = variables.liveness.around(way[-1])
        if outer is None:
            return
        way.append(outer)
    for node, child in zip(way[:0:-1], way[-2::-1]):
        match node:
            case c_ast.If(cond=cond) if child is not cond:
                yield from _parts(cond, child is node.iftrue)
            case c_ast.Switch(cond=cond):
                yield cond, True
            case c_ast.Compound():
                yield from _before(node, child)


def _before(block: c_ast.Compound, end: c_ast.Node) -> Iterator[_Guard]:
    for s in block.block_items or ():
        if s is end:
            return
        if isinstance(s, c_ast.If) and _leaves(s.iftrue) != _leaves(s.iffalse):
            yield from _parts(s.cond, _leaves(s.iffalse))


def _leaves(s: c_ast.Node | None) -> bool:
    last = s.block_items[-1] if isinstance(s, c_ast.Compound) and s.block_items else s
    return isinstance(last, _LEAVING)


def _parts(cond: c_ast.Node, holds: bool) -> Iterator[_Guard]:
    match cond:
        case c_ast.UnaryOp(op="!"):
            yield from _parts(cond.expr, not holds)
        case c_ast.BinaryOp(op="&&" | "||" as op) if (op == "&&") == holds:
            yield from _parts(cond.left, holds)
            yield from _parts(cond.right, holds)
        case _:
            yield cond, holds
