"""What attributes promise of functions: `const`, `pure` and `noreturn`.

    int f(int) __attribute__((const));  [[gnu::pure]] int g(const int *);  _Noreturn void h(void);

An attribute stands in front of the declaration, among its first words, or behind the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_KINDS = {
    **{word: word for word in ("const", "pure", "noreturn")},
    "unsequenced": "const",
    "reproducible": "pure",
}
"""What the words of attributes promise; the last two are those of C23."""
_QUICK = re.compile(r"__attribute|\[\[|_Noreturn|\bnoreturn\b")
_TOKEN = re.compile(
    r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\[\[|\]\]|[A-Za-z_]\w*|[(){};=,\[\]]"""
    r"|^[ \t]*\#[^\n]*",
    re.MULTILINE,
)
_ATTRIBUTE = ("__attribute__", "__attribute")
_ASM = ("asm", "__asm", "__asm__")


def promised(text: str) -> dict[str, frozenset[str]]:
    """The promises of each function that has some, in a preprocessed file."""
    if not _QUICK.search(text):
        return {}
    out: dict[str, frozenset[str]] = {}
    for name, found in _declarations(text):
        if found:
            out[name] = out.get(name, frozenset()) | found
    return out


def _declarations(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The functions that are declared outside of others, each with what is promised there."""
    words, start = _TOKEN.findall(text), 0
    depth = 0
    for at, word in enumerate(words):
        if word == "{":
            depth += 1
            if depth == 1:
                yield from _declared(words[start:at])
        elif word == "}":
            depth = max(0, depth - 1)
            start = at + 1
        elif word == ";" and depth == 0:
            yield from _declared(words[start:at])
            start = at + 1


def _declared(words: list[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The function of one declaration. One of several has no promises, nor has `(*f)(int)`."""
    found: set[str] = set()
    names: list[str] = []
    at = 0
    while at < len(words):
        word, end = words[at], _closed(words, at + 1)
        if word in _ATTRIBUTE:
            found |= _named(words[at + 1 : end])
        elif word == "[[":
            end = at + words[at:].index("]]") + 1 if "]]" in words[at:] else len(words)
            found |= _named(words[at:end])
        elif word == "_Noreturn":
            found.add("noreturn")
            end = at + 1
        elif word in (",", "=", "typedef") or word == "(":
            return
        elif end > at + 1 and word not in _ASM:
            names.append(word)
        at = max(end, at + 1)
    if len(names) == 1:
        yield names[0], frozenset(found)


def _named(words: list[str]) -> set[str]:
    """The kinds among the words of an attribute, outside of arguments of others."""
    plain = [w.strip("_") for w in words]
    return {kind for word, kind in _KINDS.items() if word in plain}


def _closed(words: list[str], at: int) -> int:
    """The place behind the parentheses that begin at `at`, else `at`."""
    if at >= len(words) or words[at] != "(":
        return at
    depth = 0
    for n in range(at, len(words)):
        depth += {"(": 1, ")": -1}.get(words[n], 0)
        if depth == 0:
            return n + 1
    return len(words)
