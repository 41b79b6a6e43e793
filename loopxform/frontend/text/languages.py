"""Files that hold something else than C, told by name: where they cannot be read, that is why."""

from __future__ import annotations

import re
from pathlib import PurePath

from loopxform.errors import InputError, LoopxformError
from loopxform.records import record
from loopxform.source import Loc

MAGIC = {
    b"\x7fELF": "an object file or a program (ELF)",
    b"!<arch>\n": "a library of object files",
    b"MZ": "a program (Windows)",
    b"\xcf\xfa\xed\xfe": "an object file or a program (Mach-O)",
    b"BC\xc0\xde": "LLVM bitcode",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed (gzip)",
    b"\x89PNG": "a picture (PNG)",
    b"%PDF": "a document (PDF)",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
"""How files begin that are not text in an encoding that extends ASCII."""


@record
class Language:
    """A language by the endings of its files, and by what C cannot have."""

    name: str
    endings: tuple[str, ...]
    signs: re.Pattern[str] | None
    help: str


def _signs(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.MULTILINE)


KERNELS = "kernels are what is written: give the C loops that they stand for"
OTHERS = "write the loops as a C function in a file of its own"

LANGUAGES = (
    Language(
        "CUDA",
        (".cu", ".cuh"),
        _signs(r"\b__(?:global|device|host)__\b", r"<<<"),
        KERNELS,
    ),
    Language(
        "OpenCL C",
        (".cl", ".ocl"),
        _signs(r"\b__kernel\b", r"^[ \t]*kernel\s+void\b", r"\bget_(?:global|local|group)_id\b"),
        KERNELS,
    ),
    Language(
        "C++",
        (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx", ".tpp", ".ipp"),
        _signs(
            r"\bnamespace\s+\w+\s*\{",
            r"\btemplate\s*<\s*(?:typename|class|int|unsigned|bool)\b",
            r"\bclass\s+\w+\s*(?:final\s*)?[:{]",
            r"\busing\s+namespace\b",
            r"\b\w+::\w+",
            r"^[ \t]*(?:public|private|protected)\s*:",
            r"\b(?:static|reinterpret|const|dynamic)_cast\s*<",
            r"^[ \t]*#\s*include\s*<(?:iostream|vector|string|array|algorithm)>",
            r"^[ \t]*#\s*include\s*<c(?:math|stdio|stdlib)>",
        ),
        f'{OTHERS}, declared extern "C" for C++',
    ),
    Language(
        "Fortran",
        (".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".F90"),
        _signs(
            r"(?i:^[ \t]*(?:subroutine\s+\w+|implicit\s+none)\b)",
            r"(?i:^[ \t]*end\s*(?:do|\s(?:subroutine|program))\b)",
        ),
        f"{OTHERS}, called through iso_c_binding",
    ),
    Language(
        "Objective-C",
        (".m", ".mm"),
        _signs(r"^[ \t]*#\s*import\b", r"^[ \t]*@(?:interface|implementation)"),
        OTHERS,
    ),
    Language("assembly", (".s", ".S", ".asm"), None, OTHERS),
    Language("Python", (".py",), None, OTHERS),
    Language("Rust", (".rs",), None, OTHERS),
    Language("Java", (".java",), None, OTHERS),
    Language("Go", (".go",), None, OTHERS),
    Language("Julia", (".jl",), None, OTHERS),
)
"""Those whose signs are the rarest in the others first."""


def binary(data: bytes) -> str:
    """What a file holds that is no text."""
    return next((kind for start, kind in MAGIC.items() if data.startswith(start)), "binary")


def named(error: LoopxformError, text: str) -> InputError | None:
    """The error of a file that cannot be read, where that is because of its language; `text` is
    that of the file, without comments and literals. None for C."""
    if error.loc is None:
        return None
    path = error.loc.file
    found = _by_ending(path) or _by_sign(text)
    if found is None:
        return None
    sign = found.signs.search(text) if found.signs else None
    foreign = InputError(
        f"{path} is {found.name}, not C",
        loc=_place(path, text, sign) if sign else error.loc,
        notes=[f"as C: {error.loc.line}:{error.loc.column}: {error.message}"],
        help=found.help,
        width=len(sign[0].lstrip()) if sign else error.width,
    )
    foreign.sources = error.sources
    return foreign


def _by_ending(path: str) -> Language | None:
    ending = PurePath(path).suffix
    return next((x for x in LANGUAGES if ending in x.endings), None)


def _by_sign(text: str) -> Language | None:
    """C headers have signs of C++ for compilers of that language."""
    if "__cplusplus" in text:
        return None
    return next((x for x in LANGUAGES if x.signs and x.signs.search(text)), None)


def _place(path: str, text: str, sign: re.Match[str]) -> Loc:
    start = sign.end() - len(sign[0].lstrip())
    line = text.count("\n", 0, start) + 1
    return Loc(path, line, start - (text.rfind("\n", 0, start) + 1) + 1)
