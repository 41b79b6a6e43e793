"""What a kernel must not do, and how it is reported."""

from __future__ import annotations

from typing import Literal

from loopxform.errors import LoopxformError
from loopxform.records import record

Kind = Literal["race", "bounds", "unset", "barrier", "alignment", "copy", "arithmetic"]

Item = tuple[int, int, int]


class GroupFault(Exception):
    """Raised while a kernel runs; where that is, the caller knows."""

    def __init__(self, kind: Kind, what: str) -> None:
        super().__init__(what)
        self.kind = kind


class NotModelled(Exception):
    """Words of OpenCL C that the executor does not know, in a line of the text."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


@record
class Place:
    """Where a kernel was: `line` counts from 1 in the text of its program, `text` is that line;
    `item` is the local id of the work-item, `group` the id of its group."""

    kernel: str
    line: int
    text: str
    item: Item
    group: Item

    def __str__(self) -> str:
        return (
            f"kernel {self.kernel}, line {self.line}: work-item {self.item} of group {self.group}"
        )


class ExecutionError(LoopxformError):
    """A kernel races, leaves an array, reads what was never set, or its work-items do not meet at
    a barrier; or its text has words that the executor does not know (`kind` None)."""

    status = 1
    code = "LX211"

    def __init__(self, what: str, kind: Kind | None, place: Place | None) -> None:
        notes = () if place is None else (str(place), place.text.strip())
        super().__init__(what, notes=notes)
        self.kind = kind
        self.place = place
