"""Files with sets of sizes: a set a line, or JSON.

M=512 N=1024            # lines; what follows # is a comment
[{"M": 512, "N": 1024}, {"M": 64, "N": 64}]
{"small": {"M": 64, "N": 64}, "large": {"M": 512, "N": 1024}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopxform.errors import InputError
from loopxform.records import record
from loopxform.source import Loc, Sources
from loopxform.written import number

Sizes = dict[str, int | float]

LINES = "a line each: M=512 N=1024"
AS_JSON = '[{"M": 512, "N": 1024}, ...] or {"small": {"M": 512, "N": 1024}, ...}'


def is_name(text: str) -> bool:
    """Whether it is a parameter, or a member of one."""
    return all(part.isidentifier() for part in text.split("."))


def sets_of(path: str, form: str) -> list[Sizes]:
    """The sets in a file; `form` is the help where it cannot be read. Raises InputError at the line
    and the column that mean nothing."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None) or "it is not text in UTF-8"
        message = f"cannot read the sizes in '{path}': {reason}"
        raise InputError(message, help=form, subject=path) from e
    file = _File(path, text)
    is_json = text.lstrip().startswith(("[", "{"))
    found = list(file.json() if is_json else file.lines())
    if not found:
        help = AS_JSON if is_json else LINES
        raise InputError(f"'{path}' has no sizes", help=help, subject=path)
    return found


@record
class _File:
    path: str
    text: str

    def lines(self) -> Iterator[Sizes]:
        start = 0
        for line in self.text.splitlines(keepends=True):
            sizes: Sizes = {}
            for word in re.finditer(r"[^\s,]+", line.partition("#")[0]):
                name, _, value = word[0].partition("=")
                self._add(sizes, name, value, word[0], start + word.start(), LINES)
            if sizes:
                yield sizes
            start += len(line)

    def json(self) -> Iterator[Sizes]:
        try:
            json.loads(self.text)
        except json.JSONDecodeError as e:
            raise self._bad(f"this is no JSON: {e.msg}", e.pos, 1, AS_JSON) from None
        except (ValueError, RecursionError):
            message = "a number is too long, or brackets are nested too deeply"
            raise self._bad(message, 0, 1, AS_JSON) from None
        for _, value, place in self._items(self._skip(0)):
            if not isinstance(value, dict):
                message = "a set of sizes is an object, names with numbers"
                raise self._bad(message, place, 1, AS_JSON)
            sizes: Sizes = {}
            for name, _, at in self._items(place):
                end = DECODER.raw_decode(self.text, at)[1]
                self._add(sizes, name, self.text[at:end], name, at, AS_JSON)
            yield sizes

    def _items(self, at: int) -> Iterator[tuple[str, Any, int]]:
        """The values of a list or an object that begins there, with their names and places."""
        is_object = self.text[at] == "{"
        at = self._skip(at + 1)
        while self.text[at] not in "]}":
            name = ""
            if is_object:
                name, at = DECODER.raw_decode(self.text, at)
                at = self._skip(self._skip(at) + 1)
            value, end = DECODER.raw_decode(self.text, at)
            yield name, value, at
            at = self._skip(end)
            at = self._skip(at + (self.text[at] == ","))

    def _skip(self, at: int) -> int:
        """The next character that is no space."""
        return at + len(self.text[at:]) - len(self.text[at:].lstrip())

    def _add(self, sizes: Sizes, name: str, value: str, shown: str, place: int, help: str) -> None:
        if name in sizes:
            raise self._bad(f"'{name}' is there twice", place, len(shown), help)
        try:
            if not is_name(name):
                raise ValueError
            sizes[name] = number(value)
        except ValueError:
            message = f"'{shown}' is not NAME=NUMBER"
            if help == AS_JSON:
                message = f"{value} is not a number" if is_name(name) else f"'{name}' is no name"
            raise self._bad(message, place, len(shown), help) from None

    def _bad(self, message: str, place: int, width: int, help: str) -> InputError:
        before = self.text[:place]
        line = before.count("\n") + 1
        error = InputError(message, code="LX237", help=help)
        error.loc = Loc(self.path, line, place - (before.rfind("\n") + 1) + 1)
        error.width = width
        error.sources = Sources()
        error.sources.add(self.path, self.text)
        return error


DECODER = json.JSONDecoder()
