"""Patterns of paths: `build`, `src/fft/*.c`, `**/generated`.

A pattern without a slash is about a name at any depth, one with a slash about a path from the
folder of the file that it is written in. What is below a folder that matches, matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matching(patterns: Iterable[str], path: str) -> str | None:
    """The first pattern that matches a path, whose parts slashes separate; None where none does."""
    return next((p for p in patterns if _compiled(p).fullmatch(path)), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    plain = pattern.removeprefix("./").rstrip("/")
    text = "".join(map(_meaning, _PART.findall(plain)))
    return re.compile(f"{'' if '/' in plain else '(?:.*/)?'}{text}(?:/.*)?", re.DOTALL)


def _meaning(part: str) -> str:
    if part[0] == "[" and len(part) > 1:
        inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
        return f"[{'^/' + inside[1:] if inside[0] == '!' else inside}]"
    return _MEANING.get(part) or re.escape(part)
