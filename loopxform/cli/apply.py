"""`loopxform apply FILE.c --do 'stripmine i 64' ...`: single steps, each checked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from loopxform import __version__
from loopxform.api import File
from loopxform.cli.options import LARGEST, Parser, complain, parser, read
from loopxform.errors import InputError, TransformError, UsageError, quoting
from loopxform.files import write_all
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
    file = read(args)
    script = _script(args.script) if args.script else {}
    tiles = {**_script_tiles(script), **_tiles(["apply", *argv], args.tile)}
    with quoting(file.parsed.sources):
        fn = file.routine(args.function).function
        derivation = Derivation(with_tiles(fn, tiles))
        for data in script.get("steps", []):
            derivation = _apply(derivation, from_json(STEPS, data), json.dumps(data), args)
        for text in args.steps:
            derivation = _apply(derivation, _parse(text), text, args)
        files = _files(derivation, args.emit, file)
    if args.output:
        for path in write_all(args.output, files):
            print(f"wrote {path}")
    elif not args.show_steps:
        print("\n".join(files.values()), end="")
    return 0


def _parse(text: str) -> Step:
    try:
        return step(text)
    except UsageError as e:
        raise _at_step(text, 1, e.message, e.help, e.code) from None


def _apply(derivation: Derivation, made: Step, text: str, args: argparse.Namespace) -> Derivation:
    try:
        after = derivation.then(made)
    except TransformError as e:
        first = e.obstacles[0]
        if e.status == 2:
            word = next((w for w in text.split()[1:] if w.rstrip("*") in first.message), "")
            at = text.find(word) + 1 if word else 1
            raise _at_step(text, at, first.message, first.remedy, first.code) from None
        raise
    if args.show_steps:
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


def _script_tiles(script: dict[str, Any]) -> dict[str, int]:
    tiles = script.get("tiles", {})
    if not isinstance(tiles, dict) or not all(_is_size(n, v) for n, v in tiles.items()):
        raise InputError(f"not tile sizes: {tiles!r}", code="LX050", help='"tiles": {"Ty": 16}')
    return tiles


def _is_size(name: object, value: object) -> bool:
    named = isinstance(name, str) and name.isidentifier() and name.isascii()
    return named and type(value) is int and 0 < value <= LARGEST


def _tiles(argv: list[str], texts: list[str]) -> dict[str, int]:
    out = {}
    for text in texts:
        name, _, value = text.partition("=")
        size = int(value) if value.isascii() and value.isdigit() else 0
        if not _is_size(name, size):
            message = f"'{text}' is not NAME=N with N from 1 to {LARGEST}"
            raise complain(argv, text, message, "--tile Ty=16")
        out[name] = size
    return out


def _files(derivation: Derivation, kind: str, file: File) -> dict[str, str]:
    if kind == "listing":
        return {f"{file.stem}.txt": listing(derivation.function)}
    if kind == "json":
        return {f"{file.stem}.json": json.dumps(derivation.to_json(), indent=2) + "\n"}
    from loopxform.codegen import emit

    write = emit.openmp if kind == "c" else emit.opencl
    return write(derivation, stem=file.stem, origin=file.name, version=__version__).files
