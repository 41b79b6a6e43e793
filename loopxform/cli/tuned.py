"""`NAME.tuning` next to NAME.c, as `tile` and `run` read it."""

from __future__ import annotations

import os
from pathlib import Path

from loopxform import trace
from loopxform.api.facade import File
from loopxform.api.source import SourceRoutine
from loopxform.cache import digest
from loopxform.errors import InputError, UsageError
from loopxform.floating_point import FloatingPoint
from loopxform.frontend.text.rawtext import decode, read_bytes
from loopxform.ir.printer import listing
from loopxform.schedule.tuning_file import SUFFIX, Tuned, Tuning, parsed


def path_of(name: str) -> Path:
    """The file that belongs to a C file."""
    return Path(name).with_suffix(SUFFIX)


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


def tuned_for(
    file: File, routine: SourceRoutine, device: str | None, fp: FloatingPoint
) -> tuple[Tuned | None, str]:
    """What was found for a function, and a note about it. `device` is the one that is asked for by
    name: what was found for another does not count, nor what sums in an order that `fp` does not
    permit. Raises UsageError, InputError."""
    if file.name.startswith("<"):
        return None, ""
    path = path_of(file.name)
    tuning = read_tuning(file, path)
    found = None if tuning is None else tuning.functions.get(routine.name)
    if tuning is None or found is None:
        return None, ""
    if device not in (None, tuning.device):
        return None, f"{path.name} is for {tuning.device}, and not used"
    if found.fp in ("reassociate", "fast") and not fp.reassociate:
        return None, f"{path.name} was found with --fp {found.fp}, and is not used"
    old = "" if found.text == digest_of(routine) else ", found for another text of the function"
    return found, f"sizes of {path.name}{old}"
