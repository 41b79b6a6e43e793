"""Numbers as users write them: on command lines, in scripts, in annotations."""

from __future__ import annotations

from loopxform.errors import UsageError

LARGEST_TILE = 1 << 20
"""Products of tile sizes and steps stay far from the range of int."""

LARGEST_SIZE = 2**31 - 1
"""Of an array or a loop: an int."""

MOST_BUFFERS = 8
"""Of a tile that is copied asynchronously."""

MOST_JOBS = 256
"""Processes side by side."""

VECTOR_WIDTHS = (2, 4, 8, 16)
"""Elements of the vectors of OpenCL C that loads and stores have."""


def number(text: str) -> int | float:
    """A number of either kind. Raises ValueError."""
    if "_" in text:  # which Python takes, and nobody means
        raise ValueError(text)
    try:
        return int(text)
    except ValueError:
        return float(text)


def whole(option: str, text: str, low: int, high: int, example: str) -> int:
    """The whole number given for an option. Raises UsageError."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(high))
    if is_number and low <= int(text) <= high:
        return int(text)
    between = " " if option.startswith("-") else "="
    raise UsageError(
        f"{option} must be a whole number from {low} to {high}, not '{text}'",
        code="LX023",
        help=f"{option}{between}{example}",
        subject=option,
    )
