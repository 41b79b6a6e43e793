"""Options of `loopxform tune merge`."""

from __future__ import annotations

from loopxform.cli.parser import Parser

EXAMPLES = (
    "tune merge mm.shard*.jsonl       the quickest of what several runs measured, in mm.tuning",
    "tune merge shared/*.jsonl -o .   the same for a folder that several processes measured in",
)


def options() -> Parser:
    p = Parser(
        prog="loopxform tune merge",
        description="Combines what runs of tune --shard or --shared have measured, and writes the"
        " quickest sizes to NAME.tuning, or NAME.DEVICE.tuning. Measures nothing. It keeps the"
        " measurements: a later run of tune on a device only lets the best race.",
        allow_abbrev=False,
    )
    p.examples, p.first = EXAMPLES, ("-o",)
    p.add_argument("files", nargs="+", metavar="FILE.jsonl", help="what was measured")
    help = "where to write (the folder of the first FILE.jsonl)"
    p.add_argument("-o", dest="output", metavar="DIR", help=help)
    return p
