"""JSON that people write or keep: what is wrong with it is shown at its line and column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from loopxform.errors import InputError
from loopxform.records import record
from loopxform.source import Loc, Sources

_DECODER = json.JSONDecoder()


@record
class JsonText:
    """The text of a file; diagnostics have this `code`."""

    path: str
    text: str
    code: str

    def value(self, help: str) -> Any:
        """What it says. Raises InputError."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as e:
            raise self.bad(f"this is no JSON: {e.msg}", e.pos, help) from None
        except (ValueError, RecursionError):
            message = "a number is too long, or brackets are nested too deeply"
            raise self.bad(message, 0, help) from None

    @property
    def start(self) -> int:
        """Where the value begins."""
        return self._skip(0)

    def items(self, at: int) -> Iterator[tuple[str, Any, int]]:
        """The values of a list or an object that begins there, with their names and places; the
        text is known to be JSON."""
        is_object = self.text[at] == "{"
        at = self._skip(at + 1)
        while self.text[at] not in "]}":
            name = ""
            if is_object:
                name, at = _DECODER.raw_decode(self.text, at)
                at = self._skip(self._skip(at) + 1)
            value, end = _DECODER.raw_decode(self.text, at)
            yield name, value, at
            at = self._skip(end)
            at = self._skip(at + (self.text[at] == ","))

    def written(self, at: int) -> str:
        """The value that begins there as it is written."""
        return self.text[at : _DECODER.raw_decode(self.text, at)[1]]

    def _skip(self, at: int) -> int:
        """The next character that is no space."""
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def bad(
        self, message: str, at: int, help: str, *, width: int = 1, code: str | None = None
    ) -> InputError:
        """The diagnostic of what stands there."""
        error = InputError(message, code=code or self.code, help=help)
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        error.loc = Loc(self.path, self.line(at), column)
        error.width = width
        error.sources = Sources()
        error.sources.add(self.path, self.text)
        return error
