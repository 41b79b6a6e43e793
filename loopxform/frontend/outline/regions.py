"""What a file consists of, for splices: its functions, and consecutive statements of these."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.outline.blocks import Block, Nodes
from loopxform.frontend.outline.returning import Returning
from loopxform.frontend.outline.wrappings import Wrapping
from loopxform.ir.annotations import Annotation
from loopxform.ir.nodes import Function
from loopxform.records import record


@record
class Definition:
    """A function of the file: text[begin:end] is its definition."""

    name: str
    node: c_ast.FuncDef
    begin: int
    end: int
    body: Block


@record
class Part:
    """Statements as a function, and the annotations in it."""

    function: Function
    annotations: tuple[Annotation, ...] = ()


@record
class Region:
    """Consecutive statements of a function: text[start:end]. A region that is `whole` is all that
    the function does; `arguments` are those of the function `name` that stands for it. Of a loop
    that `returns`, that is the search; behind it the host runs the lines `resumed`. `sizes` are
    numbers of its owner that say how long its arrays are, and are passed besides."""

    name: str
    owner: Definition
    nodes: Nodes
    start: int
    end: int
    whole: bool = False
    arguments: tuple[str, ...] = ()
    returns: Returning | None = None
    resumed: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()

    @property
    def wrapping(self) -> Wrapping:
        """How the statements stand in the text that is written."""
        if self.returns is None:
            return Wrapping(self.nodes, self.arguments)
        return Wrapping(self.nodes, self.arguments, self.returns.declared, self.returns.resumed)
