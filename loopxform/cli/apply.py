"""`loopxform apply FILE.c --do 'stripmine i 64' ...`: single steps, each checked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from loopxform import __version__
from loopxform.cli import output
from loopxform.cli.options import Parser, choose_function, parser, read, with_sources
from loopxform.errors import InputError, LoopxformError, TransformError, UsageError
from loopxform.ir.printer import listing
from loopxform.source import Loc, Sources
from loopxform.transforms import STEPS, Derivation, Step, from_json, step, with_tiles

EPILOG = "steps:\n" + "\n".join(f"  {kind.usage}" for kind in STEPS.values())


def options() -> Parser:
    p = parser("apply", "Applies steps in order; an illegal one is refused, nothing is written.")
    p.formatter_class = argparse.RawDescriptionHelpFormatter
    p.epilog = EPILOG
    s = p.add_argument_group("steps")
    s.add_argument("--do", dest="steps", action="append", default=[], metavar="STEP")
    s.add_argument("--script", metavar="FILE.json", help="steps as `tile --json` saves them")
    s.add_argument("--tile", action="append", default=[], metavar="NAME=N", help="a named size")
    o = p.add_argument_group("output")
    o.add_argument(
        "--emit",
        choices=("listing", "c", "opencl", "json"),
        default="listing",
        help="what to write: the listing, C with OpenMP, kernel and host code, or the steps",
    )
    o.add_argument("-o", dest="output", metavar="DIR", help="write files there (default: print)")
    o.add_argument("--show-steps", action="store_true", help="print the listing after every step")
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    parsed = read(args)
    script = _script(args.script) if args.script else {}
    try:
        fn = choose_function(parsed, args.function)
        tiles = {**script.get("tiles", {}), **_tiles(args.tile)}
        derivation = Derivation(with_tiles(fn, tiles))
        for data in script.get("steps", []):
            derivation = _apply(derivation, from_json(STEPS, data), str(data), args.show_steps)
        for text in args.steps:
            derivation = _apply(derivation, _parse(text), text, args.show_steps)
        files = _files(derivation, args.emit, args.file)
    except LoopxformError as e:
        raise with_sources(e, parsed) from None
    if args.output:
        for path in output.write_all(args.output, files):
            print(f"wrote {path}")
    else:
        print("\n".join(files.values()), end="")
    return 0


def _parse(text: str) -> Step:
    try:
        return step(text)
    except UsageError as e:
        raise _at_step(text, 1, e.message, e.help, e.code) from None


def _apply(derivation: Derivation, made: Step, text: str, show: bool) -> Derivation:
    try:
        after = derivation.then(made)
    except TransformError as e:
        first = e.obstacles[0]
        if e.status == 2:
            word = next((w for w in text.split()[1:] if w.rstrip("*") in first.message), "")
            at = text.find(word) + 1 if word else 1
            raise _at_step(text, at, first.message, first.remedy, first.code) from None
        raise
    if show:
        record = after.records[-1]
        print(f"{record.step}  -- {record.reason}\n\n{listing(record.result)}")
    return after


def _at_step(text: str, column: int, message: str, help: str | None, code: str) -> UsageError:
    """A diagnostic with a caret under a word of the step."""
    error = UsageError(message, loc=Loc("<step>", 1, column), code=code, help=help)
    error.sources = Sources()
    error.sources.add("<step>", text)
    return error


def _script(path: str) -> dict[str, Any]:
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise InputError(f"cannot read '{path}': {e.strerror}", code="LX050") from e
    except ValueError as e:
        raise InputError(f"'{path}' is not JSON: {e}", code="LX050") from e
    if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
        raise InputError(f"'{path}' has no list of steps", help='{"tiles": {}, "steps": [...]}')
    return data


def _tiles(texts: list[str]) -> dict[str, int]:
    out = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.isidentifier() or not value.isdigit() or int(value) < 1:
            raise UsageError(f"--tile {text}: a size is NAME=N with N of 1 or more", code="LX023")
        out[name] = int(value)
    return out


def _files(derivation: Derivation, kind: str, origin: str) -> dict[str, str]:
    from loopxform.codegen import emit

    stem = "stdin" if origin == "-" else Path(origin).stem
    if kind == "listing":
        return {f"{stem}.txt": listing(derivation.function)}
    if kind == "json":
        return {f"{stem}.json": json.dumps(derivation.to_json(), indent=2) + "\n"}
    if kind == "c":
        return emit.openmp(derivation, stem=stem, origin=origin, version=__version__).files
    return emit.opencl(derivation, stem=stem, origin=origin, version=__version__).files
