"""Text that C compilers read in one of two ways, as the standard they follow says.

    "??/""          an open string to -std=c99, -ansi and -trigraphs; to others a whole one, and a "
    a //* b */ c    a comment; to -std=c89 and -ansi a division

The compiler is asked which it is, and what we would read in the other way is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopxform import compiler
from loopxform.errors import InputError
from loopxform.frontend.text import rawtext

_TRIGRAPH = re.compile(r"\?\?(?=[=/'()!<>-])")
_SPLIT = re.compile(
    r"(\w+)\\[ \t]*\n\w|(\w*\d)\\[ \t]*\n\.|([-+&|<>=#])\\[ \t]*\n\3"
    r"|([-+*/%&|^<>=!])\\[ \t]*\n=|(-)\\[ \t]*\n>"
)
"""The preprocessor (pcpp) takes the two lines for two tokens."""
_SPLICING = re.compile(r"\?\?/[ \t]*\n")
_REPLACED = "'??!' == '|'"
_DIVIDED = "0 //**/ 1 + 1"
"""Conditions that hold where trigraphs are replaced, and where `//` begins no comment."""


def require_plain(file: str, text: str, options: Sequence[str]) -> None:
    """Raises InputError where a compiler with these options reads other characters than we do."""
    split = _SPLIT.search(text) if "\\" in text else None
    split = _SPLIT.search(rawtext.bare(text)) if split is not None else None
    if split is not None:
        begun = next(x for x in split.groups() if x)
        where = rawtext.place(file, text, split.start())
        message = "a word or operator that is continued on the next line is not read"
        raise InputError(message, loc=where, help="write it on one line", width=len(begun))
    if "??" in text:
        _without_trigraphs(file, text, options)
    starts = (m.start() for m in rawtext.comments(text) if text.startswith("//*", m.start()))
    at = next(starts, None) if "//*" in text else None
    if at is not None and compiler.holds(options, "", _DIVIDED):
        where = rawtext.place(file, text, at)
        help = "put a blank between the slashes, or in front of the star"
        message = "'//*' divides by what follows, as the C compiler reads it, and begins no comment"
        raise InputError(message, loc=where, help=help, width=3)


def _without_trigraphs(file: str, text: str, options: Sequence[str]) -> None:
    found = _TRIGRAPH.search(rawtext.bare(text))
    if found is None:
        literals = _TRIGRAPH.search(rawtext.without_comments(text)) or _SPLICING.search(text)
        found = literals if literals and compiler.holds(options, "", _REPLACED) else None
    if found is not None:
        where = rawtext.place(file, text, found.start())
        help = "write the character it stands for, or put a \\ between the question marks"
        raise InputError("trigraphs are not read", loc=where, help=help, width=3)


def escaped(text: str) -> str:
    """The text for a preprocessor that replaces trigraphs always: those in literals stay."""
    return _TRIGRAPH.sub(r"?\\?", text) if "??" in text else text
