"""Options of `loopxform tune export`."""

from __future__ import annotations

from loopxform.cli.arguments.running import add_size
from loopxform.cli.arguments.tune_explain import add_kept
from loopxform.cli.parser import Parser

EXAMPLES = (
    "tune export mm.c --format csv                       a line for each candidate",
    "tune export mm.c --format kerneltuner -o mm.json    a cache file of Kernel Tuner",
)


def options() -> Parser:
    p = Parser(
        prog="loopxform tune export",
        description="Writes what tune has measured of a C file in the format of another program. "
        "Measures nothing.",
        allow_abbrev=False,
    )
    p.examples, p.first = EXAMPLES, ("--format",)
    add_kept(p)
    p.add_argument("--format", choices=("csv", "kerneltuner"), default="csv", help="(csv)")
    add_size(p)
    p.add_argument("-o", dest="output", metavar="FILE", help="the file (standard output)")
    return p
