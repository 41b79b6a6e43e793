"""ScalarToMemory: a scalar variable in an array of one element."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

SUM = c(
    "int k; float t = 3; for (k = 0; k < n; k++) { float u = a[k]; t += u * u; } "
    "for (int i = 0; i < n; i++) b[i] = t;"
)

LISTINGS = {
    "between-loops": (SUM, "scalar-to-memory t"),
    "in-a-loop": (SUM, "scalar-to-memory u"),
    "what-a-parallel-loop-reads": (SUM, "parallelise i", "scalar-to-memory t"),
    "in-a-bound": (
        c(
            "int m = n / 2; for (int i = 0; i < m; i++) b[i] = a[i] + m; b[0] = m;",
            "int n, float a[n], float b[n + 1]",
        ),
        "scalar-to-memory m",
    ),
}

REFUSALS = {
    "of-the-caller": (SUM, "scalar-to-memory n"),
    "counter": (SUM, "scalar-to-memory k"),
    "array": (c("float t[3]; t[0] = 1; a[0] = t[0];"), "scalar-to-memory t"),
    "unknown": (SUM, "scalar-to-memory q"),
    "not-modelled": (c("float t = 1; unknown(a); a[0] = t;"), "scalar-to-memory t"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
