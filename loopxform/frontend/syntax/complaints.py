"""The parser's complaints in words, at places of the user's files."""

from __future__ import annotations

import re
from itertools import pairwise

from loopxform.errors import InputError
from loopxform.frontend.syntax.declarations import TOKEN, Fault, offset_of, place_of
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.text.prelude import TYPES
from loopxform.source import Loc

MISSING = "look for a ; , ) or } that is missing here or just before"
_UNREAD: tuple[tuple[str, str, str], ...] = (
    (r"[^\x00-\x7f]", "is no letter of a name here", "write names in ASCII"),
    (r"<[:%]|[:%]>|%:", "is not read", "write the bracket, brace or # of this digraph"),
    (r"(?<=\d)i[fFlL]?\b", "makes a complex number, which is not read", "compute both parts apart"),
    (r"\.\.\.(?= *[\w'-])", "between the numbers of a case is not read", "write a case for each"),
)
"""What C has or compilers know, and the parser does not."""
TOO_DEEP = "nested too deeply for the parser"
_KEYWORD_TEXT = """auto break case char const continue default do double else enum extern float for
    goto if inline int long register restrict return short signed sizeof static struct switch
    typedef union unsigned void volatile while _Bool _Complex"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())


def explain(fault: Fault, text: str, places: Places) -> InputError:
    """The parser's complaint in words, at the user's place."""
    loc = Loc(places.files[fault.file], fault.line, fault.column) if fault.file else None
    offset = offset_of(text, fault)
    unread = None if offset is None else _unread(text, offset)
    if unread is not None:
        word, why, remedy = unread
        return InputError(f"'{word}' {why}", loc=loc, help=remedy)
    unknown = None if offset is None else _unknown_type(text, offset)
    if offset is not None and (cast := _unknown_cast(text, offset)):
        name, at, header = cast
        where = _loc_of(text, at, places) or loc
        message = f"unknown type name '{name}'"
        return InputError(message, loc=where, help=f"#include <{header}>", width=len(name))
    if unknown and "llegal" not in fault.message and "onstant" not in fault.message:
        name, at = unknown
        where = _loc_of(text, at, places) or loc
        remedy = "include the header that declares it (-I DIR), or define it (-D NAME=TYPE)"
        return InputError(f"unknown type name '{name}'", loc=where, help=remedy, width=len(name))
    if offset is not None and (half := _half_literal(text, offset)):
        literal, at = half
        message = f"the literal {literal} is not read: compilers differ in how they round it"
        remedy = f"write (_Float16){literal[:-3]}f"
        return InputError(
            message, loc=_loc_of(text, at, places) or loc, help=remedy, width=len(literal)
        )
    message, help = _words(fault.message)
    if message.startswith("syntax error before"):
        loc = _snap(loc, message.split("'", 1)[1][:-1], places)
    if offset is not None and "__attribute" in text[max(offset - 80, 0) : offset + 12]:
        help = "an attribute that changes a type is not read; guard it with #ifdef"
    return InputError(message, loc=loc, help=help)


def _words(message: str) -> tuple[str, str | None]:
    """The parser's message and a remedy, as we say it."""
    if message.startswith("before: "):
        return f"syntax error before '{message.removeprefix('before: ').strip()}'", MISSING
    if "end of input" in message.lower():
        return "the file ends inside a declaration", "check that every { has its }"
    if message == TOO_DEEP:
        return message, "split the statement into several"
    return f"syntax error: {message[:1].lower()}{message[1:]}", MISSING


def _snap(loc: Loc | None, token: str, places: Places) -> Loc | None:
    """`loc` moved to `token` on the raw line, where macros shifted it."""
    raw = places.sources.line(loc) if loc else None
    if loc is None or raw is None or raw.startswith(token, loc.column - 1) or token not in raw:
        return loc
    return Loc(loc.file, loc.line, raw.index(token) + 1)


def _loc_of(text: str, offset: int, places: Places) -> Loc | None:
    """The user's place of an offset in the preprocessed text."""
    file, line, column = place_of(text, offset)
    loc = Loc(places.files[file], line, column)
    return _snap(loc, _word_at(text, offset), places) if file else None


def _word_at(text: str, offset: int) -> str:
    m = re.compile(r"\w+").match(text, offset)
    return m.group() if m else ""


def _unknown_type(text: str, offset: int) -> tuple[str, int] | None:
    """An identifier at a fault that stands where a type must: before a name or a star."""
    start = max(text.rfind(c, 0, offset) for c in "(;{},") + 1
    tokens = list(TOKEN.finditer(text, start, min(offset + 80, len(text))))
    for first, second in pairwise(tokens):
        name = first.group()
        if first.start() > offset:
            return None
        if not (name[0].isalpha() or name[0] == "_") or name in _KEYWORDS:
            continue
        follows = second.group()
        is_name = follows[0].isalpha() or follows[0] == "_"
        if (is_name or follows == "*") and not _declared_type(text, name):
            return name, first.start()
        return None
    return None


def _unknown_cast(text: str, offset: int) -> tuple[str, int, str] | None:
    """`(size_t)` before a fault: a cast to a type of a standard header that is not included; the
    name, where it stands, and the header."""
    m = re.search(r"\(\s*(\w+)[\s*]*\)\s*$", text[max(0, offset - 80) : offset])
    header = m and next((h for h, known in TYPES.items() if m[1] in known), None)
    if m is None or header is None or _declared_type(text, m[1]):
        return None
    return m[1], max(0, offset - 80) + m.start(1), header


def _unread(text: str, offset: int) -> tuple[str, str, str] | None:
    """What stands at a fault, why it is one, and a remedy."""
    for pattern, why, remedy in _UNREAD:
        for m in re.compile(pattern).finditer(text, max(0, offset - 2), offset + 16):
            if m.start() <= offset < m.end():
                return m.group(), why, remedy
    return None


def _half_literal(text: str, offset: int) -> tuple[str, int] | None:
    """`1.5f16`, of which the parser takes the 16 for a number of its own; and where it stands."""
    start = max(0, offset - 80)
    m = re.search(
        r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]16$", text[start : offset + 2]
    )
    return m and (m[0], start + m.start())


def _declared_type(text: str, name: str) -> bool:
    return re.search(rf"typedef\b[^;]*\b{re.escape(name)}\b", text) is not None
