"""Files with sets of sizes: a set a line, or JSON.

M=512 N=1024            # lines; what follows # is a comment
[{"M": 512, "N": 1024}, {"M": 64, "N": 64}]
{"small": {"M": 64, "N": 64}, "large": {"M": 512, "N": 1024}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from loopxform.errors import InputError
from loopxform.json_text import JsonText
from loopxform.records import record
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
    file = _Sizes(JsonText(path, text, "LX237"))
    is_json = text.lstrip().startswith(("[", "{"))
    found = list(file.json() if is_json else file.lines())
    if not found:
        help = AS_JSON if is_json else LINES
        raise InputError(f"'{path}' has no sizes", help=help, subject=path)
    return found


@record
class _Sizes:
    file: JsonText

    def lines(self) -> Iterator[Sizes]:
        start = 0
        for line in self.file.text.splitlines(keepends=True):
            sizes: Sizes = {}
            for word in re.finditer(r"[^\s,]+", line.partition("#")[0]):
                name, _, value = word[0].partition("=")
                self._add(sizes, name, value, word[0], start + word.start(), LINES)
            if sizes:
                yield sizes
            start += len(line)

    def json(self) -> Iterator[Sizes]:
        self.file.value(AS_JSON)
        for _, value, place in self.file.items(self.file.start):
            if not isinstance(value, dict):
                message = "a set of sizes is an object, names with numbers"
                raise self.file.bad(message, place, AS_JSON)
            sizes: Sizes = {}
            for name, _, at in self.file.items(place):
                self._add(sizes, name, self.file.written(at), name, at, AS_JSON)
            yield sizes

    def _add(self, sizes: Sizes, name: str, value: str, shown: str, place: int, help: str) -> None:
        if name in sizes:
            message = f"'{name}' is there twice"
            raise self.file.bad(message, place, help, width=len(shown))
        try:
            if not is_name(name):
                raise ValueError
            sizes[name] = number(value)
        except ValueError:
            message = f"'{shown}' is not NAME=NUMBER"
            if help == AS_JSON:
                message = f"{value} is not a number" if is_name(name) else f"'{name}' is no name"
            raise self.file.bad(message, place, help, width=len(shown)) from None
