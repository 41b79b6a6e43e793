"""Options of `loopxform bench`."""

from __future__ import annotations

import argparse

from loopxform.bench.names import DEFAULT, LIBRARIES
from loopxform.cli.arguments import running, tiling
from loopxform.cli.arguments.common import add_floating_point, parser
from loopxform.cli.parser import Parser

EXAMPLES = (
    "bench mm.c --size M=1024,U=1024,N=1024",
    "bench mm.c --sizes M=U=N=512,1024 --vary Tk=8,16 --plot bars.svg",
    "bench mm.c --size M=N=U=2048 --against clblast --command './mine {M} {N} {U}'",
)

FIRST = (
    *("--size", "--sizes", "--variants", "--vary", "--against", "--command", "--repeat"),
    *("--device", "--plot", "--json"),
)


def options() -> Parser:
    p = parser(
        "bench",
        "Compares the results of each variant of the kernel with your own C, compiled by cc; then "
        "times the variants in one run, by OpenCL events, on arrays that stay on the device.",
        examples=EXAMPLES,
        first=FIRST,
    )
    _add_what(p)
    _add_how(p)
    tiling.add_sizes(p)
    tiling.add_details(p)
    add_floating_point(tiling.titled(p, tiling.NUMBERS), "(contract)")
    tiling.add_device(p)
    return p


def _add_what(p: argparse.ArgumentParser) -> None:
    g = p.add_argument_group("what is timed")
    running.add_size(g)
    running.add_sizes(g)
    default = ",".join(DEFAULT)
    g.add_argument(
        "--variants",
        "--recipes",
        default=default,
        metavar="NAMES",
        help=f"recipes ({default}); speed-ups are relative to the first",
    )
    g.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="Tk=8,16,32",
        help="a variant for each of these values (of sizes, Rk, vector, index, stages, "
        "serpentine, block-cyclic, pack, swizzle-groups or warp-tile). Several options form all "
        "combinations",
    )
    help = "compare with a library, if the nest is a matrix product"
    g.add_argument("--against", action="append", default=[], choices=LIBRARIES, help=help)
    g.add_argument(
        "--command",
        action="append",
        default=[],
        metavar="'PROG {M} {N}'",
        help="compare with a program that prints its time in milliseconds as its last line",
    )


def _add_how(p: argparse.ArgumentParser) -> None:
    g = p.add_argument_group("how")
    g.add_argument("--repeat", default="10", metavar="N", help="timed launches (10)")
    g.add_argument("--warmup", default="2", metavar="N", help="launches before the timed ones (2)")
    running.add_inputs(g)
    g.add_argument("--json", metavar="FILE", help="save the measurements; - prints them")
    g.add_argument("--plot", metavar="FILE", help="save a bar chart, .png or .svg")
    help = "measure the peak rates of the device and save a roofline plot, .png or .svg"
    g.add_argument("--roofline", metavar="FILE", help=help)
