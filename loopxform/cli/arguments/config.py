"""Options of `loopxform config`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_preprocessor, add_project
from loopxform.cli.parser import Parser
from loopxform.settings.keys import KEYS

EXAMPLES = (
    "config                       the settings of this folder",
    "config src/heat.c            of a file, with the options of its build",
    "config src/heat.c -p build   with build/compile_commands.json",
)

FIRST = ("--format", "--config", "--no-config", "--compile-commands")


def options() -> Parser:
    about = (
        "Prints the settings of a file or a folder, and where each comes from: the command line, "
        "loopxform.toml or pyproject.toml, compile_commands.json. The keys are "
        f"{', '.join(KEYS)} (docs/configuration.md)."
    )
    p = Parser(prog="loopxform config", description=about, allow_abbrev=False)
    p.examples, p.first = EXAMPLES, FIRST
    help = "the C file or the folder (this one)"
    p.add_argument("path", nargs="?", default=".", metavar="FILE.c", help=help)
    p.add_argument("--format", choices=("text", "json"), default="text", help="(text)")
    add_preprocessor(p)
    add_project(p)
    return p
