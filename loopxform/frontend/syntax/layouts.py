"""Which types of a text lie in memory as the standard ABI says.

`packed`, `aligned` and the like change the types that are defined in the same declaration;
`#pragma pack`, and attributes of a name for another type, may change any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.syntax.declarations import MARK, external_declarations
from loopxform.frontend.text import gnu
from loopxform.records import record

_WORD = r"\b_*(?:packed|aligned|ms_struct|scalar_storage_order|mode)_*\b"
_ATTRIBUTE = re.compile(
    rf"__attribute(?:__)?\s*\(\([^;{{]*?{_WORD}|\[\[[^]]*?{_WORD}|\b(?:_Alignas|alignas)\b"
)
_PRAGMA = re.compile(
    r"#\s*pragma\s+(?:pack|scalar_storage_order|ms_struct)\b|_Pragma\s*\(\s*\"pack"
)
_BLANK = re.compile(r"\s*")
_DEFINES = re.compile(r"\b(?:struct|union|enum)\b[^;{}]*\{")


@record
class Layouts:
    """All types lie as usual (`plain`), but for those that are defined on the `odd` lines, each
    with its file as the parser counts them."""

    plain: bool = True
    odd: frozenset[tuple[str, int]] = frozenset()

    def usual(self, node: c_ast.Node) -> bool:
        """Whether the struct or the enumeration that `node` defines lies as usual."""
        at = getattr(node.coord, "file", ""), getattr(node.coord, "line", 0)
        return self.plain and at not in self.odd


USUAL = Layouts()


def layouts(text: str) -> Layouts:
    """Those of the types of a preprocessed text."""
    found = [m.start() for m in _ATTRIBUTE.finditer(text)]
    if _PRAGMA.search(text):
        return Layouts(plain=False)
    if not found:
        return USUAL
    holding = [
        c
        for c in external_declarations(gnu.normalise(text))
        if any(c.start <= at < c.end for at in found)
    ]
    if any(_names_another(text[c.start : c.end], is_body=bool(c.name)) for c in holding):
        return Layouts(plain=False)
    starts = {_first(text, c.start): c.end for c in holding}
    return Layouts(odd=frozenset(_lines(text, starts)))


def _names_another(declaration: str, *, is_body: bool) -> bool:
    """Whether it may give a type that is defined elsewhere a name and a layout."""
    return "typedef" in declaration and (is_body or not _DEFINES.search(declaration))


def _first(text: str, start: int) -> int:
    """The offset of what is not blank from `start` on."""
    m = _BLANK.match(text, start)
    return m.end() if m else start


def _lines(text: str, extents: dict[int, int]) -> Iterator[tuple[str, int]]:
    """The lines of extents of the text."""
    at, file, line, end = 0, "1", 0, 0
    starts = sorted(extents, reverse=True)
    for raw in text.split("\n"):
        line += 1
        if m := MARK.match(raw):
            file, line = m.group(2), int(m.group(1)) - 1
        while starts and starts[-1] <= at + len(raw):
            end = max(end, extents[starts.pop()])
        if at < end:
            yield file, line
        at += len(raw) + 1
