"""What Oclgrind prints, as typed results: findings, and counts of executed instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Kind = Literal["race", "invalid-read", "invalid-write", "uninitialized", "divergence", "other"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a kernel must not do.

    `line` is the line of the kernel source (0 where Oclgrind does not know it) and `text` what
    stands there; `other_line` the second access of a race. `space` is the address space, empty
    where none is named. `count` says how often the same places came up; `message` is the full text
    of the first time.
    """

    kind: Kind
    space: str
    line: int
    other_line: int
    text: str
    message: str = field(compare=False)
    count: int = field(default=1, compare=False)

    def __str__(self) -> str:
        head = self.message.strip().splitlines()[0]
        return f"line {self.line}: {head}: {self.text} ({self.count} times)"


@dataclass(frozen=True, slots=True)
class Accesses:
    """Executed instructions that touch memory, and the bytes they moved."""

    count: int = 0
    bytes: int = 0

    def __add__(self, other: Accesses) -> Accesses:
        return Accesses(self.count + other.count, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class Counts:
    """Executed instructions of a kernel, summed over all work-items and launches.

    `loads` and `stores` go by address space (`global`, `local`, `private`, `constant`); a vector
    access counts once, `vload4` and `vstore4` (which Oclgrind lists as calls) included.
    `instructions` is the histogram as printed, memory accesses without their bytes.
    """

    loads: dict[str, Accesses]
    stores: dict[str, Accesses]
    instructions: dict[str, int]

    @property
    def barriers(self) -> int:
        """Work-items that passed a barrier."""
        return sum(n for name, n in self.instructions.items() if "7barrier" in name)


@dataclass(frozen=True, slots=True)
class OclgrindReport:
    """The outcome of a run. `arrays` are the array arguments after it, in the order given; `log`
    everything Oclgrind wrote about errors."""

    findings: tuple[Finding, ...]
    counts: dict[str, Counts]
    arrays: tuple[np.ndarray[Any, Any], ...]
    log: str

    @property
    def clean(self) -> bool:
        return not self.findings


# ---------------------------------------------------------------- findings

_HEADS: tuple[tuple[str, Kind], ...] = (
    ("data race", "race"),
    ("Invalid read", "invalid-read"),
    ("Invalid write", "invalid-write"),
    ("Uninitialized", "uninitialized"),
    ("divergence", "divergence"),
)
_PLACE = re.compile(r"\tAt line (\d+) \(column \d+\) of .*:\n\t*\s*(.*)")


def findings(log: str) -> tuple[Finding, ...]:
    """The errors in Oclgrind's log, those at the same places joined into one."""
    joined: dict[Finding, list[Finding]] = {}
    for found in _each_finding(log):
        joined.setdefault(found, []).append(found)
    return tuple(
        Finding(f.kind, f.space, f.line, f.other_line, f.text, f.message, len(all_))
        for f, all_ in joined.items()
    )


def _each_finding(log: str) -> Iterator[Finding]:
    for block in re.split(r"\n(?=\S)", "\n" + log):
        message = block.strip("\n")
        if "\n" not in message and "rror" not in message:
            continue  # a remark of the compiler or of the program
        head = message.splitlines()[0]
        kind = next((k for text, k in _HEADS if text in head), None)
        if kind is None and not re.search(r"\tKernel:|ERROR", message):
            continue
        space = re.search(r"\b(global|local|private|constant) memory", head)
        places = sorted((int(line), text.strip()) for line, text in _PLACE.findall(message))
        (line, text), (other, _) = (*places, (0, ""), (0, ""))[:2]
        yield Finding(kind or "other", space.group(1) if space else "", line, other, text, message)


# ---------------------------------------------------------------- counts

_KERNEL = re.compile(r"^Instructions executed for kernel '(.*)':$")
_COUNT = re.compile(r"^\s+([\d,.']+) - (.+)$")
_MEMORY = re.compile(r"^(load|store) (\w+) \(([\d,.']+) bytes\)$")
_VECTOR = re.compile(r"^call _Z\d+v(load|store)(?:_half|a_half)?(\d*)\D.*?(?:PU3AS(\d)|P)K?([a-z])")
_SPACES = {"": "private", "0": "private", "1": "global", "2": "constant", "3": "local"}
_ELEMENT = {"c": 1, "h": 1, "a": 1, "s": 2, "t": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "d": 8}
_ELEMENT["D"] = 2  # Dh, half


def counts(text: str) -> dict[str, Counts]:
    """The histograms of `--inst-counts`, by kernel; those of repeated launches are summed."""
    out: dict[str, Counts] = {}
    current: Counts | None = None
    for line in text.splitlines():
        if kernel := _KERNEL.match(line):
            current = out.setdefault(kernel.group(1), Counts({}, {}, {}))
        elif current is not None and (entry := _COUNT.match(line)):
            _add(current, _number(entry.group(1)), entry.group(2))
        else:
            current = None
    return out


def _add(into: Counts, n: int, what: str) -> None:
    if memory := _MEMORY.match(what):
        kind, space, size = memory.groups()
        what = f"{kind} {space}"
        _access(into, kind, space, Accesses(n, _number(size)))
    elif vector := _VECTOR.match(what):
        kind, width, space, element = vector.groups()
        size = n * int(width or 1) * _ELEMENT.get(element, 0)
        _access(into, kind, _SPACES[space or ""], Accesses(n, size))
    into.instructions[what] = into.instructions.get(what, 0) + n


def _access(into: Counts, kind: str, space: str, more: Accesses) -> None:
    table = into.loads if kind == "load" else into.stores
    table[space] = table.get(space, Accesses()) + more


def _number(text: str) -> int:
    """Counts may carry the separators of a locale."""
    return int(re.sub(r"\D", "", text))
