"""Devices by name: a file of `profiles/` each, or a file of the user's own; and any GPU.

    like = "h100"          # what is not said here is as there; the generic device by default
    registers = 168
    bandwidth = 3200

The keys are the fields of `Limits`, those of `Costs` and `Copies` in tables of these names. A new
device is one new file. What was measured on a device (`MEASURED`) is not passed on by `like`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from loopxform import trace
from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean
from loopxform.targets.copies import Copies
from loopxform.targets.target import GENERIC, THRESHOLDS, Costs, Limits, unmeasured

FOLDER = Path(__file__).parent / "profiles"
KEYS = tuple(f.name for f in fields(Limits))


class _Profiles(Mapping[str, Limits]):
    """The devices that are known by name, each read when it is asked for."""

    def __getitem__(self, name: str) -> Limits:
        if name not in _names():
            raise KeyError(name)
        return _known(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


PROFILES: Mapping[str, Limits] = _Profiles()


@cache
def _names() -> tuple[str, ...]:
    """The generic device first."""
    return (GENERIC.name, *sorted(p.stem for p in FOLDER.glob("*.toml")))


@cache
def _known(name: str) -> Limits:
    if name == GENERIC.name:
        return GENERIC
    path = FOLDER / f"{name}.toml"
    return _described(str(path), name, path.read_bytes())


def profile(name: str) -> Limits:
    """The profile of that name, whatever the case, or of a file NAME.toml. Raises UsageError."""
    if name.endswith(".toml"):
        return device_file(name)
    known = PROFILES.get(name.strip().lower())
    if known is None:
        every = f"profiles: {', '.join(PROFILES)}, or a file NAME.toml"
        help = did_you_mean(name, PROFILES) + every
        raise UsageError(f"there is no device profile '{name}'", help=help)
    return known


def device_file(path: str) -> Limits:
    """The device that a file describes. Raises UsageError."""
    try:
        data = Path(path).read_bytes()
    except OSError as e:
        raise UsageError(f"cannot read {path}: {e.strerror}", help="name a file in TOML") from e
    trace.read(path, data)
    return _described(path, Path(path).stem, data)


def _described(path: str, name: str, data: bytes) -> Limits:
    """The device that the contents of a file describe. Raises UsageError."""
    import tomllib  # the names of devices need no file

    try:
        table = tomllib.loads(data.decode())
    except ValueError as e:
        raise _wrong(path, str(e), 'a line says: registers = 128, or like = "h100"') from e
    table = {_current(k): v for k, v in table.items()}
    model = table.pop("like", None)
    if model is None:
        start = GENERIC
    elif model in PROFILES:
        start = unmeasured(PROFILES[model])
    else:
        help = f"{did_you_mean(str(model), PROFILES)}like: {', '.join(PROFILES)}"
        raise _wrong(path, f"there is no profile {model!r}", help)
    values = {k: _checked(path, k, v, getattr(start, k, None)) for k, v in table.items()}
    return replace(start, **{"name": name, **values})


FORMER = {
    "at_once": "vector_width",
    "narrow": "index32",
    "preload": "register_pipeline",
    "rectangle": "warp_tile",
    "asynchronous": "async_copies",
    "arrange": "pack_operands",
    "turn": "transpose_operands",
}
"""Keys of earlier releases: still understood, with a warning."""


def _current(key: str) -> str:
    if key in FORMER:
        import warnings  # files of earlier releases alone need it

        text = f"the key '{key}' of a profile is called '{FORMER[key]}' now"
        warnings.warn(text, FutureWarning, stacklevel=4)
    return FORMER.get(key, key)


def _checked(path: str, key: str, value: object, now: object) -> Any:
    """The value of a key, as the field has it."""
    if key not in KEYS:
        help = f"{did_you_mean(key, KEYS)}the keys are: like, {', '.join(KEYS)}"
        raise _wrong(path, f"there is no key '{key}'", help)
    if key in _TABLES:
        return _TABLES[key](path, key, value)
    if isinstance(now, bool | str):
        kind = "true or false" if isinstance(now, bool) else "a text"
        if type(value) is not type(now):
            raise _wrong(path, f"{key} must be {kind}, not {value!r}")
        return value
    if isinstance(now, tuple):
        if not (isinstance(value, list) and len(value) == len(now) and all(map(_is_size, value))):
            words, example = _LISTS[key]
            raise _wrong(path, f"{key} must be {words}, not {value!r}", f"{key} = {example}")
        return tuple(value)
    if isinstance(now, float) or key in ("bandwidth", "peak"):
        if not _is_rate(value):
            raise _wrong(path, f"{key} must be a number of 0 or more, not {value!r}")
        return value
    if key in _CHOICES and value not in _CHOICES[key]:
        raise _wrong(
            path, f"{key} must be one of {', '.join(map(str, _CHOICES[key]))}, not {value!r}"
        )
    if not _is_size(value) and not (value == 0 and key in _UNKNOWN):
        raise _wrong(path, f"{key} must be a whole number from 1 on, not {value!r}")
    return value


def _names_of_devices(path: str, key: str, value: object) -> tuple[str, ...]:
    """The devices that times were measured on."""
    if not (isinstance(value, list) and value and all(isinstance(x, str) for x in value)):
        raise _wrong(path, f"{key} must be names of devices", 'measured_on = ["H100"]')
    return tuple(value)


def _architecture(path: str, key: str, value: object) -> str:
    """What a device has in common with others."""
    if not (isinstance(value, str) and value):
        raise _wrong(path, f"{key} must be a name", 'architecture = "sm_90"')
    return value


def _times(path: str, key: str, value: object) -> tuple[tuple[str, int, int, int, int], ...]:
    """The time of each tile, to start, and of its epilogue, 0 where that is left out; and how many
    waves make a round, 1 where that is left out."""
    rows = list[tuple[str, int, int, int, int]]()
    for name, times in value.items() if isinstance(value, dict) else [("", None)]:
        match times:
            case [time, start, *more] if (
                _is_tile(name) and len(more) < 3 and all(map(_is_size, times))
            ):
                end, resident = more[0] if more else 0, more[1] if len(more) > 1 else 1
                rows.append((name, time, start, end, resident))
            case _:
                what = "the time of each tile, to start, of its epilogue, and the waves of a round"
                help = '"16x16 8x8" = [890, 170, 60], in [tile_times]'
                raise _wrong(path, f"{key} must be {what}", help)
    return tuple(rows)


def _changes(path: str, key: str, value: object) -> tuple[str, ...]:
    """What becomes of the sizes of the largest tile, and of its columns where nobody splits its
    sums."""
    pattern = _SMALLER if key in ("smaller_tiles", "program_tiles") else _CHANGE
    if not (
        isinstance(value, list) and all(isinstance(x, str) and pattern.fullmatch(x) for x in value)
    ):
        raise _wrong(path, f"{key} must say what tile sizes are multiplied by", _CHANGES_EXAMPLE)
    return tuple(value)


def _shapes(path: str, key: str, value: object) -> tuple[str, ...]:
    """Tiles: work-items, and elements of each."""
    if not (
        isinstance(value, list) and all(isinstance(x, str) and _SHAPE.fullmatch(x) for x in value)
    ):
        raise _wrong(path, f"{key} must be shapes of tiles", f'{key} = ["16x8 8x8"]')
    return tuple(value)


def _tensor_tiles(path: str, key: str, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Products of tiles, and the tiles of each: work-items, elements of each, terms, buffers."""
    if not isinstance(value, dict) or not all(map(_are_tensor_tiles, value.items())):
        what = "of each product of tiles work-items, elements of each, terms and buffers"
        example = f'[{key}]\n"16x8x4" = ["16x16 8x8 8x3"]'
        raise _wrong(path, f"[{key}] must have {what}", example)
    return tuple((name, tuple(tiles)) for name, tiles in value.items())


