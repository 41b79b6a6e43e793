"""Options of `loopxform explain`."""

from __future__ import annotations

from loopxform.cli.parser import Parser


def options() -> Parser:
    p = Parser(prog="loopxform explain", description="Explains a step or a diagnostic code.")
    p.add_argument("step", nargs="?", metavar="STEP|CODE", help="without it: all steps")
    return p
