"""The loops that certainly have run before consecutive statements."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.outline.first_values import JUMPS, in_front
from loopxform.frontend.outline.original import Original
from loopxform.frontend.outline.regions import Part, Region
from loopxform.frontend.syntax.tree import every
from loopxform.ir.nodes import Function


def loops_in_front(original: Original, r: Region) -> Iterator[tuple[Function, frozenset[str]]]:
    """The loops in front of a region in its block, as functions of their own, each with the names
    of the variables that nothing has set since it began."""
    nodes = list(every(r.owner.node.body))
    if any(isinstance(x, JUMPS) for x in nodes):
        return
    for loop in in_front(r.nodes[0], nodes):
        returns = any(isinstance(x, c_ast.Return) for x in every(loop))
        if not isinstance(loop, c_ast.For) or returns:
            continue
        (part,) = original.lower([Region(f"{r.name}_before", r.owner, (loop,), 0, 0)]).values()
        if isinstance(part, Part):
            yield part.function, original.variables(r.owner).kept_between(loop, r.nodes[0])
