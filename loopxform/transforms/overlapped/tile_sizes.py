"""The sizes of a tile as steps have them: whether they are numbers, and whether the tile stores
anything."""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For
from loopxform.source import Loc
from loopxform.transforms.base import Step
from loopxform.transforms.overlapped.kernel_parts import Shape
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.streaming import Stream
from loopxform.written import LARGEST_TILE


def not_sizes(step: Step, words: Iterable[str], loc: Loc | None) -> tuple[Obstacle, ...]:
    """The obstacle where a word of a step is no size."""
    if all(n.isdecimal() and 0 < int(n) <= LARGEST_TILE for n in words):
        return ()
    text = f"'{step}' has sizes that are no positive numbers"
    return (Obstacle("LX021", text, loc, remedy=f"usage: {step.usage}"),)


def not_an_order(step: Step, word: str, loc: Loc | None) -> tuple[Obstacle, ...]:
    """The obstacle where the word about the order of sums is none."""
    if word in ("", "reassociate"):
        return ()
    return (Obstacle("LX025", f"'{word}' says nothing about the order", loc, remedy=step.usage),)


def shape_of_words(rows: str, items: tuple[str, ...], elements: str) -> Shape:
    """The tile of a group."""
    return Shape(int(rows), tuple(map(int, items)), int(elements or 1))


def require_tile(shape: Shape, passes: Stream, loop: For) -> None:
    """Raises NotStages where a tile stores nothing."""
    loc = loop.origin.loc
    if len(shape.items) != passes.rank - 1:
        text = f"the tile of a group has {passes.rank - 1} dimensions of work-items"
        raise NotStages(text, loc, "give as many numbers of work-items")
    for n, low, high in zip(shape.widths, passes.low[1:], passes.high[1:]):
        if n <= low + high:
            text = f"{low + high} of {n} elements in a row of a tile belong to its neighbours"
            raise NotStages(text, loc, "take fewer steps, or more work-items")
