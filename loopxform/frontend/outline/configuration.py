"""What macros stand for in front of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.rawtext import decode
from loopxform.frontend.text.reader import Reader

_PROBE = re.compile(r"lx_probe_begin (\w+) =(.*?)lx_probe_end", re.DOTALL)


def expansions(
    path: str, raw: bytes, options: CppOptions, at: int, names: Iterable[str]
) -> dict[str, str]:
    """What macros expand to in front of the byte `at`; a name that is none expands to itself."""
    lines = [f"lx_probe_begin lx_name_{n} ={n} lx_probe_end" for n in names]
    text = raw[:at] + "\n".join(["", *lines, ""]).encode() + raw[at:]
    done = preprocess(path, decode(text, path), options, Reader())
    found = _PROBE.findall(done.text)
    return {name.removeprefix("lx_name_"): " ".join(value.split()) for name, value in found}
