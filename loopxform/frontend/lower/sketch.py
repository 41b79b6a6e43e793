"""What is known of a function whose reading takes longer than the limits allow: where its loops
stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from loopxform.budget import Exhausted
from loopxform.frontend.lower.counters import counts
from loopxform.frontend.names.iterated import place
from loopxform.frontend.names.sequential import Obstacle
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below
from loopxform.ir.nodes import Function, Opaque, Stmt
from loopxform.ir.sequential import Sequential
from loopxform.records import record

_HOLDERS = (
    *(c_ast.Compound, c_ast.If, c_ast.For, c_ast.While, c_ast.DoWhile),
    *(c_ast.Switch, c_ast.Case, c_ast.Default, c_ast.Label),
)
"""Statements that may hold others."""


@record
class Loop:
    """A `for` as it is written, and those inside it."""

    node: c_ast.For
    var: str
    inner: tuple[Loop, ...]


@record
class Sketch:
    """The loops and the pragmas of a function, before the tree is changed."""

    loops: tuple[Loop, ...]
    pragmas: tuple[c_ast.Pragma, ...]

    @classmethod
    def of(cls, node: c_ast.FuncDef) -> Sketch:
        pragmas: list[c_ast.Pragma] = []
        return cls(tuple(_loops(node.body, pragmas)), tuple(pragmas))

    def unknown(
        self,
        node: c_ast.FuncDef,
        why: Exhausted,
        places: Places,
        obstacles: Mapping[str, Obstacle],
    ) -> Function | None:
        """The function with each of its loops unknown, but for `obstacles` that keep iterations in
        order; None where there is no loop, or a pragma that is about statements."""
        if not self.loops or self.pragmas:
            return None
        body = tuple(_opaque(loop, why, places) for loop in self.loops)
        found = (in_order(x, obstacles, places) for loop in self.loops for x in _every(loop))
        return Function(
            node.decl.name,
            (),
            body,
            sequential=tuple(s for s in found if s is not None),
            origin=places.origin(node.decl),
        )


def in_order(
    loop: c_ast.Node, obstacles: Mapping[str, Obstacle], places: Places
) -> Sequential | None:
    """What keeps the iterations of a loop of this function in order."""
    obstacle, origin = obstacles.get(place(loop)), places.origin(loop)
    if obstacle is None or origin.loc is None or origin.steps:
        return None
    loc = places.node(obstacle.node)
    message = obstacle.message.format(line=loc.line if loc else "?")
    return Sequential(origin.loc, message, loc, obstacle.induction)


def _every(loop: Loop) -> Iterator[c_ast.Node]:
    yield loop.node
    for inner in loop.inner:
        yield from _every(inner)


def _loops(node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> Iterator[Loop]:
    """The outermost loops in a statement; nothing is spent, for the budget may be used up."""
    for child in below(node):
        match child:
            case c_ast.Pragma():
                pragmas.append(child)
            case c_ast.For():
                yield Loop(child, counts(child), tuple(_loops(child, pragmas)))
            case _ if isinstance(child, _HOLDERS):
                yield from _loops(child, pragmas)


def _opaque(loop: Loop, why: Exhausted, places: Places) -> Stmt:
    origin = places.origin(loop.node)
    return Opaque(
        why.code,
        f"{why.message}; {why.help}",
        body=tuple(_opaque(x, why, places) for x in loop.inner),
        loop=True,
        text=places.text(origin.loc),
        var=loop.var,
        origin=origin,
    )
