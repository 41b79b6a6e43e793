"""What `tile` and `run` share: tile options, the device's limits, and the tiled function."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from loopxform.api.facade import File, Routine
from loopxform.api.tile import TiledRoutine, tile_routine
from loopxform.cli import streams
from loopxform.cli.options import chosen, positive
from loopxform.cli.tuned import most_on_host, tuned_for
from loopxform.errors import (
    DeviceError,
    IgnoredOption,
    LimitError,
    LoopxformError,
    TransformError,
    UnknownThreshold,
    UnsupportedC,
    UsageError,
    about,
)
from loopxform.floating_point import FloatingPoint
from loopxform.schedule import tiling_options
from loopxform.schedule.option_values import FLAG
from loopxform.schedule.params import NAMES, Options, Recipe
from loopxform.schedule.tiling_options import OPTIONS, TilingOption
from loopxform.schedule.tuning_file import Tuned
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits
from loopxform.transforms import possible

if TYPE_CHECKING:
    from loopxform.runtime.device import DeviceInfo


def tiled(
    file: File,
    args: argparse.Namespace,
    limits: Limits,
    fp: FloatingPoint,
    *,
    tuned: bool = True,
    thresholds: bool = True,
) -> TiledRoutine:
    """Tiles the function that the command line asks for, with what was `tuned` for it (without
    `thresholds`: nothing but sizes and options) where that asks for neither sizes nor a recipe.
    Raises LoopxformError."""
    sizes, routine = given_sizes(args), chosen(file, args)
    open_sizes = not sizes and recipe(args) is None and not routine.annotations
    if tuned and open_sizes and not getattr(args, "no_tuning", False):
        named = args.device or args.profile or args.words[0] in ("run", "tune")
        of_device = getattr(args, "target", "opencl") == "opencl"
        name = limits.name if named else None
        kind = limits.architecture
        found, note = tuned_for(file, routine, name, fp, architecture=kind, of_device=of_device)
        if found is not None and not thresholds:
            found = replace(found, thresholds={})
            if found.shipped and not found.has_sizes:
                found, note = None, ""
        if found is not None and found.shipped:
            use = partial(as_tuned, routine, found, note, limits, fp, details(args))
            done = possible(use, *UNFIT)
            if isinstance(done, TiledRoutine):
                return done
            note = ""
        elif found is not None:
            return as_tuned(routine, found, note, limits, fp, details(args))
    else:
        note = ""
    with about(f"--{next(iter(sizes), '')}"):
        options = details(args)
        done = tile_routine(routine, sizes, recipe(args), limits, fp=fp, options=options)
    done = _noted(done, note)
    if recipe(args) is not None:
        for name in unused(done, args):
            message = f"the recipe {args.recipe} has no use for --{name} in this nest"
            help = f"leave out --{name}: its sizes here are {', '.join(done.sizes)}"
            raise IgnoredOption(message, help=help, subject=f"--{name}")
    return done


UNFIT = (UnsupportedC, TransformError, LimitError, IgnoredOption)
"""How what was tuned for functions like a nest does not fit it."""


def as_tuned(
    routine: Routine,
    found: Tuned,
    note: str,
    limits: Limits,
    fp: FloatingPoint,
    options: Options,
) -> TiledRoutine:
    """With the recipe, the sizes, the options and the thresholds that were found, but for what is
    asked for. Raises LoopxformError, with the file where these are from."""
    asked, options = options, options.over(found.asked)
    try:
        # As it was measured: by the recipe that is chosen anyway, with all that this allows.
        done = tile_routine(routine, found.sizes, None, limits, fp=fp, options=options)
        if found.recipe not in (None, done.tiled.recipe):
            options = replace(options, threshold=asked.threshold)
            if found.thresholds:
                note += f"; its thresholds are not used: {found.recipe} by name has no versions"
            done = tile_routine(routine, found.sizes, found.recipe, limits, fp=fp, options=options)
    except (UnsupportedC, TransformError, LimitError) as e:
        e.notes += (f"{note}; tune again, or remove its lines",)
        raise
    except IgnoredOption as e:
        tile_routine(
            routine, {}, None, limits, fp=fp, options=asked
        )  # raises what is not the file's
        raise _at_its_line(e, found, note) from None
    return _noted(done, note)


def _at_its_line(e: IgnoredOption, found: Tuned, note: str) -> LoopxformError:
    """What a tuning file asks for in vain."""
    if found.lines is None:
        return e
    name = e.name if isinstance(e, UnknownThreshold) else (e.subject or "").lstrip("-")
    help = "tune again, or remove the line; --no-tuning leaves the file alone"
    error = found.lines.bad(name, e.message, help)
    error.notes = (note,)
    return error


def hosts(file: File, args: argparse.Namespace, limits: Limits) -> Mapping[str, float]:
    """The operations below which calls of a function are the host's, by name, as tuning files say,
    whatever sizes are asked for. Raises UsageError, InputError."""
    named = args.device or args.profile
    return {} if args.no_tuning else most_on_host(file, limits.name if named else None)


def _noted(done: TiledRoutine, note: str) -> TiledRoutine:
    """With a note about where the sizes are from."""
    if not note:
        return done
    reason = "; ".join(x for x in (done.tiled.reason, note) if x)
    return replace(done, tiled=replace(done.tiled, reason=reason))


def unused(done: TiledRoutine, args: argparse.Namespace) -> list[str]:
    """The sizes that were given, and that no nest has."""
    used = {name for part in (done.tiled, *done.tiled.rest) for name in part.sizes}
    return [name for name, size in given_sizes(args).items() if name not in used and size > 1]


def recipe(args: argparse.Namespace) -> Recipe | None:
    """The recipe that is asked for; None: any that fits."""
    return None if args.recipe == "auto" else args.recipe


def require_taken(
    args: argparse.Namespace,
    recipes: Sequence[Recipe | None],
    target: tiling_options.Target = "opencl",
) -> None:
    """Raises IgnoredOption for an option that the recipes or the target have no use for."""
    given = {n: getattr(args, n.replace("-", "_"), None) for n in tiling_options.EVERY}
    names = (f"--{name}" for name, value in given.items() if value not in (None, False, []))
    tiling_options.require_taken(names, recipes, target)


def details(args: argparse.Namespace) -> Options:
    """What is asked of tiling besides a recipe and sizes. Raises UsageError."""
    return Options(**asked(args, OPTIONS))


def asked(args: argparse.Namespace, options: Iterable[TilingOption]) -> dict[str, Any]:
    """The fields of `Options` that the command line sets, of those that a command has. Raises
    UsageError."""
    values: dict[str, Any] = {}
    for o in options:
        dest, written = o.name.replace("-", "_"), f"--{o.name}"
        texts = getattr(args, dest)
        if texts in (None, False, []):
            continue
        if o.kind is FLAG and o.field in values:
            what = f"--{o.name.removeprefix('no-')} and {written} say the opposite"
            raise UsageError(
                what, help="leave out one of them", subject=f"--{o.name.removeprefix('no-')}"
            )
        if o.kind.several:
            if "none" in texts and len(texts) > 1:
                what = f"{written} none and other values say the opposite"
                raise UsageError(what, help="leave out one of them", subject=written)
            values[o.field] = tuple(v for t in texts for v in o.kind.parse(written, t))
        else:
            values[o.field] = o.kind.parse(written, "" if o.kind is FLAG else texts)
    return values


def given_sizes(args: argparse.Namespace) -> dict[str, int]:
    """The tile sizes of the command line. Raises UsageError."""
    given = ((name, positive(f"--{name}", getattr(args, name))) for name in NAMES)
    return {name: size for name, size in given if size is not None}


def limits_for(args: argparse.Namespace, default: str = "generic") -> Limits:
    """The limits of --profile, of --device, or of the profile `default`. Raises UsageError,
    DeviceError."""
    if args.profile and args.device:
        raise UsageError(
            "--profile and --device exclude each other", help="give one", subject="--profile"
        )
    if args.device:
        from loopxform.runtime.profiles import limits_of

        return limits_of(device(args))
    with about("--profile"):
        return profile(default if args.profile is None else args.profile)


def device(args: argparse.Namespace) -> DeviceInfo:
    """The device of --device, or the first that builds kernels; what does not is named. Raises
    DeviceError."""
    from loopxform.runtime.selection import choose

    with about("--device"):
        return choose(args.device, _named)


def _named(device: DeviceInfo, error: DeviceError) -> None:
    notes = "".join(f"\n   = {note}" for note in error.notes[:4])
    streams.complain(f"loopxform: note: {device} is not used: {error.message}{notes}")
