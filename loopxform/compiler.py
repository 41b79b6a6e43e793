"""The user's C compiler, `$CC`: where it is, and the macros that it knows before it reads a file.

What it says is kept on disk (`cache`) by its place, its time and what it was asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache

from loopxform.errors import InputError, UsageError
from loopxform.trace import Trace

COMPILERS = ("cc", "gcc", "clang")

LEVEL = "-O2"
"""How a build optimises that does not say: it decides `__OPTIMIZE__`."""

_KEPT = re.compile(
    r"-(std=|ansi$|O|m(?!acro)|f(?!(no-)?(color-|ansi-escape-codes|diagnostics-))|pthread$|trigraphs$|-target=|-sysroot=).*",
    re.DOTALL,
)
_WITH_VALUE = frozenset(["-arch", "-target", "-isysroot"])
_LANGUAGE = re.compile(r"-(std=|ansi$|trigraphs$|O|m).*", re.DOTALL)
_FOREIGN = re.compile(
    r"-(m32|mx32|m16|mabi=ilp32|funsigned-char|fno-signed-char|fshort-(enums|double|wchar)"
    r"|fpack-struct(=\d+)?|fsingle-precision-constant|funsigned-bitfields|fno-signed-bitfields)"
)
_DEFINE = re.compile(r"^#define (\w+)(.*)$", re.MULTILINE)


def find() -> list[str] | None:
    """The compiler with its options: `$CC`, else the first of cc, gcc, clang."""
    wanted = os.environ.get("CC", "").split()
    for name in wanted[:1] or COMPILERS:
        if found := _located(name):
            return [found, *wanted[1:]]
    return None


def _located(name: str) -> str | None:
    """As `shutil.which`, which costs more to load than to run."""
    folders = [""] if os.sep in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    places = (os.path.join(folder, name) for folder in folders)
    return next((p for p in places if os.path.isfile(p) and os.access(p, os.X_OK)), None)


def command() -> list[str]:
    """As `find`. Raises InputError."""
    if (found := find()) is not None:
        return found
    wanted = os.environ.get("CC", "").split()
    raise InputError(
        f"no C compiler: {wanted[0] if wanted else ', '.join(COMPILERS)} not found",
        code="LX051",
        help="install gcc or clang, or set CC; it is needed to run your C as the reference",
    )


def flags(words: Iterable[str]) -> tuple[str, ...]:
    """The options that decide what macros a compiler defines, of all those of a build. Raises
    UsageError for one under which types are not those of the model."""
    taken = list[str]()
    rest = iter(words)
    for word in rest:
        if _FOREIGN.fullmatch(word):
            help = "leave it away: types and constants are those of 64-bit Unix systems here"
            raise UsageError(f"'{word}' is not modelled", help=help, subject=word)
        if word in _WITH_VALUE:
            taken += [word, *(x for x in [next(rest, None)] if x is not None)]
        elif _KEPT.fullmatch(word):
            taken.append(word)
    return tuple(taken)


def language(words: Iterable[str]) -> list[str]:
    """Those of `flags` that leave arithmetic as C has it: the standard, the machine, the level."""
    return [w for w in words if _LANGUAGE.fullmatch(w)]


def stamp() -> list[object]:
    """What the answers depend on besides what is asked."""
    found = find()
    if found is None:
        return []
    about = os.stat(found[0])
    folders = [os.environ.get(x) for x in ("CPATH", "C_INCLUDE_PATH")]
    return [found, os.path.realpath(found[0]), about.st_size, about.st_mtime_ns, folders]


def macros(options: Sequence[str], text: str = "") -> dict[str, str] | None:
    """The macros that are known behind `text`, `(x) body` or ` body` by name; None where there is
    no compiler. Raises InputError where it does not take the options."""
    answer = _ask(("-dM", *options), text)
    if answer is None:
        return None
    known = dict[str, str](_DEFINE.findall(answer))
    if known.get("__SIZEOF_LONG__", " 8").strip() != "8":
        raise InputError(
            "the types of the C compiler are not modelled: its long has not 64 bits",
            code="LX057",
            help="set CC to a compiler for 64 bits",
        )
    return known


def holds(options: Sequence[str], text: str, condition: str) -> bool:
    """Whether `#if condition` holds behind `text`; no where there is no compiler."""
    question = f"{text}#if {condition}\nlx_it_holds\n#endif\n"
    return "lx_it_holds" in (_ask(("-P", *options), question) or "")


def spelled(options: Sequence[str], text: str, macro: str) -> str | None:
    """What a macro behind `text` stands for, as `#` makes a string of it; None where there is no
    compiler."""
    question = f"{text}{_SPELL}lx_spelled lx_spell({macro})\n"
    answer = _ask(("-P", *options), question)
    m = re.search(r'^lx_spelled "(.*)"$', answer or "", re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", m.group(1)) if m else None


_SPELL = "#define lx_spell(...) lx_spell_(__VA_ARGS__)\n#define lx_spell_(...) #__VA_ARGS__\n"


def _ask(options: Sequence[str], text: str) -> str | None:
    found = find()
    return None if found is None else _answer(tuple(found), (LEVEL, *options), text)


@cache
def _answer(compiler: tuple[str, ...], options: tuple[str, ...], text: str) -> str:
    import subprocess  # what only a question needs

    from loopxform.cache import digest, store

    key = digest(repr([stamp(), compiler, options, text]).encode())
    kept = store("compilers")
    known = kept.find(key) if kept else None
    if isinstance(known, str):
        return known
    words = [*compiler, *options, "-w", "-E", "-x", "c", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode and not done.stdout:
        lines = done.stderr.strip().splitlines()
        reason = next((x for x in lines if "error" in x), lines[0] if lines else "it fails")
        raise InputError(
            f"{compiler[0]} cannot be asked for its macros: {reason}",
            code="LX057",
            help="set CC to the compiler of your build, and give its options (--cflags, cflags=)",
        )
    if kept:
        kept.keep(key, Trace[object](), done.stdout)
    return done.stdout
