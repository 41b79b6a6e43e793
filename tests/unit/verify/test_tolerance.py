"""What may differ where a device fuses products with sums: relative to an element, and a little
relative to the largest, since what cancels keeps the errors of what it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from loopxform.verify.compare import compare
from loopxform.verify.tolerance import Tolerance

EXACT = Tolerance((), contract=False)
FUSED = Tolerance((), contract=True)


def close(expected: np.ndarray, actual: np.ndarray, allowed: Tolerance) -> bool:
    rtol, atol = allowed.relative(expected), allowed.absolute(expected)
    return not compare({"a": expected}, {"a": actual}, rtol=rtol, atol=atol)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_cancels_has_the_errors_of_its_terms(kind: type) -> None:
    eps = float(np.finfo(kind).eps)
    expected = np.array([1000.0, 1000 * eps], kind)
    assert close(expected, expected + kind(4000 * eps), FUSED)
    assert not close(expected, expected + kind(4000 * eps), EXACT)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_what_is_wrong_is_seen(kind: type) -> None:
    expected = np.array([1.0, 0.5, 0.25], kind)
    assert not close(expected, expected + np.array([0, 0, 0.125], kind), FUSED)
    assert not close(expected, np.array([0, 0.5, 0.25], kind), FUSED)


def test_integers_are_exact() -> None:
    expected = np.array([1 << 20, 1], np.int32)
    assert FUSED.absolute(expected) == FUSED.relative(expected) == 0.0
    assert not close(expected, expected + 1, FUSED)


def test_infinities_do_not_allow_anything() -> None:
    expected = np.array([np.inf, 1.0], np.float32)
    assert close(expected, expected, FUSED)
    assert not close(expected, np.array([np.inf, 2.0], np.float32), FUSED)
