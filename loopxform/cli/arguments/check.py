"""Options of `loopxform check`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_dask, add_limits, parser
from loopxform.cli.parser import Parser

EXAMPLES = (
    "check mm.c                             every loop, and the dependences between iterations",
    "check mm.c --can 'interchange i j'     is a step legal?",
    "check mm.c --require parallel:5        exit status 1 unless the loop on line 5 is parallel",
    "check src -j 8                         all .c files of a folder, eight at a time",
    "check src --stats                      how many loops are decided, and why not the others",
    "check src --write-baseline known.json  writes the findings of today",
    "check src --baseline known.json        exit status 1 only for what is new",
    "check src --sarif found.sarif          also writes the findings, for code scanning",
)

FIRST = (
    *("--can", "--require", "--format", "--stats", "--baseline", "--function", "-j"),
    *("--time-limit", "-I", "-D"),
)

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")


def options() -> Parser:
    p = parser(
        "check",
        "Judges every loop: yes, reduction, privatizable, no, or unknown.",
        many=True,
        examples=EXAMPLES,
        first=FIRST,
    )
    help = "text for people (the default); concise: a line for each finding; others: for tools"
    p.add_argument("--format", choices=FORMATS, default="text", help=help)
    p.add_argument("--line", metavar="N", help="only the loops that begin on this line")
    p.add_argument(
        "--can",
        action="append",
        default=[],
        metavar="STEP",
        help="ask whether a step is legal: 'interchange i j' (exit status 1: it is not)",
    )
    p.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="VERDICT:LINE",
        help="exit status 1 unless the loop is parallel:LINE, privatizable:LINE or reduction:LINE",
    )
    help = "count the loops that are decided, and what stands in the way of the others"
    p.add_argument("--stats", action="store_true", help=help)
    help = "C files and folders of the program, where calls may lead (default: FILE.c ...)"
    p.add_argument("--program", action="append", default=[], metavar="PATH", help=help)
    c = p.add_argument_group("continuous integration (docs/ci.md)")
    help = "fail only for findings that are not in this file; none: for all"
    c.add_argument("--baseline", metavar="FILE", help=help)
    help = "write today's findings to this file, for --baseline"
    c.add_argument("--write-baseline", metavar="FILE", help=help)
    help = "also write the findings to this file as SARIF, for code scanning"
    c.add_argument("--sarif", metavar="FILE", help=help)
    add_limits(p, "loops that it does not reach are unknown")
    help = "processes that judge several files side by side (1)"
    p.add_argument("-j", "--jobs", default="1", metavar="N", help=help)
    add_dask(p, "judge the files")
    return p
