"""`loopxform tile FILE.c`: the main job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from loopxform.cli import tiling
from loopxform.cli.options import parser, read
from loopxform.cli.parser import Parser
from loopxform.cli.summary import lines
from loopxform.files import depfile, write_all
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
    o.add_argument("--dry-run", action="store_true", help="write no files")
    o.add_argument("--json", metavar="FILE", help="save the steps for `apply --script`")
    o.add_argument("-MD", dest="depfile", action="store_true", help="write NAME.d for make")
    o.add_argument("-q", "--quiet", action="store_true", help="no summary")
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    limits = tiling.limits_for(args)
    file = read(args)
    tiled = tiling.tiled(file, args, limits, contract=args.fp_contract != "off")
    made = tiled.openmp if args.target == "openmp" else tiled.opencl
    if args.show_steps:
        print("\n".join(steps(tiled.derivation)))
    files = dict(made.files)
    if args.depfile:
        target = Path(args.output) / next(iter(files))
        files[f"{file.stem}.d"] = depfile(target, file.parsed.dependencies)
    written = [] if args.dry_run else write_all(args.output, files)
    if args.json:
        _save(tiled.derivation, args.json)
    if not args.quiet:
        for line in lines(tiled, made.plan):
            print(line)
        for path in written:
            print(f"wrote {path}")
    return 0


def _save(derivation: Derivation, path: str) -> None:
    text = json.dumps(derivation.to_json(), indent=2) + "\n"
    write_all(str(Path(path).parent), {Path(path).name: text})


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
