"""Options of `loopxform offload`."""

from __future__ import annotations

from loopxform.cli.arguments import tiling
from loopxform.cli.arguments.common import (
    add_build_options,
    add_floating_point,
    add_limits,
    add_validate,
    parser,
)
from loopxform.cli.parser import Parser
from loopxform.schedule.offload_options import OFFLOADING

EXAMPLES = (
    "offload solver.c -o build                     every loop of the file that can run in parallel",
    "offload solver.c --function step --report     one function; each kernel and each transfer",
    "offload solver.c --profile h100 --dry-run     for a device; nothing is written",
)

FIRST = (
    *("--function", "--report", "-o", "--profile", "--device", "--fp", "--Ty", "--Tx"),
    *("--show-steps", "--dry-run"),
)


def options() -> Parser:
    p = parser(
        "offload",
        "Writes NAME_opencl.c (your file, with launches in front of the loops that they replace: "
        "cc NAME_opencl.c -lOpenCL -lm), NAME_opencl.h, and NAME.cl (the kernels). "
        "Loops that cannot run in parallel run on the host, with kernels inside, or on one "
        "work-item; arrays are copied once for all kernels of a function. Each transformation is "
        "proven legal.",
        several=True,
        examples=EXAMPLES,
        first=FIRST,
    )
    g = tiling.add_sizes(p)
    tiling.add_no_tuning(g)
    tiling.add_named(p, OFFLOADING)
    help = "an array parameter that nobody reads after the call"
    g.add_argument("--scratch", action="append", default=[], metavar="ARRAY", help=help)
    add_floating_point(tiling.titled(p, tiling.NUMBERS), "(contract)")
    tiling.add_device(p)
    o = p.add_argument_group("output")
    o.add_argument("-o", dest="output", metavar="DIR", default=".", help="where to write (.)")
    o.add_argument("--report", action="store_true", help="print every kernel and every transfer")
    o.add_argument("--show-steps", action="store_true", help="print the derivation, step by step")
    help = "print which stages of pipelines share a kernel, its tile, and what the model predicts"
    o.add_argument("--show-plan", action="store_true", help=help)
    o.add_argument("--json", metavar="FILE", help="save the plan of pipelines; - prints it")
    o.add_argument("--dry-run", action="store_true", help="write no files")
    add_validate(o)
    add_limits(o, "loops that it does not reach stay as they are", by_lines=True)
    add_build_options(p)
    o.add_argument("-q", "--quiet", action="store_true", help="no summary")
    return p
