"""The commands with their options, for whoever writes about them: man pages, pages, completion."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.cli.arguments import options
from loopxform.cli.commands import COMMANDS, WITHIN
from loopxform.cli.parser import Parser
from loopxform.records import record


@record
class Command:
    """A command as it is typed, without the program, what it does in a line, and what it takes."""

    name: str
    about: str
    parser: Parser


def commands() -> Iterator[Command]:
    """Each command, followed by those within it."""
    for name, about in COMMANDS.items():
        yield Command(name, about, options(name))
        for within in WITHIN.get(name, ()):
            parser = options(f"{name}_{within}")
            yield Command(f"{name} {within}", WITHIN[name][within], parser)
