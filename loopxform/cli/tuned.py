"""`NAME.tuning` next to NAME.c, as `tile` and `run` read it and `tune` writes it.

`NAME.DEVICE.tuning` is for one device; what it says of a function counts there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from loopxform import trace
from loopxform.api.facade import File
from loopxform.api.source import SourceRoutine
from loopxform.cache import digest
from loopxform.errors import InputError, UsageError
from loopxform.files import Output
from loopxform.floating_point import FloatingPoint
from loopxform.frontend.text.rawtext import decode, read_bytes
from loopxform.ir.nodes import For
from loopxform.ir.printer import listing
from loopxform.ir.visit import declared, walk
from loopxform.schedule.params import RECIPES
from loopxform.schedule.tiling_options import ON_DEVICE
from loopxform.schedule.tuning_file import (
    SIZES,
    SUFFIX,
    VERSIONS,
    Tuned,
    Tuning,
    device_of,
    parsed,
    suffix_for,
    with_tuned,
)
from loopxform.targets.database import Entry, Family, usable


def path_of(name: str, device: str | None = None) -> Path:
    """The file that belongs to a C file: for every device, or for one alone."""
    return Path(name).with_suffix(SUFFIX if device is None else suffix_for(device))


def path_to_write(name: str, device: str) -> Path:
    """The file that what is found for a device belongs into: NAME.tuning as long as that is for no
    other. Raises OSError."""
    common, own = path_of(name), path_of(name, device)
    if own.exists() or (common.exists() and device_of(_raw(common)) != device):
        return own
    return common


def _raw(path: Path) -> str:
    """All bytes of a file, as text that becomes these bytes again."""
    return path.read_bytes().decode(errors="surrogateescape") if path.is_file() else ""


def digest_of(routine: SourceRoutine) -> str:
    """What tells the function from another."""
    return digest(listing(routine.function).encode())[:16]


def read_tuning(file: File, path: Path) -> Tuning | None:
    """What the file says; None where there is none. Raises UsageError with the line, InputError."""
    if not os.path.isfile(path):
        if os.path.lexists(path):
            help = "move it away; --no-tuning leaves it alone"
            raise UsageError(f"'{path}' is no file", help=help, subject=file.name)
        trace.absent(str(path))
        return None
    try:
        text = decode(read_bytes(str(path)), str(path))
    except (InputError, OSError) as e:
        why = e.message if isinstance(e, InputError) else str(e.strerror or e)
        help = "tune again, or remove it; --no-tuning leaves it alone"
        raise UsageError(f"cannot read {path}: {why}", help=help, subject=file.name) from e
    return parsed(str(path), text, [r.name for r in file])


def updated(c_file: Path, device: str, name: str, tuned: Tuned, about: Iterable[str]) -> Output:
    """The file of a C file as it is by now, with what was found for a function, `about` as in
    `with_tuned`. Raises OSError."""
    path = path_to_write(str(c_file), device)
    return Output(path, with_tuned(_raw(path), device, name, tuned, about))


def most_on_host(file: File, device: str | None) -> Mapping[str, float]:
    """The operations below which calls of a function are the host's, where the files say so, by
    name; `device` as for `tuned_for`. Raises UsageError, InputError."""
    hosts: dict[str, float] = {}
    for path in reversed(_paths(file, device)):
        tuning = read_tuning(file, path)
        if tuning is not None and device in (None, tuning.device):
            hosts |= tuning.hosts
    return hosts


def _paths(file: File, device: str | None) -> list[Path]:
    """The files that may say something, the one that counts first."""
    if file.name.startswith("<"):
        return []
    return [*([] if device is None else [path_of(file.name, device)]), path_of(file.name)]


def tuned_for(
    file: File,
    routine: SourceRoutine,
    device: str | None,
    fp: FloatingPoint,
    *,
    architecture: str = "",
    of_device: bool = True,
) -> tuple[Tuned | None, str]:
    """What was found for a function, and a note about it. `device` is the one that is asked for by
    name: its own file comes first, and what was found for another does not count, nor what sums in
    an order that `fp` does not permit, nor, for other targets than OpenCL (`of_device`), what only
    devices have. Where no file says anything, what ships for the device or its `architecture`.
    Raises UsageError, InputError."""
    if file.name.startswith("<"):
        return None, ""
    notes: list[str] = []
    for path in _paths(file, device):
        tuning = read_tuning(file, path)
        found = None if tuning is None else tuning.functions.get(routine.name)
        if tuning is None or found is None:
            continue
        if device not in (None, tuning.device):
            notes.append(f"{path.name} {_of_another(tuning.device, device)}, and not used")
            continue
        if not of_device:
            found = _of_no_device(found)
        found, told = _permitted(found, path.name, digest_of(routine), fp)
        is_used = found.has_sizes or bool(found.thresholds)
        if is_used and device is None and tuning.device:
            notes.append(f"{path.name} is for {tuning.device} (--device names yours)")
        notes += told
        if is_used:
            return found, "; ".join(notes)
    found, told = (None, []) if device is None else _shipped(routine, device, architecture, fp)
    if found is not None and not of_device:
        found = _of_no_device(found)
    return found, "; ".join([*notes, *told])


def _of_another(own: str, device: str | None) -> str:
    """That a file is for another device, or for nobody knows which."""
    return f"is for {own}" if own else f"names no device (its line: device={device})"


def _shipped(
    routine: SourceRoutine, device: str, architecture: str, fp: FloatingPoint
) -> tuple[Tuned | None, list[str]]:
    """What ships for functions like this one, and notes about it."""
    near = usable(shape_of(routine), Family(device, architecture, ""))
    permitted = [e for e in near if e.fp not in SUMMED or fp.reassociate]
    found, notes = None, []
    for kind in (True, False):
        for entry in [e for e in permitted if bool(e.recipe) == kind][:1]:
            where = "this device" if entry.family.device == device else entry.family.device
            what = SIZES if entry.recipe else VERSIONS
            notes.append(f"{what} found on {where} before ({entry.about}; --no-tuning: not these)")
            own = of_entry(entry)
            found = own if found is None else replace(found, thresholds=own.thresholds)
    return found, notes


def _of_no_device(found: Tuned) -> Tuned:
    """Without options that only devices have, and without thresholds, which are for kernels."""
    options = {n: v for n, v in found.options.items() if n not in ON_DEVICE}
    return replace(found, options=options, thresholds={}, tiles={})


def _permitted(found: Tuned, name: str, text: str, fp: FloatingPoint) -> tuple[Tuned, list[str]]:
    """What of it `fp` permits, and notes: where it is from, what is not used, and whether it was
    found for another text than this."""
    used: dict[str, list[str]] = {}
    notes = []
    for what, is_there, level, own in (
        (SIZES, found.has_sizes, found.fp, found.text),
        (VERSIONS, bool(found.thresholds), found.threshold_fp, found.threshold_text),
    ):
        if is_there and level in SUMMED and not fp.reassociate:
            notes.append(f"{what} of {name} were found with --fp {level}, and are not used")
            found = _without(found, what)
        elif is_there:
            old = "" if own == text else ", found for another text of the function"
            used.setdefault(old, []).append(what)
    notes += (f"{' and '.join(kinds)} of {name}{old}" for old, kinds in used.items())
    return found, notes


def _without(found: Tuned, kind: str) -> Tuned:
    if kind == VERSIONS:
        return replace(found, thresholds={})
    return replace(found, recipe=None, sizes={}, options={}, tiles={})


SUMMED = ("reassociate", "fast")
"""Levels at which sums may have been reordered."""


def of_entry(entry: Entry) -> Tuned:
    """What the database has of a nest."""
    return Tuned(
        next((r for r in RECIPES if r == entry.recipe), None),
        entry.sizes,
        "",
        entry.fp,
        entry.options,
        shipped=True,
        thresholds=entry.thresholds,
        threshold_fp=entry.fp,
    )


def entry_of(family: Family, routine: SourceRoutine, found: Tuned, about: str) -> Entry:
    """What the database has of thresholds that were found."""
    level, thresholds = found.threshold_fp, found.thresholds
    return Entry(family, shape_of(routine), fp=level, about=about, thresholds=thresholds)


def shape_of(routine: SourceRoutine) -> str:
    """What tells a function from others that do something else, whatever their names are."""
    fn = routine.function
    loops = (s.var for _, s in walk(fn.body) if isinstance(s, For))
    names = dict.fromkeys((*(p.name for p in fn.objects), *declared(fn.body), *loops))
    types = " ".join(f"{p.type} {p.name}" for p in fn.objects)
    text = f"{listing(fn)}\n{types}"
    places: dict[str, str] = {}

    def renamed(m: re.Match[str]) -> str:
        word = m.group()
        return places.setdefault(word, f"v{len(places)}") if word in names else word

    return digest(re.sub(r"[A-Za-z_]\w*", renamed, text).encode())[:16]
