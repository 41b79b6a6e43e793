"""Why a loop over time is not one around stencils."""

from __future__ import annotations

from loopxform.errors import Obstacle
from loopxform.source import Loc


class NotStages(Exception):
    """Why statements are not stages, where, and what would help."""

    def __init__(self, text: str, loc: Loc | None, remedy: str = "") -> None:
        super().__init__(text)
        self.obstacle = Obstacle("LX202", text, loc, remedy=remedy)
