"""C that asks whether the macros which decided a text are what they were when it was read.

Where they are not, other text is compiled elsewhere: a file of its own is an `#error`, as it has no
loops but those that were read; in the user's file the user's loops run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from loopxform.codegen.render import c_literal
from loopxform.ir.decisions import Decision, Defined, Event, Expands, Holds, Line
from loopxform.records import record

_NUMBER = re.compile(r"\(?-?(?:0[xX][\da-fA-F]+|\d+)[uUlL]*\)?")
_SPELL = (
    "#define LX_SPELL(...) LX_SPELL_(__VA_ARGS__)",
    "#define LX_SPELL_(...) #__VA_ARGS__",
)


def errors(events: Sequence[Event], origin: str) -> str:
    """Lines above all others of a file that stands for text of `origin`."""
    if not events:
        return ""
    lines = [f"/* The macros that decided which text of {_plain(origin)} this stands for. */"]
    lines += _SPELL if any(isinstance(e, Expands) and test(e) is None for e in events) else ()
    for n, e in enumerate(events):
        lines += e.text.splitlines() if isinstance(e, Line) else _error(e, origin, n)
    return "\n".join([*lines, ""])


def _error(e: Decision, origin: str, n: int) -> Iterator[str]:
    differs = test(e)
    if differs is not None:
        yield f"#if {differs}"
        yield f'#error "{_sentence(e, origin)}"'
        yield "#endif"
        return
    assert isinstance(e, Expands)
    yield f"/* {_sentence(e, origin)} */"
    yield "#ifdef __GNUC__"
    same = f"__builtin_strcmp(LX_SPELL({e.name}), {c_literal(e.text or '')}) == 0"
    yield f"typedef char lx_the_macro_is_not_what_it_was_{n}[{same} ? 1 : -1];"
    yield "#endif"


def _sentence(e: Decision, origin: str) -> str:
    read = f"{_plain(origin)} was read with {_plain(str(e))}, other than here"
    return f"{read}: give loopxform the options of this build with --cflags"


def test(e: Decision) -> str | None:
    """The condition of an `#if` that holds where the answer is another; None where none can."""
    match e:
        case Defined(name, holds):
            return f"{'!' if holds else ''}defined({name})"
        case Holds(condition, _, holds):
            return f"!({condition})" if holds else condition
        case Expands(name, None):
            return f"defined({name})"
        case Expands(name, text):
            number = text is not None and _NUMBER.fullmatch(text)
            return f"!defined({name}) || ({name}) != ({text})" if number else None
        case _:
            assert_never(e)


@record
class Mark:
    """A C condition that holds where an answer is another; and lines for the top of the user's
    file, in front of all that it defines, which the condition takes."""

    decision: Decision
    differs: str
    lines: tuple[str, ...]


def marks(decisions: Iterable[Decision]) -> Iterator[Mark]:
    """One for each answer."""
    for n, e in enumerate(dict.fromkeys(decisions)):
        differs = test(e)
        if differs is not None:
            yes, no = f"#define LX_OTHER_{n} 1", f"#define LX_OTHER_{n} 0"
            yield Mark(e, f"LX_OTHER_{n}", (f"#if {differs}", yes, "#else", no, "#endif"))
        else:
            assert isinstance(e, Expands)
            line = f"static const char lx_spelled_{n}[] = LX_SPELL({e.name});"
            same = f"lx_same_text(lx_spelled_{n}, {c_literal(e.text or '')})"
            yield Mark(e, f"!{same}", (*_SPELL, line))


def _plain(text: str) -> str:
    """Text that an `#error` and a comment can hold."""
    return re.sub(r"[^ -~]|[\"\\]", "'", text).replace("*/", "* /").replace("/*", "/ *")
