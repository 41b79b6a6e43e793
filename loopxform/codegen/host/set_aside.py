"""Text of ours in a user's file, whatever macros the user has: those that it mentions, and those
that a header might, are set aside around it.

    #pragma push_macro("min")
    #undef min
    static int min(int a, int b);
    #pragma pop_macro("min")

What the headers of our text define is set aside from the user's text as well: behind `pop_macro`,
`LINE_MAX` is a constant of the user's again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from loopxform.codegen.c.words import MACRO

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_OURS = re.compile(r"(?:lx|LX|CL)_\w*")
_COMPILERS = re.compile(r"__(?:GNUC|linux|cplusplus)(?:__)?|__ATOMIC_\w+")
_ASKED_BY_HEADERS = re.compile(r"_[A-Z_]\w*|CL_\w*|NDEBUG")

_OF_HEADERS = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9_]|st_[acm]time|sched_priority")
"""What macros of headers are called."""
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<", re.MULTILINE)
_INCLUDES_OPENCL = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(?:CL|OpenCL)/", re.MULTILINE)
_OPENCL = re.compile(r"(?:CL|cl)_\w*|cl[A-Z]\w*")

_STANDARD = {
    "NULL": "((void *)0)",
    "CHAR_BIT": "8",
    "CHAR_MIN": "((char)-1 < 0 ? -128 : 0)",
    "INT_MAX": "2147483647",
    "SIZE_MAX": "((size_t)-1)",
    "SEEK_SET": "0",
    "SEEK_END": "2",
    "HUGE_VAL": "__builtin_huge_val()",
    "INFINITY": "__builtin_inff()",
    "NAN": '__builtin_nanf("")',
    "offsetof(type, member)": "__builtin_offsetof(type, member)",
}
"""What our text takes from headers that the user's may have been in front of."""

NEEDED = (
    "#if !defined(__GNUC__) && !defined(_MSC_VER) && !defined(__TINYC__)",
    '#error "loopxform: this compiler may not know push_macro, which the text below needs"',
    "#endif",
)


def words(text: str) -> frozenset[str]:
    """Those that macros could stand for."""
    return frozenset(_WORD.findall(_STRING.sub("", text)))


def taken(text: str, macros: Iterable[str]) -> str | None:
    """A macro of the user's with a name that we define ourselves."""
    mentioned = words(text) - {"CL_TARGET_OPENCL_VERSION"}
    return next((m for m in macros if m in mentioned and _OURS.fullmatch(m)), None)


def taken_of_opencl(text: str, own: str) -> str | None:
    """A name of OpenCL that our text has and the user's has for something else."""
    if _INCLUDES_OPENCL.search(own):
        return None
    return next((w for w in sorted(words(own) & words(text)) if _OPENCL.fullmatch(w)), None)


def is_static(function: str, own: str) -> bool:
    """Whether the user's text declares a function to be nobody else's."""
    return re.search(rf"\bstatic\b[^;{{}}()=]*\b{function}\s*\(", own) is not None


def theirs(own: str, macros: Iterable[str]) -> list[str]:
    """The words of the user's text that macros of the headers of ours might stand for below, but
    for the user's own macros, and what a header that the user includes has said."""
    named = (w for w in words(own).difference(macros) if _OF_HEADERS.fullmatch(w))
    includes = _INCLUDES.search(own) is not None
    said = (w for w in named if not (includes and MACRO.fullmatch(w)))
    return sorted(w for w in said if not _OURS.fullmatch(w))


def behind(lines: Iterable[str]) -> frozenset[str]:
    """The words that macros of ours stand for, which these lines define."""
    return words("\n".join(x for x in lines if x.lstrip(" #").startswith("define")))


def apart(
    lines: Sequence[str],
    macros: Iterable[str],
    behind: frozenset[str],
    kept: Iterable[str] = (),
) -> list[str]:
    """`lines` without the `macros` that they mention or that are `behind` macros of ours, but for
    those that are `kept`: asked for."""
    mentioned = (words("\n".join(lines)) | behind).difference(kept)
    return _around(lines, [m for m in _movable(macros) if m in mentioned])


def headers_apart(
    lines: Sequence[str], macros: Iterable[str], theirs: Sequence[str], functions: Sequence[str]
) -> list[str]:
    """`lines` that include headers, without any of the `macros`, but for those that are meant for
    headers. Below, the words that are `theirs` are what they are above; functions of headers with
    the names of these `functions` of the user's have others."""
    mentioned = words("\n".join(lines))
    lines = [
        *(f"#define {f} lx_{f}_of_headers" for f in functions),
        *lines,
        *(f"#undef {f}" for f in functions),
    ]
    moved = [m for m in _movable(macros) if m in mentioned or not _ASKED_BY_HEADERS.fullmatch(m)]
    return [
        *(NEEDED if theirs and not moved else ()),
        *(f'#pragma push_macro("{m}")' for m in theirs),
        *_around(lines, moved),
        *(f'#pragma pop_macro("{m}")' for m in reversed(theirs)),
    ]


def _movable(macros: Iterable[str]) -> Iterator[str]:
    return (m for m in macros if not (_OURS.fullmatch(m) or _COMPILERS.fullmatch(m)))


def _around(lines: Sequence[str], macros: Sequence[str]) -> list[str]:
    return [*_begin(macros), *lines, *(f'#pragma pop_macro("{m}")' for m in reversed(macros))]


def _begin(macros: Sequence[str]) -> Iterator[str]:
    standard = {m.partition("(")[0]: f"#define {m} {text}" for m, text in _STANDARD.items()}
    yield from NEEDED if macros else ()
    for m in macros:
        yield f'#pragma push_macro("{m}")'
        yield f"#undef {m}"
        if m in standard:
            yield standard[m]
