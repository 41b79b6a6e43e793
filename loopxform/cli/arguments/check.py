"""Options of `loopxform check`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_dask, add_limits, parser
from loopxform.cli.parser import Parser

EXAMPLES = (
    "check mm.c                             every loop, and the dependences between iterations",
    "check mm.c --can 'interchange i j'     is a step legal?",
    "check mm.c --require parallel:5        exit status 1 unless the loop on line 5 is parallel",
    "check src --format sarif > out.sarif   all .c files of a folder, for code scanning",
    "check src -j 8                         the same as text, eight files at a time",
    "check src --stats                      how many loops are decided, and why not the others",
)

FIRST = (
    *("--can", "--require", "--format", "--stats", "--function", "--line", "-j", "--time-limit"),
    *("-I", "-D"),
)


def options() -> Parser:
    p = parser(
        "check",
        "Judges every loop: yes, reduction, privatizable, no, or unknown.",
        many=True,
        examples=EXAMPLES,
        first=FIRST,
    )
    p.add_argument("--format", choices=("text", "json", "sarif"), default="text")
    p.add_argument("--line", metavar="N", help="only the loops that begin on this line")
    p.add_argument(
        "--can",
        action="append",
        default=[],
        metavar="STEP",
        help="whether a step is legal: 'interchange i j' (exit status 1 where it is not)",
    )
    p.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="VERDICT:LINE",
        help="exit status 1 unless the loop is parallel:LINE, privatizable:LINE or reduction:LINE",
    )
    help = "how many loops are decided, and what stands in the way of the others, by its frequency"
    p.add_argument("--stats", action="store_true", help=help)
    add_limits(p, "beyond it: unknown")
    help = "processes that judge several files side by side (1)"
    p.add_argument("-j", "--jobs", default="1", metavar="N", help=help)
    add_dask(p, "judge the files")
    return p
