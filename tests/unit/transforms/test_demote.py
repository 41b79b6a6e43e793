"""Demote: a scalar variable in an array of one element."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

SUM = c(
    "int k; float t = 3; for (k = 0; k < n; k++) { float u = a[k]; t += u * u; } "
    "for (int i = 0; i < n; i++) b[i] = t;"
)

LISTINGS = {
    "between-loops": (SUM, "demote t"),
    "in-a-loop": (SUM, "demote u"),
    "what-a-parallel-loop-reads": (SUM, "parallelise i", "demote t"),
    "in-a-bound": (
        c(
            "int m = n / 2; for (int i = 0; i < m; i++) b[i] = a[i] + m; b[0] = m;",
            "int n, float a[n], float b[n + 1]",
        ),
        "demote m",
    ),
}

REFUSALS = {
    "of-the-caller": (SUM, "demote n"),
    "counter": (SUM, "demote k"),
    "array": (c("float t[3]; t[0] = 1; a[0] = t[0];"), "demote t"),
    "unknown": (SUM, "demote q"),
    "not-modelled": (c("float t = 1; unknown(a); a[0] = t;"), "demote t"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
