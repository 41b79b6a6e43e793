"""What several commands share: the C file, its preprocessor, what build systems ask for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from loopxform.cli.parser import Parser
from loopxform.files import escaped
from loopxform.floating_point import LEVELS

SECONDS = 60
"""CPU time that nobody waits for the answers about one file."""

SECONDS_BY_LINES = 30
"""CPU time for each 1000 lines that are to be transformed; begun ones count."""

MEBIBYTES = 800
"""Memory in use beyond which nothing more is started."""


class _Once(argparse.Action):
    """An option that would be passed over where it is given again."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, f"'{values}' is a second one, and one is meant")
        setattr(namespace, self.dest, values)


def parser(
    name: str,
    about: str,
    *,
    examples: Sequence[str],
    first: Sequence[str],
    many: bool = False,
    several: bool = False,
) -> Parser:
    """The parser of a command that reads one C file, or `many`, and is about one function of it,
    or `several`. Help begins with the `examples` and the options `first`."""
    p = Parser(prog=f"loopxform {name}", description=about, allow_abbrev=False)
    p.examples, p.first = examples, first
    if many:
        help = "C files, folders that hold C files, or - for standard input"
        p.add_argument("files", nargs="+", metavar="FILE.c", help=help)
    else:
        p.add_argument("file", metavar="FILE.c", help="the C file, or - for standard input")
    if several:
        help = "a function to use (default: all); may be given several times"
        p.add_argument("--function", metavar="NAME", action="append", default=[], help=help)
    else:
        help = "the function to use, if the file has several"
        p.add_argument("--function", metavar="NAME", action=_Once, help=help)
    add_preprocessor(p)
    add_project(p)
    return p


def add_preprocessor(p: Parser) -> None:
    """-I, -D, -U and --cflags."""
    c = p.add_argument_group("preprocessor")
    for option, into, metavar, help in (
        ("-I", "include", "DIR", "a folder with headers"),
        ("-D", "define", "NAME[=VALUE]", "define a macro"),
        ("-U", "undefine", "NAME", "undefine a macro"),
    ):
        c.add_argument(option, dest=into, action="append", default=[], metavar=metavar, help=help)
    add_cflags(c)


def add_project(p: Parser) -> None:
    """Where what holds for the project of a file is said (docs/configuration.md)."""
    g = p.add_argument_group("project")
    help = "the settings to use, in place of the nearest loopxform.toml or pyproject.toml"
    g.add_argument("--config", metavar="FILE", help=help)
    help = "ignore these files, and any compile_commands.json that you do not name"
    g.add_argument("--no-config", "--isolated", action="store_true", help=help)
    help = "compile_commands.json or its folder, in place of the nearest one; none: use none"
    g.add_argument("--compile-commands", "-p", metavar="FILE|DIR", help=help)


def add_floating_point(group: argparse._ArgumentGroup, default: str) -> None:
    """`--fp`, and `--fp-contract`, which changes a part of it; None where they are not given."""
    words = (
        "what kernels may do with floating point: strict (your C's results, to the last bit), "
        "contract (fuse a*b + c), reassociate (sums in any order), fast (divisions and square "
        f"roots as accurate as the device has them) {default}"
    )
    group.add_argument("--fp", choices=LEVELS, default=None, help=words)
    words = "whether a*b + c may be fused, whatever else --fp permits"
    group.add_argument("--fp-contract", choices=("on", "off"), default=None, help=words)


def add_validate(group: argparse._ActionsContainer) -> None:
    help = "prove that what is written computes what your C does (loopxform validate)"
    group.add_argument("--validate", action="store_true", help=help)


def add_limits(group: argparse._ActionsContainer, beyond: str, *, by_lines: bool = False) -> None:
    """`--time-limit` and `--memory-limit`; `beyond` says what becomes of what they do not allow.
    None is a limit `by_lines` of the file."""
    default = f"{SECONDS_BY_LINES} for each 1000 lines" if by_lines else str(SECONDS)
    group.add_argument(
        "--time-limit",
        default=None if by_lines else str(SECONDS),
        metavar="SECONDS",
        help=f"CPU time for a file (default {default}); {beyond}",
    )
    group.add_argument(
        "--memory-limit",
        default=str(MEBIBYTES),
        metavar="MIB",
        help=f"memory to use (default {MEBIBYTES}); {beyond}",
    )


def add_dask(group: argparse._ActionsContainer, what: str) -> None:
    help = f"the scheduler of a Dask cluster whose workers {what}: tcp://HOST:8786"
    group.add_argument("--dask", metavar="ADDRESS", help=help)


def add_cflags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--cflags",
        nargs=argparse.REMAINDER,
        default=[],
        metavar="OPTION",
        help="your compiler's options, to the end of the line; loopxform uses those that change "
        "what the file means",
    )
    group.add_argument("--cflags-file", metavar="FILE", help="a file of such options, one per line")


def add_build_options(p: argparse.ArgumentParser) -> None:
    """-MD, -MF, -MT and -MQ, as cc has them (-MF alone is enough; -MP is there unless --no-phony),
    and --no-cache."""
    group = p.add_argument_group("build systems")
    group.add_argument(
        "--no-phony",
        action="store_true",
        help="write no phony targets for headers: only make needs them",
    )
    group.add_argument(
        "--no-cache",
        action="store_true",
        help="ignore cached results (docs/building.md)",
    )
    group.add_argument(
        "-MD", dest="rule", action="store_true", help="write a dependency rule for make (NAME.d)"
    )
    group.add_argument(
        "-MF", dest="rule_file", metavar="FILE", help="where to write the rule (NAME.d in DIR)"
    )
    group.add_argument(
        "-MT",
        dest="rule_targets",
        action="append",
        metavar="TARGET",
        help="the target of the rule, taken as is (default: the files written)",
    )
    group.add_argument(
        "-MQ",
        dest="rule_targets",
        action="append",
        type=escaped,
        metavar="TARGET",
        help="the same, with characters escaped that make treats specially",
    )
