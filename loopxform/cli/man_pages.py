"""Man pages: loopxform(1), and one for each command, loopxform-tile(1)."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Iterator

from loopxform import __version__
from loopxform.cli import overview
from loopxform.cli.commands import COMMANDS
from loopxform.cli.help_text import FIRST, SUPPRESSED, expanded, invocations, sections, split
from loopxform.cli.manual import Command, commands

EXIT_STATUS = (
    ("0", "Done, or legal."),
    ("1", "Illegal, refused, or results that differ."),
    ("2", "Input or a command line that makes no sense."),
    ("101", "An internal error: please report it."),
)

ENVIRONMENT = (
    ("CC", "The C compiler (cc)."),
    ("LOOPXFORM_CACHE", "The folder where results are kept, or off."),
    ("LOOPXFORM_TUNING", "A tuning file or folder that a program reads when it runs."),
    ("LOOPXFORM_VERBOSE", "1: a program says which loops run on the device."),
    ("NO_COLOR", "If set, diagnostics have no colours."),
)

FILES = (
    ("NAME.tuning", "What loopxform tune found for NAME.c; tile, offload and run read it."),
    ("NAME.DEVICE.tuning", "The same for one of several devices."),
)


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    every = {c.name: c for c in commands()}
    lines = {"loopxform": _program(every), **{_page(c.name): _command(c) for c in every.values()}}
    return {f"{page}.1": "\n".join([*lines[page], ""]) for page in lines}


def _program(every: dict[str, Command]) -> Iterator[str]:
    yield from _opening("loopxform", "transform C loop nests to proven, tiled OpenCL")
    yield from (".SH SYNOPSIS", r".B loopxform", r"\fICOMMAND\fR [\fIOPTION\fR ...] \fIFILE.c\fR")
    yield ".SH DESCRIPTION"
    yield _text(
        "loopxform reads ordinary C loop nests, proves which transformations are legal, and writes "
        "block- and register-tiled OpenCL with the C code that launches it. If it cannot prove a "
        "step, it refuses, with the line, the reason and a remedy."
    )
    yield ".SH COMMANDS"
    for title, names in overview.grouped():
        yield f".SS {_text(title)}"
        for c in every.values():
            if c.name.partition(" ")[0] in names:
                yield from (".TP", rf"\fB{_text(c.name)}\fR", f"{_text(_sentence(c.about))}")
                yield rf"See \fB{_text(_page(c.name))}\fR(1)."
    yield ".SH OPTIONS"
    yield from _terms([("-V, --version", "Print the version.")])
    folder = "Print the folder for the variable Loopxform_DIR of CMake."
    yield from _terms([("-h, --help", "List the commands."), ("--cmakedir", folder)])
    for title, terms in (
        ("EXIT STATUS", EXIT_STATUS),
        ("ENVIRONMENT", ENVIRONMENT),
        ("FILES", FILES),
    ):
        yield f".SH {title}"
        yield from _terms(terms)
    yield ".SH EXAMPLES"
    yield from _examples(e.removeprefix("loopxform ") for e in overview.EXAMPLES)
    yield from _see_also(_page(name) for name in COMMANDS)


def _command(c: Command) -> Iterator[str]:
    yield from _opening(_page(c.name), c.about)
    yield from (".SH SYNOPSIS", rf".B loopxform {_text(c.name)}")
    takes = " ".join(rf"\fI{_text(word)}\fR" for word in c.parser.positional.split())
    yield rf"[\fIOPTION\fR ...] {takes}".rstrip()
    yield from (".SH DESCRIPTION", _text(c.parser.description or ""))
    yield ".SH OPTIONS"
    if c.parser.first:
        yield f"{_text(FIRST.capitalize())}:"
        yield ", ".join(rf"\fB{_text(name)}\fR" for name in c.parser.first) + "."
    for title, about, actions in sections(c.parser):
        shown = [a for a in actions if a.help != SUPPRESSED]
        if shown:
            yield f".SS {_text(title)}"
            if about:
                yield _text(_sentence(about))
            for a in shown:
                yield from (".TP", _invocation(a), _text(expanded(c.parser, a)) or r"\&")
    if c.parser.epilog:
        title, _, text = c.parser.epilog.partition(":\n")
        yield from (f".SH {_text(title.upper())}", ".nf", _text(text), ".fi")
    if c.parser.examples:
        yield ".SH EXAMPLES"
        yield from _examples(c.parser.examples)
    yield from (".SH EXIT STATUS", *_terms(EXIT_STATUS))
    yield from _see_also(["loopxform"])


def _opening(page: str, about: str) -> Iterator[str]:
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    yield f'.TH {_text(page.upper())} 1 {date} "loopxform {__version__}" "User Commands"'
    yield from (".nh", ".ad l", ".SH NAME", rf"{_text(page)} \- {_text(about)}")


def _terms(terms: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, text in terms:
        yield from (".TP", rf"\fB{_text(term)}\fR", _text(text))


def _examples(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        command, remark = split(line)
        yield from (".TP", rf"\fBloopxform {_text(command)}\fR")
        yield _text(_sentence(remark)) if remark else r"\&"


def _see_also(names: Iterable[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ",\n".join(rf"\fB{_text(name)}\fR(1)" for name in names)


def _invocation(action: argparse.Action) -> str:
    names, value = invocations(action)
    written = ", ".join(rf"\fB{_text(name)}\fR" for name in names)
    return rf"{written} \fI{_text(value)}\fR" if value else written


def _page(command: str) -> str:
    return "-".join(["loopxform", *command.split()])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")


def _text(text: str) -> str:
    """What troff prints as it stands."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    escaped = escaped.replace("^", r"\(ha").replace("~", r"\(ti").replace("`", r"\(ga")
    return "\n".join(rf"\&{x}" if x.startswith((".", r"\(aq")) else x for x in escaped.split("\n"))
