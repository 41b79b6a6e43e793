"""Loops that run one iteration after the other as the text has them."""

from __future__ import annotations

from loopxform.records import slotted
from loopxform.source import Loc


@slotted
class Sequential:
    """What keeps the iterations of the loop at `loop` in order, and where that stands."""

    loop: Loc
    message: str
    loc: Loc | None
