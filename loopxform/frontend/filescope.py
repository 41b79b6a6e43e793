"""The names that a translation unit declares outside of functions."""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.frontend.ctype import CType
from loopxform.frontend.members import Records
from loopxform.frontend.symbols import Symbol
from loopxform.ir.routines import Routine


class FileScope:
    """What a translation unit declares outside functions; `own` are the functions it defines,
    each with what keeps its body from standing in the place of a call. `plain_layout` says that
    nothing in the file changes the layout of types (`packed`, `#pragma pack`)."""

    def __init__(self, own: Mapping[str, str] | None = None, *, plain_layout: bool = True) -> None:
        self.plain_layout = plain_layout
        self.routines: dict[str, Routine] = {}
        """The functions so far that are pure and work on numbers."""
        self.names: dict[str, Symbol] = {}
        self.own = own or {}
        self.records = Records({})

    def typedef(self, name: str) -> CType | None:
        found = self.names.get(name)
        return found.type if found and found.kind == "type" else None
