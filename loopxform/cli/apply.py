"""`loopxform apply FILE.c --do 'stripmine i 64' ...`: single steps, each checked."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from loopxform import __version__
from loopxform.api import File
from loopxform.cli.options import chosen, parser, read
from loopxform.cli.parser import Parser
from loopxform.errors import InputError, TransformError, UsageError, quoting
from loopxform.files import in_folder, write_all
from loopxform.ir.printer import listing
from loopxform.source import Loc, Sources
from loopxform.transforms import STEPS, Derivation, Step, from_json, step, with_tiles
from loopxform.transforms.base import LARGEST_TILE

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
    tiles = {**_script_tiles(script), **_tiles(args.tile)}
    with quoting(file.parsed.sources):
        fn = chosen(file, args).function
        derivation = Derivation(with_tiles(fn, tiles))
        for data in script.get("steps", []):
            derivation = _apply(derivation, from_json(STEPS, data), json.dumps(data), args)
        for text in args.steps:
            derivation = _apply(derivation, _parse(text), text, args)
        files = _files(derivation, args.emit, file)
    if args.output:
        inputs = [*file.parsed.dependencies, *([args.script] if args.script else [])]
        for path in write_all(in_folder(args.output, files), inputs):
            print(f"wrote {path}")
    elif not args.show_steps:
        print("\n".join(files.values()), end="")
    return 0


def _parse(text: str) -> Step:
    try:
        return step(text)
    except UsageError as e:
        if not text.strip():
            e.subject = "--do"
            raise
        raise _at_step(text, text.split()[:1], e) from None


def _apply(derivation: Derivation, made: Step, text: str, args: argparse.Namespace) -> Derivation:
    try:
        after = derivation.then(made)
    except TransformError as e:
        if e.status != 2:
            raise
        first = e.obstacles[0]
        error = UsageError(first.message, code=first.code, help=first.remedy)
        raise _at_step(text, re.findall(r"[\w#*]+", text), error) from None
    if args.show_steps:
        record = after.records[-1]
        print(f"{record.step}  -- {record.reason}\n\n{listing(record.result)}")
    return after


def _at_step(text: str, words: list[str], e: UsageError) -> UsageError:
    """The error with its place: the last of the words that its message quotes."""
    quoted = [w for w in words if f"'{w}'" in e.message] or words[:1]
    found = list(re.finditer(rf"(?<!\w){re.escape(quoted[-1])}(?!\w)", text)) if quoted else []
    column = found[-1].start() + 1 if found else 1
    width = len(quoted[-1]) if quoted else 1
    help = e.help
    error = UsageError(e.message, loc=Loc("<step>", 1, column), code=e.code, help=help, width=width)
    error.sources = Sources()
    error.sources.add("<step>", text)
    return error


def _script(path: str) -> dict[str, Any]:
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise _bad_script(f"cannot read '{path}': {e.strerror}") from e
    except ValueError as e:
        raise _bad_script(f"'{path}' is not JSON: {e}") from e
    except RecursionError as e:
        raise _bad_script(f"'{path}' is nested too deeply") from e
    if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
        raise _bad_script(f"'{path}' has no list of steps")
    return data


def _bad_script(message: str) -> InputError:
    help = '{"tiles": {"Ty": 16}, "steps": [...]}, as `tile --json FILE` saves it'
    return InputError(message, code="LX056", help=help, subject="--script")


def _script_tiles(script: dict[str, Any]) -> dict[str, int]:
    tiles = script.get("tiles", {})
    if not isinstance(tiles, dict) or not all(_is_size(n, v) for n, v in tiles.items()):
        raise _bad_script(f"not tile sizes: {tiles!r}")
    return tiles


def _is_size(name: object, value: object) -> bool:
    named = isinstance(name, str) and name.isidentifier() and name.isascii()
    return named and type(value) is int and 0 < value <= LARGEST_TILE


def _tiles(texts: list[str]) -> dict[str, int]:
    out = {}
    for text in texts:
        name, _, value = text.partition("=")
        size = int(value) if value.isascii() and value.isdigit() else 0
        if not _is_size(name, size):
            message = f"'{text}' is not NAME=N with N from 1 to {LARGEST_TILE}"
            raise UsageError(message, code="LX023", help="--tile Ty=16", subject=text)
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
