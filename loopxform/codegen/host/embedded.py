"""The text of kernels as the written C holds it: rows of string literals that every compiler takes.
The .cl file beside it is for readers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopxform.codegen.render import c_string

_COMMENT = re.compile(r"^\s*/\*(?:(?!\*/).)*\*/$")
"""One that is all of a line."""

WIDEST = 480
"""Columns of a row, with its indentation and the comma: C90 has 509 characters in a literal."""


def rows(text: str) -> tuple[str, ...]:
    """Lines without their indentation and comments, as many in a row as fit. No line is left out,
    so that what a compiler says of line n is about line n of the program."""
    return tuple(_rows(text))


def _rows(text: str) -> Iterator[str]:
    row: list[str] = []
    for line in (_COMMENT.sub("", x).lstrip() for x in text.splitlines()):
        if row and len(c_string("\n".join([*row, line]))) + len("  ,") > WIDEST:
            yield "\n".join(row)
            row = []
        row.append(line)
    if row:
        yield "\n".join(row)
