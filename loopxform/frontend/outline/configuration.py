"""The macros that decide what a file says: those that its conditionals ask for, and those of the
command line. A build with others may compile other text than was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.preprocess import Reader, preprocess
from loopxform.frontend.rawtext import decode

_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b((?:[^\n\\]|\\.)*)", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z]\w*")
_PROBE = re.compile(r"lx_probe_begin (\w+) =(.*?)lx_probe_end", re.DOTALL)


def deciding(texts: Iterable[str], options: CppOptions) -> list[str]:
    """Their names, but for those that belong to compilers (`__GNUC__`)."""
    return sorted(set(_deciding(texts, options)) - {"defined", "linux", "unix"})


def _deciding(texts: Iterable[str], options: CppOptions) -> Iterator[str]:
    for text in texts:
        for m in _CONDITION.finditer(text):
            yield from _WORD.findall(m.group(1))
    for given in (*options.defines, *options.undefines):
        yield from _WORD.findall(given)[:1]


def expansions(
    path: str, raw: bytes, options: CppOptions, at: int, names: Iterable[str]
) -> dict[str, str]:
    """What macros expand to in front of the byte `at`; a name that is none expands to itself."""
    lines = [f"lx_probe_begin lx_name_{n} ={n} lx_probe_end" for n in names]
    text = raw[:at] + "\n".join(["", *lines, ""]).encode() + raw[at:]
    done = preprocess(path, decode(text, path), options, Reader())
    found = _PROBE.findall(done.text)
    return {name.removeprefix("lx_name_"): " ".join(value.split()) for name, value in found}
