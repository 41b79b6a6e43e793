"""What is known of a function whose reading takes longer than the limits allow: where its loops
stand."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.budget import Exhausted
from loopxform.frontend.lower.counters import counts
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below
from loopxform.ir.nodes import Function, Opaque, Stmt
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

    def unknown(self, node: c_ast.FuncDef, why: Exhausted, places: Places) -> Function | None:
        """The function with each of its loops unknown; None where there is none, or a pragma that
        is about statements."""
        if not self.loops or self.pragmas:
            return None
        body = tuple(_opaque(loop, why, places) for loop in self.loops)
        return Function(node.decl.name, (), body, origin=places.origin(node.decl))


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
