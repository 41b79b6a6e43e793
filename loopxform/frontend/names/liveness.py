"""What becomes of a variable from some place on: whether its value may be read before it is set.

`NONE` is what may always be said of statements as long as all that can run after them is looked at
too; `SET` says that no way leads past without setting the variable.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum

from pycparser import c_ast

from loopxform.frontend.syntax.tree import below, every

Means = Callable[[c_ast.Node], bool]
"""Whether a node is the name of the variable, or the member of a struct that is meant."""


class Use(Enum):
    NONE = 0
    READ = 1
    SET = 2


class Liveness:
    """Of the variables of one function. `variable` gives what stands for the variable that a node
    names, None for nodes that name none."""

    def __init__(self, body: c_ast.Node, variable: Callable[[c_ast.Node], Hashable | None]) -> None:
        self.body = body
        self._around: dict[int, list[c_ast.Node]] = defaultdict(list)
        self._names: dict[Hashable, list[c_ast.Node]] = defaultdict(list)
        self._in_text_order = True
        leaving: list[c_ast.Node] = []
        for x in every(body):
            for child in below(x):
                self._around[id(child)].append(x)
            if isinstance(x, c_ast.Goto | c_ast.Switch | c_ast.Label):
                self._in_text_order = False
            if isinstance(x, c_ast.Break | c_ast.Continue):
                leaving.append(x)
            if (named := variable(x)) is not None:
                self._names[named].append(x)
        self._leaving = self._holding(leaving)

    def after(self, region: Sequence[c_ast.Node], variable: Hashable) -> bool:
        """Whether a variable may be read after `region`, consecutive statements somewhere in the
        body, before it is set again."""
        names = self._names.get(variable, [])
        if not self._in_text_order:
            inside = {id(x) for n in region for x in every(n)}
            return any(id(x) not in inside for x in names)
        meant = set(map(id, names))
        order = _Order(lambda x: id(x) in meant, self._leaving, self._holding(names))
        node, use = region[0], Use.NONE
        while node is not self.body:
            outer = self.around(node)
            if outer is None:
                return False
            use = order.on(outer, node, use, region)
            node = outer
        return use is Use.READ

    def first(self, statements: Sequence[c_ast.Node], variable: Hashable) -> Use:
        """What happens to a variable first in statements of the body, one after the other."""
        names = self._names.get(variable, [])
        meant, touching = set(map(id, names)), self._holding(names)
        order = _Order(lambda x: id(x) in meant, self._leaving, touching)
        return order.sequence(
            [x for x in statements if id(x) in touching or id(x) in self._leaving]
        )

    def around(self, node: c_ast.Node) -> c_ast.Node | None:
        """What a node is directly in; None for the body, and what is not in it."""
        return next(iter(self._around.get(id(node), ())), None)

    def _holding(self, nodes: Iterable[c_ast.Node]) -> set[int]:
        """The nodes that are or hold one of these, by identity."""
        found = set[int]()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if id(node) not in found:
                found.add(id(node))
                waiting += self._around.get(id(node), ())
        return found


def first(node: c_ast.Node | None, means: Means) -> Use:
    """What a statement or an expression does first."""
    return _Order(means).first(node)


def sequence(nodes: Iterable[c_ast.Node | None], means: Means, last: Use = Use.NONE) -> Use:
    """What statements do first, one after the other, and `last` at the end."""
    return _Order(means).sequence(nodes, last)


class _Order:
    """What happens to one variable in the order of execution. `leaving` are the nodes that hold a
    jump, `touching` those that name the variable, where that was gathered before."""

    def __init__(
        self, means: Means, leaving: set[int] | None = None, touching: set[int] | None = None
    ) -> None:
        self.means, self.leaving, self.touching = means, leaving, touching

    def first(self, node: c_ast.Node | None) -> Use:
        if node is None or (self.touching is not None and id(node) not in self.touching):
            return Use.NONE
        match node:
            case c_ast.ID() | c_ast.StructRef() if self.means(node):
                return Use.READ
            case c_ast.Assignment(op="=", lvalue=target) if self.means(target):
                return _or(self.first(node.rvalue), Use.SET)
            case c_ast.Compound() | c_ast.DeclList() | c_ast.ExprList():
                return self.sequence(below(node))
            case c_ast.If() | c_ast.TernaryOp():
                return _or(self.first(node.cond), self._either(node.iftrue, node.iffalse))
            case c_ast.BinaryOp(op="&&" | "||"):
                return _or(self.first(node.left), _perhaps(self.first(node.right)))
            case c_ast.For():
                return self.sequence((node.init, node.cond), _perhaps(self._round(node)))
            case c_ast.While():
                return _or(self.first(node.cond), _perhaps(self._round(node)))
            case c_ast.DoWhile():
                return self.sequence((node.stmt, node.cond))
            case c_ast.StructRef():
                return self.first(node.name)
            case c_ast.Switch() | c_ast.Label() | c_ast.Goto():
                return Use.READ if any(map(self.means, every(node))) else Use.NONE
            case _:
                found = [self.first(x) for x in below(node)]
                return next((u for u in (Use.READ, Use.SET) if u in found), Use.NONE)

    def sequence(self, nodes: Iterable[c_ast.Node | None], last: Use = Use.NONE) -> Use:
        certain = True
        for n in nodes:
            use = self.first(n)
            if use is Use.READ or (use is Use.SET and certain):
                return use
            certain = certain and not self._jumps(n)
        return last if certain else _perhaps(last)

    def _round(self, loop: c_ast.For | c_ast.While) -> Use:
        """One iteration of a loop, from its body to its condition."""
        following = (loop.next,) if isinstance(loop, c_ast.For) else ()
        return self.sequence((loop.stmt, *following, loop.cond))

    def _either(self, then: c_ast.Node | None, orelse: c_ast.Node | None) -> Use:
        uses = {self.first(then), self.first(orelse)}
        return Use.READ if Use.READ in uses else uses.pop() if len(uses) == 1 else Use.NONE

    def _jumps(self, node: c_ast.Node | None) -> bool:
        """Whether a statement may be left for somewhere else than what follows it."""
        if self.leaving is not None:
            return id(node) in self.leaving
        return any(isinstance(x, c_ast.Break | c_ast.Continue) for x in every(node))

    # ------------------------------------------------------------ what follows a region

    def on(
        self, node: c_ast.Node, child: c_ast.Node, use: Use, region: Sequence[c_ast.Node]
    ) -> Use:
        """What happens first after the region up to the end of `node`, where `use` is what does up
        to the end of the part that holds the region."""
        if use is Use.READ:
            return use
        match node:
            case c_ast.Compound():
                rest = itertools.dropwhile(lambda x: x is not child, below(node))
                inside = {id(child), *map(id, region)}
                following = [x for x in rest if id(x) not in inside]
                after = self.sequence(following)
                return _or(use, _perhaps(after) if self._jumps(child) else after)
            case c_ast.For() | c_ast.While():
                again = self._round(node)
                head = (node.next, node.cond) if isinstance(node, c_ast.For) else (node.cond,)
                back = self.sequence(head, _perhaps(again))
                return _or(_perhaps(use) if self._jumps(child) else use, back)
            case c_ast.DoWhile():
                back = _or(self.first(node.cond), _perhaps(self.first(node.stmt)))
                return _or(_perhaps(use) if self._jumps(child) else use, back)
            case _:
                return use


def _or(use: Use, following: Use) -> Use:
    return following if use is Use.NONE else use


def _perhaps(use: Use) -> Use:
    """Of what may not run."""
    return Use.NONE if use is Use.SET else use
