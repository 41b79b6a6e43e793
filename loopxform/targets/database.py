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

An entry is used as it is on the device that it was found on. On others of its architecture, of its
vendor, and on all others, `tune` begins its search with it: the best of one device can be twenty
times as slow as the best of another.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
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
    and options as tuning files have them, and the words about what was measured."""

    family: Family
    shape: str
    recipe: str
    fp: str
    sizes: Mapping[str, int]
    options: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


def nearest(shape: str, family: Family) -> list[Entry]:
    """The entries for a nest: those of the device, then of its architecture, of its vendor, and of
    all others."""
    return sorted(
        (e for e in shipped() if e.shape == shape), key=lambda e: _distance(e.family, family)
    )[:MOST]


def _distance(one: Family, other: Family) -> int:
    same = (
        one.device == other.device,
        one.architecture == other.architecture,
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
        lines += [f"{n} = {_quoted(getattr(e, n))}" for n in ("shape", "recipe", "fp")]
        lines += [f"sizes = {_table(e.sizes)}", f"options = {_table(e.options)}"]
        lines.append(f"about = {_quoted(e.about)}")
    return "\n".join(lines) + "\n"


def _table(values: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{n} = {_quoted(v)}" for n, v in values.items()) + " }"


def _quoted(value: object) -> str:
    """Strings of TOML are written like those of JSON."""
    return json.dumps(value, ensure_ascii=False)
