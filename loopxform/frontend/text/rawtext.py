"""Reading C files as text: decoding, line ends, and comments replaced by blanks.

Lines and columns of what is left are those of the user's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from loopxform import trace
from loopxform.errors import InputError
from loopxform.frontend.text import languages
from loopxform.source import Loc

# Characters that Python takes for line ends and C does not.
_FALSE_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))

_COMMENT_OR_LITERAL = re.compile(
    r"""//(?:[^\n\\]|\\.)*\\?      # a line comment, continued by a backslash
      | /\*.*?(?:\*/|\Z)           # a block comment, perhaps unterminated
      | "(?:[^"\\\n]|\\.)*"?       # a string
      | '(?:[^'\\\n]|\\.)*'?       # a character
    """,
    re.VERBOSE | re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_SPLIT_COMMENT_MARK = re.compile(r"/(?:\\\n)+[/*]|\*(?:\\\n)+/")
_SPLICE = re.compile(r"\\[ ]*\n")


def decode(data: bytes, file: str) -> str:
    """The text of a file; one `\\n` per line."""
    if b"\0" in data:
        help = "name a C file, in UTF-8 or another encoding that extends ASCII"
        message = f"{file} is {languages.binary(data)}, not C"
        raise InputError(message, loc=Loc(file, 1, 1), help=help)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").translate(_FALSE_LINE_ENDS)


def read(path: str) -> str:
    """The text of the file at `path`; OSError where it cannot be read."""
    return decode(read_bytes(path), path)


def read_bytes(path: str) -> bytes:
    """What the file at `path` holds; OSError where it cannot be read."""
    with open(path, "rb") as f:
        data = f.read()
    trace.read(path, data)
    return data


def blank(text: str) -> str:
    """Blanks of the same extent."""
    return _NOT_NEWLINE.sub(" ", text)


def bare(text: str) -> str:
    """`text` with blanks for comments and literals, whatever else it holds."""
    return _COMMENT_OR_LITERAL.sub(lambda m: blank(m.group()), text)


def strip_comments(text: str, file: str) -> str:
    """`text` with every comment replaced by blanks; a directive goes on behind one that spans
    lines."""
    if "\\\n" in text and (m := _SPLIT_COMMENT_MARK.search(text)):
        where = place(file, text, m.start())
        help = "write the mark on one line"
        raise InputError("a comment mark is split over two lines", loc=where, help=help)
    joined: set[int] = set()

    def replacement(m: re.Match[str]) -> str:
        found = m.group()
        if found[0] != "/":
            return found
        if found.startswith("/*") and not (len(found) >= 4 and found.endswith("*/")):
            raise InputError(
                "unterminated comment",
                loc=place(file, text, m.start()),
                help="close it with */",
                width=2,
            )
        if "\n" in found and _in_directive(text, m.start(), joined):
            joined.update(n for n in range(*m.span()) if text[n] == "\n")
            return blank(found).replace(" \n", "\\\n")
        return blank(found)

    return _COMMENT_OR_LITERAL.sub(replacement, text)


def _in_directive(text: str, at: int, joined: Set[int]) -> bool:
    """Whether an offset is on the line of a directive; the line goes on at the ends `joined`."""
    end = text.rfind("\n", 0, at)
    before = text.rfind("\n", 0, max(end, 0))
    while end >= 0 and (end in joined or text[before + 1 : end].rstrip(" \t").endswith("\\")):
        end, before = before, text.rfind("\n", 0, max(before, 0))
    return text[end + 1 : at].lstrip().startswith("#")


def comments(text: str) -> Iterator[re.Match[str]]:
    return (m for m in _COMMENT_OR_LITERAL.finditer(text) if m.group()[0] == "/")


def without_comments(text: str) -> str:
    """`text` with blanks for comments, whatever else it holds."""
    return _COMMENT_OR_LITERAL.sub(
        lambda m: blank(m.group()) if m.group()[0] == "/" else m.group(), text
    )


def continued(text: str) -> frozenset[int]:
    """The offsets at which lines begin that go on with a comment or a line begun before."""
    spans = [m.span() for m in comments(text)]
    spans += [m.span() for m in _SPLICE.finditer(text)]
    ends = (n for a, b in spans for n in range(a, b) if text[n] == "\n")
    return frozenset(n + 1 for n in ends)


def place(file: str, text: str, offset: int) -> Loc:
    """Line and column of an offset."""
    line = text.count("\n", 0, offset) + 1
    return Loc(file, line, offset - (text.rfind("\n", 0, offset) + 1) + 1)