def _are_tensor_tiles(row: tuple[str, object]) -> bool:
    name, tiles = row
    texts = isinstance(tiles, list) and all(isinstance(x, str) for x in tiles)
    return (
        bool(_PRODUCT.fullmatch(name))
        and texts
        and all(map(_TENSOR.fullmatch, cast(list[str], tiles)))
    )


def _groups(path: str, key: str, value: object) -> tuple[str, ...]:
    """Groups: work-items, and words of each."""
    if not (
        isinstance(value, list) and all(isinstance(x, str) and _GROUP.fullmatch(x) for x in value)
    ):
        raise _wrong(path, f"{key} must be work-items and words of each", f'{key} = ["256x16"]')
    return tuple(value)


def _widths(path: str, key: str, value: object) -> tuple[int, ...]:
    """How many components values have at most."""
    if not (isinstance(value, list) and all(_is_size(x) and x % 16 == 0 for x in value)):
        raise _wrong(path, f"{key} must be multiples of 16", f"{key} = [64, 128]")
    return tuple(value)


def _cuts(path: str, key: str, value: object) -> tuple[int, ...]:
    """Numbers of iterations, the smallest first."""
    if not (isinstance(value, list) and all(map(_is_size, value)) and value == sorted({*value})):
        raise _wrong(path, f"{key} must be numbers that grow", f"{key} = [4194304, 67108864]")
    return tuple(value)


