"""AtLeastOnce: loops that say that they run."""

from __future__ import annotations

import pytest
from c_texts import DOWN
from conftest import Golden
from deriving import assert_step, c, refusal

COPY = c("for (int i = 0; i < n; i++) b[i] = a[i];")
THIRDS = c(
    "for (int i = 1; i < n; i += 3) b[i] = a[i];",
    "int n, const float a[restrict n], float b[restrict n]",
)
TRIANGLE = c("for (int k = 0; k < n; k++) for (int i = 0; i <= k; i++) b[i] += a[k];")

LISTINGS = {
    "assumed": (COPY, "assume 0<n", "at-least-once i"),
    "steps": (THIRDS, "assume n>=2", "at-least-once i"),
    "inside": (TRIANGLE, "at-least-once i"),
}
REFUSALS = {
    "not-known": (COPY, "at-least-once i"),
    "too-little": (THIRDS, "assume n>=1", "at-least-once i"),
    "empty-at-first": (
        c("for (int k = 0; k < n; k++) for (int i = 0; i < k; i++) b[i] += a[k];"),
        *("assume n>=1", "at-least-once i"),
    ),
    "down": (DOWN, "at-least-once i"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
