"""`loopxform apply FILE.c --do 'stripmine i 64' ...`: single steps, each checked."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from loopxform import __version__
from loopxform.api.facade import File
from loopxform.api.permitted import require_order, require_permitted
from loopxform.cli.floating_point import permitted
from loopxform.cli.options import chosen, read
from loopxform.cli.script import Script, Text, is_size, read_script, saved
from loopxform.cli.validating import require_kernels, validated
from loopxform.errors import TransformError, UsageError, quoting
from loopxform.files import in_folder, write_all
from loopxform.floating_point import FloatingPoint
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.prepare.while_loops import whole_bodies
from loopxform.transforms import (
    STEPS,
    Derivation,
    Dispatch,
    Step,
    from_json,
    is_threshold,
    step,
    with_tiles,
)
from loopxform.written import LARGEST_SIZE, LARGEST_TILE


def main(args: argparse.Namespace) -> int:
    require_kernels(args, written=args.emit == "opencl" and bool(args.output))
    file = read(args)
    script = read_script(args.script) if args.script else Script()
    fp = permitted(args, script.permitted)
    with quoting(file.parsed.sources):
        fn = chosen(file, args).function
        thresholds, given = _numbers(args.tile, script.thresholds)
        script = script.with_thresholds(thresholds)
        _require_named(given, script, args.steps)
        sizes = {**script.tiles, **given}
        _require_free(fn, sizes)
        script.require(sizes)
        derivation = Derivation(with_tiles(whole_bodies(fn), sizes))
        for data, text in script.steps:
            made = _made(text, partial(from_json, STEPS, data))
            derivation = _apply(derivation, made, text, args)
        for words in args.steps:
            text = Text("<step>", words, 0, len(words))
            derivation = _apply(derivation, _made(text, partial(step, words)), text, args)
        said = args.fp or script.fp
        require_order(derivation, fp if said else replace(fp, reassociate=True, exact=False))
        files = _files(derivation, args.emit, file, script, fp)
    if args.output:
        inputs = [*file.parsed.dependencies, *([args.script] if args.script else [])]
        written = write_all(in_folder(args.output, files), inputs)
        print(*(f"wrote {path}" for path in written), sep="\n")
        return validated(written, args)
    if not args.show_steps:
        print("\n".join(files.values()), end="")
    return 0


def _made(text: Text, make: Callable[[], Step]) -> Step:
    """The step that a text means. Raises UsageError at its place."""
    try:
        return make()
    except UsageError as e:
        if text.part.strip():
            text.place(e, _words(text))
        else:
            e.subject = "--do"
        raise


def _apply(derivation: Derivation, made: Step, text: Text, args: argparse.Namespace) -> Derivation:
    try:
        after = derivation.then(made)
    except TransformError as e:
        if e.status != 2:
            raise
        first = e.obstacles[0]
        error = UsageError(first.message, code=first.code, help=first.remedy)
        text.place(error, _words(text))
        raise error from None
    if args.show_steps:
        record = after.records[-1]
        print(f"{record.step}  -- {record.reason}\n\n{listing(record.result)}")
    return after


def _words(text: Text) -> list[str]:
    return re.findall(r"[\w#*-]+", text.part)


def _numbers(
    texts: list[str], thresholds: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Thresholds, and tile sizes. Raises UsageError."""
    compared, sizes = dict[str, int](), dict[str, int]()
    for text in texts:
        name, _, value = text.partition("=")
        number = int(value) if value.isascii() and value.isdigit() and len(value) < 12 else -1
        is_good, least, most = is_size, 1, LARGEST_TILE
        if name in thresholds:
            is_good, least, most = is_threshold, 0, LARGEST_SIZE
        if not is_good(name, number):
            message = f"'{text}' is not NAME=N with N from {least} to {most}"
            raise UsageError(message, code="LX023", help="--set Ty=16", subject=text)
        (compared if name in thresholds else sizes)[name] = number
    return compared, sizes


def _require_named(given: dict[str, int], script: Script, steps: list[str]) -> None:
    """Raises UsageError for a size that no step names; variants have sizes of their own."""
    data = [data for data, _ in script.steps]
    own = any(isinstance(d, dict) and d.get("step") == Dispatch.verb for d in data)
    plain = [d for d in data if not (isinstance(d, dict) and d.get("step") == Dispatch.verb)]
    named = set(re.findall(r"\w+", " ".join([json.dumps(plain), *steps])))
    for name, size in given.items():
        if name not in named and (script.steps or steps):
            help = "change the sizes of the variants in the script" if own else None
            message = f"no step names the size '{name}'"
            raise UsageError(message, code="LX023", help=help, subject=f"{name}={size}")


def _require_free(fn: Function, sizes: dict[str, int]) -> None:
    """Raises UsageError for a tile size that is called as something of the function is."""
    taken = sorted(used_names(fn) & sizes.keys())
    if taken:
        message = f"'{taken[0]}' is a name of the function {fn.name}"
        raise UsageError(
            message, code="LX023", help="call the tile size otherwise", subject="--set"
        )


def _files(
    derivation: Derivation, kind: str, file: File, script: Script, fp: FloatingPoint
) -> dict[str, str]:
    if kind == "listing":
        return {f"{file.stem}.txt": listing(derivation.function)}
    if kind == "json":
        return {f"{file.stem}.json": saved(derivation, fp=fp, fitted=script.fitted)}
    from loopxform.api.copied_arrays import checked_updates
    from loopxform.codegen import emit
    from loopxform.codegen.host import macro_checks
    from loopxform.targets.target import GENERIC

    macros = macro_checks.errors(file[derivation.start.name].decisions, file.name)
    provenance = {"stem": file.stem, "origin": file.name, "version": __version__, "asked": macros}
    if kind == "c":
        return emit.openmp(derivation, **provenance).files
    require_permitted(derivation.start, fp)
    return emit.opencl(
        derivation,
        fp=fp,
        host=None,
        functions=(r.name for r in file),
        inspector=None,
        keys=checked_updates(derivation.start),
        copies=GENERIC.copies,
        **provenance,
    ).files
