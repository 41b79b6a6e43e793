"""Options of `loopxform report`."""

from __future__ import annotations

from loopxform.cli.arguments import tiling
from loopxform.cli.arguments.common import add_floating_point, add_limits, parser
from loopxform.cli.parser import Parser
from loopxform.targets.profile import PROFILES

EXAMPLES = (
    "report mm.c                                one page, report.html",
    "report mm.c --profile h100 -o mm.html      what an H100 would run, with predicted times",
    "report src -o out/ -j 4                    an index, and a page for each file",
)

FIRST = ("-o", "--profile", "--fp", "--function", "-j", "--no-tuning", "--time-limit", "-I", "-D")


def options() -> Parser:
    p = parser(
        "report",
        "Writes a page for the browser: your source with a verdict at each loop, why a loop is not "
        "parallel, how the others are transformed step by step, their kernels, their cost by the "
        "model, and what to do next. It needs no network.",
        many=True,
        examples=EXAMPLES,
        first=FIRST,
    )
    o = p.add_argument_group("output")
    help = "the page (report.html); DIR/: a page for each file"
    o.add_argument("-o", dest="output", metavar="FILE.html", default="report.html", help=help)
    o.add_argument("-q", "--quiet", action="store_true", help="do not say what is written")
    t = p.add_argument_group("what is shown")
    t.add_argument(
        "--profile",
        metavar="NAME",
        help=f"the device (generic), by name or as a file NAME.toml: {', '.join(PROFILES)}",
    )
    add_floating_point(t, "(contract)")
    tiling.add_no_tuning(t)
    help = "measurements that tune --json or tune --shard wrote; may be given several times"
    t.add_argument("--measured", action="append", default=[], metavar="FILE.json", help=help)
    add_limits(p, "loops that it does not reach are unknown, or stay as they are")
    help = "processes that work on several files side by side (1)"
    p.add_argument("-j", "--jobs", default="1", metavar="N", help=help)
    return p
