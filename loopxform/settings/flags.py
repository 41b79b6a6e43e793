"""Options of C compilers, as far as they change the text that the compiler sees.

Taken: -I, -iquote, -isystem, -idirafter, -D, -U, -include, and what decides the macros of the
compiler (`compiler.flags`: -std, -O, -m, -f). What changes the text in a way that is not modelled
is refused; the rest is passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from loopxform import compiler
from loopxform.errors import UsageError
from loopxform.records import record

_TAKEN = re.compile(r"-(isystem|idirafter|iquote|include|[IDU])(.*)", re.DOTALL)
_REFUSED = re.compile(
    r"-(imacros|include-pch|iprefix|iwithprefix|Wp,(?!-M)|Xpreprocessor).*|-I-|@.*", re.DOTALL
)
_WITH_VALUE = frozenset(
    [
        *("-o", "-x", "-MF", "-MT", "-MQ", "-L", "-l", "-T", "-u", "-z", "-arch", "-target"),
        *("-isysroot", "-framework", "--param", "-B", "-aux-info", "-dumpbase"),
    ]
)
_FOR_OTHERS = frozenset(["-Xclang", "-Xlinker", "-Xassembler", "-mllvm"])
"""The word that follows is for another program."""

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
DEFINITION = re.compile(r"[A-Za-z_]\w*(\([\w\s,.]*\))?(=[^\n]*)?", re.ASCII)


@record
class Flags:
    """Folders of headers in the order in which they are searched (`quote`: for `"x.h"` alone,
    `system` and `after` behind the others), macros, the files that stand in front of the C file
    (-include), and the options that decide what the compiler defines itself."""

    include: tuple[str, ...] = ()
    quote: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    undefine: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """Where `<x.h>` is searched."""
        return (*self.include, *self.system, *self.after)

    @property
    def rest(self) -> tuple[str, ...]:
        """The options that are neither folders for all headers nor macros, as words."""
        quoted = (word for folder in self.quote for word in ("-iquote", folder))
        forced = (word for file in self.forced for word in ("-include", file))
        return (*self.flags, *quoted, *forced)

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """The arguments of `loopxform.load`."""
        return {
            "include": self.folders,
            "define": self.define,
            "undefine": self.undefine,
            "cflags": self.rest,
        }

    @property
    def words(self) -> tuple[str, ...]:
        """The options of a C compiler that say the same."""
        given = (("-I", self.folders), ("-D", self.define), ("-U", self.undefine))
        return (
            *(word for option, values in given for v in values for word in (option, v)),
            *self.rest,
        )

    def over(self, other: Flags) -> Flags:
        """Both: folders of these are searched first, and their word about a macro counts."""
        own = {macro(d) for d in (*self.define, *self.undefine)}
        return Flags(
            (*self.include, *other.include),
            (*self.quote, *other.quote),
            (*self.system, *other.system),
            (*self.after, *other.after),
            (*(d for d in other.define if macro(d) not in own), *self.define),
            (*(n for n in other.undefine if n not in own), *self.undefine),
            (*other.forced, *self.forced),
            (*other.flags, *self.flags),
        )


def macro(definition: str) -> str:
    """The name that `NAME`, `NAME=VALUE` or `NAME(x)=VALUE` defines."""
    return re.split(r"\W", definition, maxsplit=1)[0]


def flags_of(words: Iterable[str], folder: str = "") -> Flags:
    """What the options of a compiler come to that runs in `folder`.

    Raises UsageError, with the word, for one that is not modelled.
    """
    every = list(_own(words))
    into: dict[str, list[str]] = {option: [] for option in _FIELDS}
    for option, value in _options(every):
        if option == "D":  # of -D and -U of one name the last counts
            into["U"] = [n for n in into["U"] if n != macro(value)]
        elif option == "U":
            into["D"] = [d for d in into["D"] if macro(d) != value]
        into[option].append(_placed(option, value, folder))
    kept = compiler.flags(every)
    fields = {name: tuple(into[option]) for option, name in _FIELDS.items()}
    return Flags(**fields, flags=kept)


_FIELDS = {
    "I": "include",
    "iquote": "quote",
    "isystem": "system",
    "idirafter": "after",
    "D": "define",
    "U": "undefine",
    "include": "forced",
}
"""The fields of `Flags` by the options that they are from."""


def _placed(option: str, value: str, folder: str) -> str:
    """A folder or a file as it is reached from here; a file to include may be in a folder of
    headers too."""
    if option in ("D", "U") or not folder:
        return value
    path = reached(os.path.join(folder, value))
    return value if option == "include" and not os.path.isfile(path) else path


def reached(path: str) -> str:
    """The path from the folder we are in where it is below, else the absolute one."""
    whole, here = os.path.abspath(path), os.path.join(os.getcwd(), "")
    if os.path.join(whole, "") == here:
        return "."
    return whole[len(here) :] if whole.startswith(here) else whole


def _own(words: Iterable[str]) -> Iterator[str]:
    """The words that are for the compiler itself."""
    rest = iter(words)
    for word in rest:
        if word in _FOR_OTHERS:
            next(rest, None)
        elif word:
            yield word


def _options(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every option that counts, and its value. Raises UsageError."""
    rest = iter(words)
    for word in rest:
        if _REFUSED.fullmatch(word):
            message, help = f"'{word}' is not modelled", "name folders with -I, macros with -D"
            raise UsageError(message, help=help, subject=word)
        if m := _TAKEN.fullmatch(word):
            value = m[2] or next(rest, None)
            if value is None:
                raise UsageError(f"'{word}' needs a value", help=f"{word} VALUE", subject=word)
            yield m[1], value
        elif word in _WITH_VALUE:
            next(rest, None)


def require_macros(define: Iterable[str], undefine: Iterable[str]) -> None:
    """Raises UsageError, with the text, for one that defines or undefines no macro."""
    for texts, form, example in (
        (define, DEFINITION, "-D NAME, -D NAME=VALUE or -D 'NAME(A,B)=VALUE'"),
        (undefine, NAME, "-U NAME"),
    ):
        for text in texts:
            if not form.fullmatch(text) or text.partition("=")[0] == "defined":
                option = example[:2]
                raise UsageError(
                    f"{option} needs the name of a macro, not {text!r}",
                    code="LX023",
                    help=example,
                    subject=text or option,
                )
