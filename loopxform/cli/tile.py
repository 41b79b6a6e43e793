"""`loopxform tile FILE.c`: the main job."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from loopxform import __version__
from loopxform.cli import output, tiling
from loopxform.cli.options import Parser, parser, read, with_sources
from loopxform.cli.summary import lines
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
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
    limits = tiling.limits_for(args, ["tile", *argv])
    parsed = read(args)
    request = tiling.request(parsed, args, ["tile", *argv], limits)
    derivation = request.tiled.derivation
    stem = "stdin" if args.file == "-" else Path(args.file).stem
    try:
        made = _emit(derivation, args, stem)
    except LoopxformError as e:
        raise with_sources(e, parsed) from None
    if args.show_steps:
        print("\n".join(steps(derivation)))
    files = dict(made.files)
    if args.depfile:
        target = Path(args.output) / next(iter(files))
        files[f"{stem}.d"] = output.depfile(target, parsed.dependencies)
    written = [] if args.dry_run else output.write_all(args.output, files)
    if args.json:
        _save(derivation, args.json)
    if not args.quiet:
        for line in lines(request, made.plan):
            print(line)
        for path in written:
            print(f"wrote {path}")
    return 0


def _emit(derivation: Derivation, args: argparse.Namespace, stem: str) -> emit.Emitted:
    if args.target == "openmp":
        return emit.openmp(derivation, stem=stem, origin=args.file, version=__version__)
    return emit.opencl(
        derivation,
        stem=stem,
        origin=args.file,
        version=__version__,
        contract=args.fp_contract != "off",
    )


def _save(derivation: Derivation, path: str) -> None:
    import json

    text = json.dumps(derivation.to_json(), indent=2) + "\n"
    output.write_all(str(Path(path).parent), {Path(path).name: text})


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
