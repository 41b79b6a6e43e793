"""Options of `loopxform tile`."""

from __future__ import annotations

from loopxform.cli.arguments import tiling
from loopxform.cli.arguments.common import add_build_options, add_limits, add_validate, parser
from loopxform.cli.parser import Parser

EXAMPLES = (
    "tile mm.c -o build                            sizes that fit most devices",
    "tile mm.c --Ty 16 --Rx 4 --profile h100       some sizes given, the others fitted",
    "tile mm.c --show-steps --dry-run --quiet      what is done, and why it is legal",
    "tile mm.c --target openmp -o build            tiled C for the CPU",
)

FIRST = (
    *("--Ty", "--Tx", "--Tk", "--Ry", "--Rx", "--recipe", "--profile", "--target", "-o"),
    *("--show-steps",),
)


def options() -> Parser:
    p = parser(
        "tile",
        "Writes NAME.cl (the kernel) and NAME_opencl.c/.h (a drop-in for the function: "
        "cc NAME_opencl.c -lOpenCL -lm), each transformation proven legal.",
        examples=EXAMPLES,
        first=FIRST,
    )
    tiling.add_options(p)
    o = p.add_argument_group("output")
    o.add_argument("-o", dest="output", metavar="DIR", default=".", help="where to write (.)")
    o.add_argument(
        "--target",
        choices=("opencl", "openmp"),
        default="opencl",
        help="an OpenCL kernel with host code, or tiled C for the CPU",
    )
    o.add_argument("--show-steps", action="store_true", help="print the derivation, step by step")
    o.add_argument(
        "--show-plan",
        action="store_true",
        help="print which data is reused, what is tiled, and why",
    )
    o.add_argument("--dry-run", action="store_true", help="write no files")
    add_validate(o)
    o.add_argument(
        "--json", metavar="FILE", help="save the steps for `apply --script`; - prints them"
    )
    add_limits(o, "beyond it, tile refuses the nest", by_lines=True)
    add_build_options(p)
    o.add_argument("-q", "--quiet", action="store_true", help="no summary")
    return p
