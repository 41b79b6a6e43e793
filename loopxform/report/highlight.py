"""C as a page shows it: keywords, comments, numbers and texts, each with a class of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Token: TypeAlias = tuple[str, str]
"""A class of the style sheet ("": none), and the text."""

_WORDS = """
    break case char const continue default do double else enum extern float for goto half if
    inline int int2 int4 int8 long return restrict short signed sizeof static struct switch
    typedef union unsigned void volatile while bool uchar ushort uint ulong size_t event_t
    kernel global local constant private __kernel __global __local __constant __private
    float2 float4 float8 float16 double2 double4 double8 double16
""".split()  # noqa: SIM905

_TOKENS = re.compile(
    r"(?P<cm>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<cp>^[ \t]*\#[^\n]*)"
    r'|(?P<cs>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<cn>\b(?:0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfF]*\b)"
    rf"|(?P<ck>\b(?:{'|'.join(_WORDS)})\b)",
    re.DOTALL | re.MULTILINE,
)


def coloured(lines: Iterable[tuple[str, object]]) -> list[list[Token]]:
    """The tokens of each line; what stands beside its text is left aside. Blanks belong to the
    token behind them: tools that rewrite pages (nbconvert) join blanks that stand alone."""
    out: list[list[Token]] = [[]]
    for kind, text in _tokens("\n".join(line for line, _ in lines)):
        for n, part in enumerate(text.split("\n")):
            if n:
                out.append([])
            row = out[-1]
            if row and part and row[-1][1].isspace():
                row[-1] = (kind, row[-1][1] + part)
            elif part:
                row.append((kind, part))
    return out


def _tokens(text: str) -> Iterator[Token]:
    end = 0
    for m in _TOKENS.finditer(text):
        yield "", text[end : m.start()]
        yield m.lastgroup or "", m[0]
        end = m.end()
    yield "", text[end:]
