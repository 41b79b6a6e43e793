"""Parts of functions as functions of their own, and the places of statements in the user's text."""

from loopxform.frontend.outline.allocations import allocated_sizes
from loopxform.frontend.outline.blocks import Block, Item
from loopxform.frontend.outline.data_texts import DataText
from loopxform.frontend.outline.loops import Loop
from loopxform.frontend.outline.loops_in_front import loops_in_front
from loopxform.frontend.outline.original import Original
from loopxform.frontend.outline.regions import Definition, Part, Region
from loopxform.frontend.outline.removable import marks_scop
from loopxform.frontend.outline.returning import HIT

__all__ = [
    "HIT",
    "Block",
    "DataText",
    "Definition",
    "Item",
    "Loop",
    "Original",
    "Part",
    "Region",
    "allocated_sizes",
    "loops_in_front",
    "marks_scop",
]
