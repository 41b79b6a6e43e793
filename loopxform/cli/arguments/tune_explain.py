"""Options of `loopxform tune explain`."""

from __future__ import annotations

from loopxform.cli.parser import Parser

EXAMPLES = ("tune explain mm.c      the quickest candidates, and why others have no time",)


def options() -> Parser:
    p = Parser(
        prog="loopxform tune explain",
        description="Prints what tune has measured of a C file: the ten quickest candidates, each "
        "with the interval that its time lies in with a probability of 95 % and its rank by the "
        "cost model, and how many candidates have no time, by reason. Measures nothing.",
        allow_abbrev=False,
    )
    p.examples = EXAMPLES
    add_kept(p)
    return p


def add_kept(p: Parser) -> None:
    """What names measurements that were kept."""
    help = "the C file that was tuned, or a file of measurements (NAME.shard1of2.jsonl)"
    p.add_argument("file", metavar="FILE", help=help)
    p.add_argument("--function", metavar="NAME", help="one function (default: all that were tuned)")
    p.add_argument("--device", metavar="NAME", help="part of the name of the device, if several")
    help = "a folder that processes have shared, in place of what this machine keeps"
    p.add_argument("--shared", metavar="DIR", help=help)
