"""Register tiling: a tile of two loops in a group, and a tile of both in each of its work-items.

Fits where there is reuse along two parallel loops. (Cholewa-Madsen and Holst, section 2.1.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.model.reuse import Dim
from loopxform.recipes.base import Question
from loopxform.recipes.staged_tiles import StagedTiles, block
from loopxform.schedule.params import Recipe


class RegisterTile(StagedTiles):
    name: ClassVar[Recipe] = "register"
    in_block: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        loops = block(question)
        if isinstance(loops, str):
            return loops
        y, x = loops
        return (Dim(y, "Ty", "Ry"), Dim(x, "Tx", "Rx"))
