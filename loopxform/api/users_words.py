"""The words of the user's files that what is written into them may not meet: macros, and functions
that C's library has too."""

from __future__ import annotations

import re

from loopxform.api.source import SourceFile
from loopxform.codegen.c.words import FUNCTIONS, OF_NO_OTHER
from loopxform.codegen.host.names import renamed
from loopxform.codegen.host.set_aside import is_static, taken, taken_of_opencl, words
from loopxform.errors import EmitError
from loopxform.frontend.text.rawtext import place, without_comments
from loopxform.source import Loc


def require_free(file: SourceFile, text: str) -> None:
    """Raises EmitError where a word of the user's would change what `text`, which is written into
    the file, means."""
    if (name := taken(text, defined_macros(file))) is not None:
        raise EmitError(
            f"the macro '{name}' would change the C that is written",
            loc=_found_at(file, re.compile(_DEFINED.format(name=name), re.MULTILINE)),
            help=renamed(name),
        )
    own = plain_text(file)
    ours = (f for f in functions_of_c(file) if f in words(text))
    if (name := taken_of_opencl(text, own) or next(ours, None)) is not None:
        raise EmitError(
            f"'{name}' means something else in the C file that is written",
            loc=_found_at(file, re.compile(rf"\b({name})\b")),
            help=renamed(name),
        )
    linked = (f for f in functions_of_c(file) if f not in OF_NO_OTHER and not is_static(f, own))
    if (name := next(linked, None)) is not None:
        raise EmitError(
            f"'{name}' is a function of C's library as well: OpenCL would call yours",
            loc=_found_at(file, re.compile(rf"\b({name})\b")),
            help=f"declare it static, or {renamed(name)}",
        )


def functions_of_c(file: SourceFile) -> list[str]:
    """Functions that the file defines and C's library has too: those of OpenCL call what is linked
    by such a name."""
    own = {*(r.name for r in file.routines()), *file.parsed.failed}
    return sorted(own & FUNCTIONS)


def plain_text(file: SourceFile) -> str:
    """All text of the user's, without comments."""
    sources = file.parsed.sources
    return "\n".join(without_comments(sources.text(f) or "") for f in file.parsed.dependencies)


def defined_macros(file: SourceFile) -> list[str]:
    """Those that the user's files define, and those that are given."""
    own = (m.group(1) for m in _DEFINE.finditer(plain_text(file)))
    given = (d for name in file.parsed.options.defines for d in _WORD.findall(name)[:1])
    return list(dict.fromkeys([*own, *given]))


def _found_at(file: SourceFile, what: re.Pattern[str]) -> Loc | None:
    for f in file.parsed.dependencies:
        text = file.parsed.sources.text(f) or ""
        for m in what.finditer(without_comments(text)):
            return place(f, text, m.start(1))
    return None


_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = r"^[ \t]*#[ \t]*define[ \t]+({name})\b"
_DEFINE = re.compile(_DEFINED.format(name=r"\w+"), re.MULTILINE)
