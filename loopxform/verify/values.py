"""Which random values the elements of an array get, and how a user says so: `0:nnz:sorted`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.errors import UsageError
from loopxform.ir.nodes import Function, Param
from loopxform.ir.types import Scalar
from loopxform.nearest import did_you_mean
from loopxform.verify.ranges import Interval, of_type

FLOATS = Interval(0.5, 1.5)
"""Of which nothing else is said."""

SORTED = "sorted"
FORM = "--input NAME=LOW:HIGH or NAME=LOW:HIGH:sorted; a size may stand for a number"


@dataclass(frozen=True, slots=True)
class Values:
    """Elements between two numbers; `ascending`: none is less than the one before it."""

    within: Interval
    ascending: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """`LOW:HIGH` or `LOW:HIGH:sorted`, the ends numbers or names of sizes; HIGH is exclusive."""

    low: str
    high: str
    ascending: bool = False


def wanted(text: str) -> Wanted:
    """Parses what follows `NAME=`. Raises UsageError."""
    ends, parts = text.split(":")[:2], text.split(":")
    if len(ends) == 2 and all(ends) and parts[2:] in ([], [SORTED]):
        return Wanted(ends[0], ends[1], len(parts) == 3)
    raise UsageError(f"'{text}' is not LOW:HIGH", code="LX023", help=FORM)


def chosen(
    fn: Function, given: Mapping[str, Wanted], sizes: Mapping[str, int | float]
) -> dict[str, Values]:
    """The values that the user gives for arrays. Raises UsageError where one is no array, or an
    end no value of its elements."""
    arrays = {p.name: p for p in fn.objects if p.array}
    for name in given:
        if name not in arrays:
            raise UsageError(
                f"'{name}' is not an array of {fn.name}",
                code="LX054",
                help=f"{did_you_mean(name, arrays)}the arrays are: {', '.join(arrays) or 'none'}",
            )
    return {name: _values(arrays[name], w, sizes) for name, w in given.items()}


def _values(p: Param, w: Wanted, sizes: Mapping[str, int | float]) -> Values:
    low, high = (_number(text, sizes) for text in (w.low, w.high))
    last = math.nextafter(high, -math.inf) if p.type.is_float else math.ceil(high) - 1
    within = Interval(low if p.type.is_float else math.ceil(low), last)
    if within.low <= within.high and of_type(p.type).holds(within):
        return Values(within, w.ascending)
    raise UsageError(
        f"{p.type} {p.name} has no values from {low:g} up to and without {high:g}",
        code="LX054",
        help=FORM,
    )


def _number(text: str, sizes: Mapping[str, int | float]) -> int | float:
    if text in sizes:
        return sizes[text]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number) and "_" not in text:
        return int(number) if number.is_integer() else number
    raise UsageError(f"'{text}' is neither a number nor a size", code="LX054", help=FORM)


# ---------------------------------------------------------------- random elements


def draw(
    t: Scalar, shape: tuple[int, ...], rng: np.random.Generator, values: Values
) -> np.ndarray[Any, Any]:
    """Random elements of those values, each end among them for integers. An interval that has no
    end gets a near one."""
    low, high = values.within.low, values.within.high
    if t.is_float:
        out = np.minimum(rng.uniform(low, high, shape).astype(t.numpy), _below(high, t))
    else:
        least = low if math.isfinite(low) else min(0, high)
        most = high if math.isfinite(high) else least + 9
        held = Interval(least, most).both(of_type(t))
        out = rng.integers(int(held.low), int(held.high), shape, t.numpy, endpoint=True)
    return np.sort(out, axis=-1) if values.ascending and out.ndim else out


def _below(high: float, t: Scalar) -> Any:
    """The greatest value of the type that is not above `high`."""
    of_t = np.dtype(t.numpy).type
    nearest = of_t(high)
    return nearest if float(nearest) <= high else np.nextafter(nearest, of_t(-np.inf))
