"""Block tiling: a tile of two loops in a group, an element for each of its work-items.

Fits where register tiling does; never better where there are registers, so only on request.
(Cholewa-Madsen and Holst, section 2.4.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.model.reuse import Dim
from loopxform.recipes.base import Question
from loopxform.recipes.staged_tiles import StagedTiles, block
from loopxform.schedule.params import Recipe


class BlockTile(StagedTiles):
    name: ClassVar[Recipe] = "block"
    in_block: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        loops = block(question)
        if isinstance(loops, str):
            return loops
        y, x = loops
        return (Dim(y, "Ty"), Dim(x, "Tx"))