def _costs(path: str, key: str, value: object) -> Costs:
    """The constants of the model of costs; those that are left out are the generic device's."""
    if not isinstance(value, dict):
        raise _wrong(path, f"{key} must be a table", "[costs], then local_read = 2.6")
    usual = Costs()
    for name, number in value.items():
        if name not in _COSTS:
            help = f"{did_you_mean(name, _COSTS)}the keys are: {', '.join(_COSTS)}"
            raise _wrong(path, f"there is no key '{name}' in [{key}]", help)
        whole = isinstance(getattr(usual, name), int) and name not in ("balance", "launch")
        if not (_is_size(number) if whole else _is_rate(number) and (number or name == "launch")):
            kind = "a whole number from 1 on" if whole else "a number above 0"
            raise _wrong(path, f"{name} must be {kind}, not {number!r}")
    return replace(usual, **value)


def _copies(path: str, key: str, value: object) -> Copies:
    """The sizes of copies; those that are left out are the generic device's."""
    if not isinstance(value, dict):
        raise _wrong(path, f"{key} must be a table", "[copies], then threads = 8")
    for name, number in value.items():
        if name not in _COPIES:
            help = f"{did_you_mean(name, _COPIES)}the keys are: {', '.join(_COPIES)}"
            raise _wrong(path, f"there is no key '{name}' in [{key}]", help)
        if not _is_size(number):
            raise _wrong(path, f"{name} must be a whole number from 1 on, not {number!r}")
    return replace(Copies(), **value)


_is_tile = re.compile(
    r"[1-9]\d*x[1-9]\d* [1-9]\d*x[1-9]\d*"
    r"( vectors| single columns| async [2-9]( tensor \d+x\d+x\d+)?| chunk [1-9]\d*)?"
).fullmatch
_CHANGE = re.compile(r"((T[yxk]|R[yxk]|buffers)\*[1-9]\d?(/[1-9]\d?)?( |$))*")
_SMALLER = re.compile(f"{_CHANGE.pattern}(single columns)?")
_SHAPE = re.compile(r"[1-9]\d*x[1-9]\d* [1-9]\d*x[1-9]\d*")
_TENSOR = re.compile(r"([1-9]\d*x[1-9]\d* ){2}[1-9]\d*x[2-9]( vectors)?")
_PRODUCT = re.compile(r"([1-9]\d*x){2}[1-9]\d*")
_GROUP = re.compile(r"[1-9]\d{0,3}x[1-9]\d{0,2}")
_CHANGES_EXAMPLE = 'smaller_tiles = ["Ty*1/2 Tk*2"]'
_COSTS = tuple(f.name for f in fields(Costs))
_COPIES = tuple(f.name for f in fields(Copies))
_TABLES: Mapping[str, Callable[[str, str, object], object]] = {
    "tile_times": _times,
    "measured_on": _names_of_devices,
    "architecture": _architecture,
    "smaller_tiles": _changes,
    "packed_tiles": _changes,
    "split_tiles": _changes,
    "program_tiles": _changes,
    "attention_tiles": _shapes,
    "attention_widths": _widths,
    "search_parts": _cuts,
    "row_registers": _groups,
    "row_tiles": _shapes,
    "tensor_tiles": _tensor_tiles,
    "costs": _costs,
    "copies": _copies,
}

_CHOICES = {"vector_width": (1, 2, 4, 8, 16), "stages": (1, 2)}
_LISTS = {"item_sizes": ("three sizes", "[1024, 1024, 64]"), "warp_tile": ("two sizes", "[4, 8]")}
_UNKNOWN = ("compute_units", "vector", "serpentine", *THRESHOLDS)
"""Where 0 means that it is not known, or not there."""


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 31


def _is_rate(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(str(value)) < 1e12


def _wrong(path: str, what: str, help: str | None = None) -> UsageError:
    return UsageError(f"{path}: {what}", help=help)
