"""The macros that no file of the user's defines: the compiler's own, and those of system headers.

The compiler says which there are (`compiler`); where there is none, `prelude` does. What they stand
for in text is said by `prelude` where that is plainer: `assert`, `INFINITY`. A name is looked up
where it occurs, and only such a name is asked for that may be one of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from loopxform import compiler
from loopxform.errors import InputError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text import prelude
from loopxform.frontend.text.reader import is_file

_PLAIN = frozenset(["unix", "linux", "i386"])
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """__restrict __restrict__ __inline __inline__ __const __const__ __volatile __volatile__
        __signed __signed__ __extension__ __attribute __attribute__ __typeof __typeof__ __asm
        __asm__ __alignof __alignof__ __real__ __imag__ __thread __label__ __func__ __FUNCTION__
        __PRETTY_FUNCTION__ __VA_ARGS__ __VA_OPT__ __LINE__ __FILE__ __DATE__ __TIME__ __COUNTER__
        _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Pragma
        _Static_assert _Thread_local _Float16 __fp16 __bf16 __float128""",
    )
)
"""Reserved names that are words of the language, or computed anew at each place."""

_INCLUDED = re.compile(r"__has_include\s*\(\s*([<\"])([^>\"\n]*)")
_RESERVED = re.compile(r"_[A-Z_]\w*")
_MENTIONED = re.compile(r"\b(?:_[A-Z_]\w*|unix|linux|i386)\b")
_CONSTANT = re.compile(r"[\s()+\-*/<>|&~]*(?:(?:0[xX][\da-fA-F]+|\d+)[uUlL]*[\s()+\-*/<>|&~]*)*")
_NUMBER = re.compile(r" \(?-?(?:0[xX][\da-fA-F]+|\d+)[uUlL]*\)?")
COMPUTED = frozenset(["__LINE__", "__FILE__", "__DATE__", "__TIME__", "__COUNTER__"])
"""Defined everywhere, with other values at each place."""


def may_be(name: str) -> bool:
    """Whether it has the form of a name that compilers and headers define."""
    if name in _WORDS or name.startswith("__builtin_"):
        return False
    return name in _PLAIN or _RESERVED.fullmatch(name) is not None


def mentioned(text: str) -> set[str]:
    """The names in a text that may be macros of the compiler."""
    return set(filter(may_be, _MENTIONED.findall(text)))


_PLACED = frozenset(["__INCLUDE_LEVEL__", "__BASE_FILE__", "__TIMESTAMP__", "__FILE_NAME__"])


@dataclass
class Outside:
    """The view behind the `lines` of the user's files that matter to headers: definitions of
    reserved names, and the system headers that were included."""

    options: CppOptions
    lines: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    """What `prelude` has for the macros of the headers so far."""
    forced: list[str] = field(default_factory=list)
    """The files of -include, which stand in front of the user's."""
    names: set[str] = field(default_factory=set)
    """The macros that these define or undefine."""
    _known: dict[str, str] | None = None

    def include(self, header: str, *, ndebug: bool) -> None:
        """The user includes a system header."""
        for macro, value in prelude.macros_of(header, ndebug=ndebug).items():
            self.headers[macro.partition("(")[0]] = f"{macro} {value}"
        self.line(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif")

    def line(self, text: str) -> None:
        """A directive of the user's that headers may see."""
        self.lines.append(text)
        self._known = None

    def definition(self, name: str) -> str | None:
        """`NAME value` or `NAME(x) value` of a macro, None where it is none. Raises InputError."""
        value = self.known.get(name)
        if value is None:
            return None
        known = self.headers.get(name)
        if known is not None and not _NUMBER.fullmatch(value):
            return known
        if _RESERVED.fullmatch(name) or name in _PLAIN or _CONSTANT.fullmatch(value):
            return name + value
        return f"{name} {name}"

    def is_computed(self, name: str) -> bool:
        """Whether it is defined, with a value that the preprocessor computes at each place."""
        asks = name.startswith("__has_") or name in _PLACED
        return name in COMPUTED or (asks and self.holds(f"defined({name})"))

    def is_bare(self, name: str) -> bool:
        """Whether it is what it is without any header."""
        computed = name.startswith("__has_") and name not in self.known
        return computed or name in self.names or name in self.bare

    def by_header(self, name: str) -> bool:
        """Whether headers define it, and mean the same everywhere."""
        if name in self.names:
            return False
        return name in self.headers or (name in self.known and name not in self.bare)

    def text(self, macro: str) -> str:
        """What `NAME` or `NAME(x)` stands for, as the compiler spells it."""
        if macro.partition("(")[0] in self.names:
            return compiler.spelled(self._with_forced, self._text, macro) or ""
        value = self.known.get(macro, "")
        if _NUMBER.fullmatch(value):
            return value.strip()
        spelled = compiler.spelled(self._options, self._text, macro)
        return value.strip() if spelled is None else spelled

    @property
    def known(self) -> dict[str, str]:
        """The macros as they are defined. Raises InputError."""
        if self._known is None:
            self._known = self._asked()
        return self._known

    def _asked(self) -> dict[str, str]:
        """What the compiler says. A header that it refuses is known by `prelude`."""
        try:
            asked = compiler.macros(self._options, self._text)
        except InputError:
            return {**self._declared, **self.bare}
        return self._ours if asked is None else asked

    @cached_property
    def bare(self) -> dict[str, str]:
        """The macros that no header has a part in. Raises InputError."""
        asked = compiler.macros(self._options)
        return Outside(self.options)._ours if asked is None else asked

    @property
    def _ours(self) -> dict[str, str]:
        own = {n: f" {v}" for n, v in prelude.PREDEFINED.items()}
        own |= {"_OPENMP": " 201511"} if "-fopenmp" in self.options.flags else {}
        return {**own, **self._declared}

    @property
    def _declared(self) -> dict[str, str]:
        return {n: d.removeprefix(n) for n, d in self.headers.items()}

    def finds(self, call: str, beside: Sequence[str]) -> bool:
        """Whether `__has_include` names a header that is `beside` the file, or in the folders of
        -iquote and -I."""
        m = _INCLUDED.match(call)
        o = self.options
        own = [*beside, *o.quote_dirs] if m and m.group(1) == '"' else []
        return m is not None and any(
            is_file(os.path.join(d, m.group(2))) for d in (*own, *o.include_dirs)
        )

    def holds(self, condition: str) -> bool:
        """Whether a condition holds that only the compiler can judge: `__has_include(<x.h>)`."""
        return compiler.holds(self._options, self._text, condition)

    @cached_property
    def _options(self) -> tuple[str, ...]:
        o = self.options
        given = (*(f"-D{d}" for d in o.defines), *(f"-U{n}" for n in o.undefines))
        return (*o.flags, *given)

    @property
    def _with_forced(self) -> tuple[str, ...]:
        o = self.options
        folders = [f"-I{os.path.abspath(d)}" for d in o.include_dirs]
        folders += [f"-iquote{os.path.abspath(d)}" for d in o.quote_dirs]
        files = (word for f in self.forced for word in ("-include", f))
        return (*self._options, *folders, *files)

    @property
    def _text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)
