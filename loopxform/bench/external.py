"""Programs of others, timed by themselves: `--command 'prog {M} {U} {N}'`.

A program is started once for each set of sizes, without a shell; `{M}` stands for the size M. The
last line of its output holds the milliseconds of its timed runs, one number or several. It does its
own warm-up, and its results are its own: they are not verified.
"""

from __future__ import annotations

import math
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from loopxform.bench.measure import Row, Sizes
from loopxform.errors import InputError, UsageError

PROTOCOL = "the last line of its output must be its milliseconds, one number or several"


@dataclass(frozen=True)
class Command:
    """A program with its arguments, sizes still by name."""

    label: str
    words: tuple[str, ...]

    def row(self, sizes: Sizes) -> Row:
        """What the program says of itself. Raises InputError where it fails or says nothing."""
        words = [w.format_map(sizes) for w in self.words]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except (OSError, UnicodeDecodeError) as e:
            raise _failed(words, f"cannot be run: {getattr(e, 'strerror', None) or e}") from e
        if done.returncode:
            last = done.stderr.strip().splitlines()[-3:]
            raise _failed(words, f"ends with status {done.returncode}", last)
        lines = done.stdout.strip().splitlines()
        times = _milliseconds(lines[-1] if lines else "")
        if times is None:
            raise _failed(words, "prints no milliseconds", lines[-1:])
        return Row(self.label, "command", times)


def commands(texts: Sequence[str], sizes: Sequence[Sizes]) -> list[Command]:
    """The programs; those of one name are numbered. Raises UsageError."""
    out: list[Command] = []
    for text in texts:
        words = _words(text, sizes)
        name = Path(words[0]).name
        same = sum(c.label.partition("#")[0] == name for c in out)
        out.append(Command(f"{name}#{same + 1}" if same else name, words))
    return out


def require(commands: Sequence[Command], texts: Sequence[str]) -> None:
    """Fails before anything is timed. Raises InputError for a program that is not there."""
    for command, text in zip(commands, texts):
        program = command.words[0]
        if "{" not in program and shutil.which(program) is None:
            reason = f"'{program}' cannot be run: there is no such program"
            raise InputError(reason, code="LX069", help=PROTOCOL, subject=text)


def _words(text: str, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
        names = {name for w in words for _, name, _, _ in Formatter().parse(w) if name is not None}
        if not words:
            raise ValueError("there is no program")
        for s in sizes:
            if wrong := sorted(names - s.keys()):
                raise ValueError(f"there is no size '{wrong[0]}'")
            for w in words:
                w.format_map(s)
    except ValueError as e:
        known = ", ".join(f"{{{n}}}" for n in sizes[0])
        help = f"--command 'prog {{M}} {{U}} {{N}}'; the sizes are: {known or 'none'}"
        reason = f"'{text}' is not a command with sizes in it: {e}"
        raise UsageError(reason, code="LX023", help=help, subject="--command") from None
    return words


def _milliseconds(line: str) -> tuple[float, ...] | None:
    try:
        found = tuple(float(w) for w in line.replace(",", " ").split())
    except ValueError:
        return None
    return found if found and all(math.isfinite(x) and x > 0 for x in found) else None


def _failed(words: Sequence[str], what: str, notes: Sequence[str] = ()) -> InputError:
    message = f"'{shlex.join(words)}' {what}"
    return InputError(message, code="LX069", notes=notes, help=PROTOCOL, subject="--command")
