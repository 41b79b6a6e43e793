"""`loopxform tile FILE.c`: the main job."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from loopxform.api import File
from loopxform.cli import plan_text, tiling, transactions_text
from loopxform.cli.options import parser, read
from loopxform.cli.parser import Parser
from loopxform.cli.script import saved
from loopxform.cli.summary import lines
from loopxform.files import Output, depfile, in_folder, write_all
from loopxform.ir.printer import listing
from loopxform.transforms import Derivation


def options() -> Parser:
    p = parser(
        "tile",
        "Writes NAME.cl (the kernel) and NAME_opencl.c/.h (a drop-in for the function: "
        "cc NAME_opencl.c -lOpenCL -lm), each transformation proven legal.",
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
    o.add_argument("--show-plan", action="store_true", help="print what is used again, and why")
    o.add_argument("--dry-run", action="store_true", help="write no files")
    o.add_argument(
        "--json", metavar="FILE", help="save the steps for `apply --script`; - prints them"
    )
    o.add_argument("-MD", dest="depfile", action="store_true", help="write NAME.d for make")
    o.add_argument("-q", "--quiet", action="store_true", help="no summary")
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    limits = tiling.limits_for(args)
    file = read(args)
    tiled = tiling.tiled(file, args, limits, contract=args.fp_contract != "off")
    made = tiled.openmp if args.target == "openmp" else tiled.opencl
    script = saved(tiled.derivation, contract=tiled.contract)
    outputs = [] if args.dry_run else list(_outputs(args, file, made.files, script))
    written = write_all(outputs, file.parsed.dependencies)
    # With `--json -` standard output is the script alone.
    talk = sys.stderr if args.json == "-" else sys.stdout
    if args.show_steps:
        print("\n".join(steps(tiled.derivation)), file=talk)
    if args.show_plan:
        rest = transactions_text.lines(tiled) if args.quiet else ()  # else in the summary
        print("\n".join([*plan_text.lines(tiled), *rest]), file=talk)
    if args.json == "-":
        print(script, end="")
    if not args.quiet:
        for line in lines(tiled, made.plan):
            print(line, file=talk)
        for path in written:
            print(f"wrote {path}", file=talk)
    return 0


def _outputs(
    args: argparse.Namespace, file: File, files: Mapping[str, str], script: str
) -> Iterator[Output]:
    """What is written, a rule for make that names all of it included."""
    outputs = in_folder(args.output, files)
    if args.json and args.json != "-":
        outputs.append(Output(Path(args.json), script, "--json"))
    yield from outputs
    if args.depfile:
        rule = depfile([o.path for o in outputs], file.parsed.dependencies)
        yield from in_folder(args.output, {f"{file.stem}.d": rule})


def steps(derivation: Derivation) -> Iterator[str]:
    """The derivation: for each stage its steps with their reasons, then the listing."""
    yield f"Listing 1: {derivation.start.name}"
    yield listing(derivation.start)
    for title, records in derivation.stages:
        yield title
        width = max(len(str(r.step)) for r in records)
        for r in records:
            yield f"  {r.step!s:<{width}}  -- {r.reason}"
        yield ""
        yield listing(records[-1].result)
