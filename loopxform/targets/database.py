"""What was tuned for devices that we could reach: a file of `tuned/` for each, which
`loopxform tune --contribute` writes.

    device = "NVIDIA H100 PCIe"
    architecture = "sm_90"
    vendor = "NVIDIA"

    [[nest]]
    shape = "6f1c..."               # the digest of the nest, whatever its names are
    recipe = "register"
    fp = "contract"
    sizes = { Ty = 16, Tx = 16 }
    options = { stages = "2" }
    about = "mm, M=512, U=512, N=512: 4.1 ms, defaults 5.7 ms"

    [[nest]]
    shape = "0b8e..."
    fp = "contract"
    thresholds = { suff_intra_par_1 = 512 }
    about = "..."

An entry is used as it is on the device that it was found on, and on others of its architecture. On
others of its vendor, and on all others, `tune` begins its search with it: the best of one device
can be twenty times as slow as the best of another.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from loopxform.errors import UsageError
from loopxform.records import record

FOLDER = Path(__file__).parent / "tuned"
MOST = 20
"""Entries that a search begins with."""


@record
class Family:
    """What a device is, from near to far."""

    device: str
    architecture: str
    vendor: str


@record
class Entry:
    """What was found for a nest: a recipe, the level of what was permitted of floating point, sizes
    and options as tuning files have them, and the words about what was measured; or, for a function
    that has versions, `thresholds` and none of the others."""

    family: Family
    shape: str
    recipe: str = ""
    fp: str = "contract"
    sizes: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    thresholds: Mapping[str, int] = field(default_factory=dict)


def nearest(shape: str, family: Family) -> list[Entry]:
    """The entries with sizes for a nest: those of the device, then of its architecture, of its
    vendor, and of all others."""
    found = (e for e in shipped() if e.shape == shape and e.recipe)
    return sorted(found, key=lambda e: _distance(e.family, family))[:MOST]


def usable(shape: str, family: Family) -> list[Entry]:
    """The entries for a function that serve a device as they are: its own, then those of its
    architecture."""
    found = (e for e in shipped() if e.shape == shape and _distance(e.family, family) < _VENDOR)
    return sorted(found, key=lambda e: _distance(e.family, family))


def with_entry(found: Iterable[Entry], own: Entry) -> list[Entry]:
    """Those of a file with another one, in the place of what it had of the same nest."""
    kept = (e for e in found if (e.shape, bool(e.recipe)) != (own.shape, bool(own.recipe)))
    return [*kept, own]


_VENDOR = 2
"""The distance of devices that have no more than their vendor in common."""


def _distance(one: Family, other: Family) -> int:
    same = (
        one.device == other.device,
        one.architecture == other.architecture != "",
        one.vendor == other.vendor,
    )
    return same.index(True) if True in same else len(same)


@cache
def shipped() -> tuple[Entry, ...]:
    """Every entry that is part of this release."""
    return tuple(e for path in sorted(FOLDER.glob("*.toml")) for e in entries(path))


def entries(path: Path) -> Iterator[Entry]:
    """Those of a file. Raises UsageError where it is none of ours, OSError."""
    try:
        about = tomllib.loads(path.read_text(encoding="utf-8"))
        family = Family(about["device"], about["architecture"], about["vendor"])
        for nest in about["nest"]:
            yield Entry(family, **nest)
    except (ValueError, KeyError, TypeError) as e:
        message = f"'{path}' is no file of tuned nests: {e}"
        raise UsageError(message, help="give a new file", subject="--contribute") from e


def written(found: list[Entry]) -> str:
    """The text of a file with these entries, which are of one device."""
    family = found[0].family
    lines = ["# Found by loopxform tune."]
    lines += [f"{n} = {_quoted(getattr(family, n))}" for n in ("device", "architecture", "vendor")]
    for e in found:
        lines += ["", "[[nest]]"]
        names = ("shape", "recipe", "fp") if e.recipe else ("shape", "fp")
        lines += [f"{n} = {_quoted(getattr(e, n))}" for n in names]
        tables = ("sizes", "options") if e.recipe else ("thresholds",)
        lines += [f"{n} = {_table(getattr(e, n))}" for n in tables]
        lines.append(f"about = {_quoted(e.about)}")
    return "\n".join(lines) + "\n"


def _table(values: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{n} = {_quoted(v)}" for n, v in values.items()) + " }"


def _quoted(value: object) -> str:
    """Strings of TOML are written like those of JSON."""
    return json.dumps(value, ensure_ascii=False)
