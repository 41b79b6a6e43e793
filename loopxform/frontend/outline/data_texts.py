"""Where data directives and what they govern stand in the text of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pycparser import c_ast

from loopxform.errors import InputError, LoopxformError
from loopxform.frontend.outline.blocks import Block, Item
from loopxform.frontend.pragmas.data_regions import Placed, is_directive
from loopxform.records import record


@record
class DataText:
    """A data directive: text[start:end] is the pragma, with what it governs (`nodes`). It is in the
    function whose definition begins at `begin`, and ends at `last`."""

    placed: Placed
    nodes: tuple[c_ast.Node, ...]
    start: int
    end: int
    begin: int
    last: int


def data_texts(
    found: Sequence[Placed],
    definitions: Iterable[tuple[int, int, Block]],
    unlike: Callable[[str], LoopxformError],
) -> tuple[DataText, ...]:
    """The directives, those inside of others in front of these; `definitions` are where functions
    begin and end, and their bodies. Raises InputError for one whose place in the text is not
    known."""
    by_pragma = {id(p.pragma): p for p in found}
    out: list[DataText] = []
    for begin, last, body in definitions:
        for item, pragma in _items(body):
            placed = by_pragma.pop(id(pragma), None)
            if placed is not None:
                out.append(DataText(placed, item.nodes, item.start, item.end, begin, last))
    for p in by_pragma.values():
        why = unlike(p.function.decl.name)
        raise InputError(
            f"this data directive cannot be written as calls: {why.message}",
            loc=p.loc,
            code="LX257",
            help=why.help or "",
        )
    return tuple(out)


def _items(block: Block) -> Iterator[tuple[Item, c_ast.Pragma]]:
    """The statements that data directives stand in front of, and these, the inner ones first."""
    for item in block.items:
        for body in item.bodies:
            yield from _items(body)
        pragma = next((n for n in item.nodes if is_directive(n)), None)
        if pragma is not None:
            yield item, pragma


def innermost(block: Block, at: int, is_free: Callable[[int], bool]) -> int | None:
    """The beginning of the innermost statement at a place, of those whose own place `is_free`."""
    for item in block.items:
        if item.start <= at < item.end:
            inner = (innermost(b, at, is_free) for b in item.bodies)
            own = item.start if is_free(item.start) else None
            return next((x for x in inner if x is not None), own)
    return None
