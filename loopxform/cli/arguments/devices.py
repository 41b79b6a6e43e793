"""Options of `loopxform devices`."""

from __future__ import annotations

from loopxform.cli.parser import Parser


def options() -> Parser:
    p = Parser(
        prog="loopxform devices",
        description="Lists devices that kernels can run on, and named profiles.",
    )
    p.add_argument("--profiles", action="store_true", help="only the profiles")
    return p
