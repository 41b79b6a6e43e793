"""Element-by-element comparison of two runs, and what a person needs to know of a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.errors import MismatchError

_Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The differences in one array (or scalar: `index` is empty).

    `index` is the first element that differs in row-major order, `expected` and `actual` its
    values; `count` of `total` elements differ. `max_abs` and `max_rel` are the largest absolute
    error and the largest error relative to the expected value, over all elements (infinite where
    one side is not finite, or the expected value is zero).
    """

    name: str
    index: tuple[int, ...]
    expected: int | float
    actual: int | float
    count: int
    total: int
    max_abs: float
    max_rel: float

    def __str__(self) -> str:
        element = self.name + "".join(f"[{i}]" for i in self.index)
        return (
            f"{element} is {self.actual!r}, expected {self.expected!r}; {self.count} of "
            f"{self.total} elements differ, largest error {self.max_abs:.3g} "
            f"(relative {self.max_rel:.3g})"
        )


def compare(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> tuple[Mismatch, ...]:
    """The differences between two sets of arguments after a run, one for each name that differs.

    Values are equal where they compare equal or are both NaN; with a tolerance also where
    |actual - expected| <= atol + rtol * |expected|. Both sides have the same names and shapes.
    """
    found = (_compare(n, expected[n], actual[n], rtol, atol) for n in expected)
    return tuple(m for m in found if m is not None)


def require_equal(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    what: str = "the transformed program",
) -> None:
    """Raises MismatchError with every difference."""
    found = compare(expected, actual, rtol=rtol, atol=atol)
    if found:
        raise MismatchError(
            f"{what} computes something else: {found[0]}", notes=[str(m) for m in found[1:]]
        )


def _compare(name: str, expected: Any, actual: Any, rtol: float, atol: float) -> Mismatch | None:
    want, have = np.asarray(expected), np.asarray(actual)
    if want.shape != have.shape:
        raise ValueError(f"{name} has shape {have.shape}, expected {want.shape}")
    different = ~((want == have) | ((want != want) & (have != have)))
    if not different.any():
        return None
    error, relative = _errors(want, have, different)
    if rtol or atol:
        with np.errstate(invalid="ignore", over="ignore"):
            allowed = atol + rtol * np.abs(want.astype(np.float64))
        different &= ~(error <= allowed) | ~np.isfinite(error)
        if not different.any():
            return None
    first = np.unravel_index(int(np.argmax(different)), want.shape) if want.shape else ()
    index = tuple(int(i) for i in first)
    return Mismatch(
        name,
        index,
        want[index].item(),
        have[index].item(),
        int(different.sum()),
        int(want.size),
        float(error.max()),
        float(relative.max()),
    )


def _errors(want: _Array, have: _Array, different: _Array) -> tuple[_Array, _Array]:
    """Absolute and relative errors; exact for integers of 64 bits up to the last rounding."""
    if want.dtype.kind in "iub" and have.dtype.kind in "iub":
        gap = np.abs(want.astype(object) - have.astype(object)).astype(np.float64)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            gap = np.abs(want.astype(np.float64) - have.astype(np.float64))
    error = np.where(different, np.where(np.isnan(gap), np.inf, gap), 0.0)
    size = np.abs(want.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(different, error / size, 0.0)
    return error, np.where(np.isnan(relative), np.inf, relative)
