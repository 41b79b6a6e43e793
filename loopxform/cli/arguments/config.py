"""Options of `loopxform config`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_preprocessor, add_project
from loopxform.cli.parser import Parser
from loopxform.settings.keys import KEYS

EXAMPLES = (
    "config                       what holds in this folder",
    "config src/heat.c            for a file, with the options that its build has for it",
    "config src/heat.c -p build   with this compile_commands.json",
)

FIRST = ("--format", "--config", "--no-config", "--compile-commands")


def options() -> Parser:
    about = (
        "Prints what holds for a file or a folder, and where each part of it is said: on the "
        "command line, in loopxform.toml or pyproject.toml, in compile_commands.json. The keys are "
        f"{', '.join(KEYS)} (docs/configuration.md)."
    )
    p = Parser(prog="loopxform config", description=about, allow_abbrev=False)
    p.examples, p.first = EXAMPLES, FIRST
    help = "the C file or the folder (this one)"
    p.add_argument("path", nargs="?", default=".", metavar="FILE.c", help=help)
    p.add_argument("--format", choices=("text", "json"), default="text")
    add_preprocessor(p)
    add_project(p)
    return p
