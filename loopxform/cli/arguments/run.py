"""Options of `loopxform run`."""

from __future__ import annotations

from loopxform.cli.arguments import running, tiling
from loopxform.cli.arguments.common import parser
from loopxform.cli.parser import Parser

EXAMPLES = (
    "run mm.c --size M=513,U=129,N=1025",
    "run mm.c --size M=64,U=64,N=64 --recipe block --Ty 8",
    "run csr.c --size n=1000,nnz=9000 --input row=0:nnz:sorted --input col=0:n",
)

FIRST = (
    *("--size", "--input", "--repeat", "--device", "--recipe", "--Ty", "--Tx", "--Tk"),
    *("--Ry", "--Rx"),
)


def options() -> Parser:
    p = parser(
        "run",
        "Runs the tiled kernel on random inputs and compares every element with your own C, "
        "compiled by cc. By default nothing is fused, and results must be identical; where the "
        "nest calls exp, sin and the like, they may differ as far as OpenCL permits.",
        examples=EXAMPLES,
        first=FIRST,
    )
    running.add_size(p)
    running.add_inputs(p)
    p.add_argument(
        "--repeat", default="1", metavar="N", help="launches; their median is printed (1)"
    )
    tiling.add_options(p)
    return p
