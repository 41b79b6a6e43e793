"""Loops that run one iteration after the other as the text has them."""

from __future__ import annotations

from loopxform.records import slotted
from loopxform.source import Loc


@slotted
class Sequential:
    """What keeps the iterations of the loop at `loop` in order, and where that stands. An
    `induction` variable does as the text has it; another form of the loop may do without."""

    loop: Loc
    message: str
    loc: Loc | None
    induction: bool = False
