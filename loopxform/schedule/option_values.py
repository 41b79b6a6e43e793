"""Kinds of values that options have: what their text means, and what help says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopxform.errors import UsageError
from loopxform.records import record
from loopxform.written import LARGEST_SIZE, LARGEST_TILE, MOST_BUFFERS, VECTOR_WIDTHS, whole


@record
class Kind:
    """A kind of value: how help shows it, what its text means, and the words that are allowed where
    only these are. `parse` takes the option as it is written, and the text; it raises UsageError.
    `several`: the option may be given several times, and its texts are values of one list."""

    metavar: str
    parse: Callable[[str, str], Any]
    choices: tuple[str, ...] = ()
    several: bool = False


def size(option: str, text: str) -> int:
    """A size. Raises UsageError."""
    return whole(option, text, 1, LARGEST_TILE, "16")


def _rows(option: str, text: str) -> int:
    return whole(option, text, 0, LARGEST_TILE, "2")


def _iterations(option: str, text: str) -> int:
    return whole(option, text, 0, LARGEST_TILE, "1920")


def _buffers(option: str, text: str) -> int:
    return whole(option, text, 1, MOST_BUFFERS, "2")


def _bits(option: str, text: str) -> int:
    if text not in ("32", "64"):
        raise UsageError("offsets have 32 or 64 bits", help=f"{option}=32", subject=option)
    return int(text)


def _width(option: str, text: str) -> int:
    widths = ("1", *map(str, VECTOR_WIDTHS))
    if text not in widths:
        message = f"no vector has {text} elements"
        raise UsageError(message, help=f"use {', '.join(widths)}", subject=option)
    return int(text)


def _rectangle(option: str, text: str) -> tuple[int, int]:
    rows, _, columns = text.partition("x")
    if all(n.isascii() and n.isdecimal() and len(n) < 5 for n in (rows, columns)):
        return int(rows), int(columns)
    raise UsageError(f"'{text}' is no rectangle", help="rows x columns: 4x8", subject=option)


def _parts(option: str, text: str) -> int:
    if text not in PARTS.choices:
        message = f"no float is multiplied as {text} bfloat16"
        raise UsageError(message, help=f"use {', '.join(PARTS.choices)}", subject=option)
    return int(text)


def _layouts(option: str, text: str) -> tuple[tuple[str, str], ...]:
    parts = () if text == "none" else text.split(";")
    return tuple(_layout(option, part.strip()) for part in parts)


def _layout(option: str, text: str) -> tuple[str, str]:
    array, _, order = text.partition(":")
    if array and order and all(n.strip().isdecimal() for n in order.split(",")):
        return array.strip(), ",".join(n.strip() for n in order.split(","))
    example = f"{option} A:1,0" if option.startswith("--") else f"{option}(A:1,0)"
    raise UsageError(
        f"'{text}' is no layout",
        help=f"an array and its dimensions in order: {example}",
        subject=option,
    )


def fixed_sizes(option: str, text: str) -> tuple[tuple[str, int], ...]:
    """Sizes that become numbers, `M=4096,N=U=512`. Raises UsageError."""
    return _named(option, text, "M=4096,N=512")


def _limits(option: str, text: str) -> tuple[tuple[str, int], ...]:
    """Thresholds, `suff_outer_par_0=4096`."""
    return _named(option, text, "suff_outer_par_0=4096")


def _named(option: str, text: str, example: str) -> tuple[tuple[str, int], ...]:
    """Numbers by name. Raises UsageError."""
    numbers: dict[str, int] = {}
    for part in (p.strip() for p in text.split(",")):
        *names, value = part.split("=")
        if not (names and all(n.isidentifier() for n in names)):
            help = f"{option} {example}"
            raise UsageError(
                f"'{part}' is not NAME=NUMBER", code="LX023", help=help, subject=option
            )
        numbers |= dict.fromkeys(names, whole(option, value, 0, LARGEST_SIZE, f"{names[0]}=4096"))
    return tuple(numbers.items())


def _no_value(option: str, text: str) -> bool:
    if text:
        help = f"write {option} alone"
        raise UsageError(f"{option} takes no value", help=help, subject=option)
    return not option.lstrip("-").startswith("no-")


FLAG = Kind("", _no_value)
SIZE = Kind("N", size)
ROWS = Kind("ROWS", _rows)
ITERATIONS = Kind("N", _iterations)
BUFFERS = Kind("N", _buffers)
WIDTH = Kind("N", _width)
INDEX = Kind("BITS", _bits, choices=("32", "64"))
PARTS = Kind("N", _parts, choices=("0", "2", "3"))
RECTANGLE = Kind("RxC", _rectangle)
LAYOUTS = Kind("A:1,0", _layouts, several=True)
FIXED = Kind("M=N", fixed_sizes, several=True)
LIMIT = Kind("NAME=N", _limits, several=True)
