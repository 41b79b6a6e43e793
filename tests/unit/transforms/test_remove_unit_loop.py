"""Remove a unit loop: a loop of one iteration is its body."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

SUM = c("a[0] = 2; for (int i = 0; i < n; i++) a[0] += b[i];", "int n, int a[1], int b[n + 1]")
LISTINGS = {
    "after-scalarising": (SUM, "unit-loop 2 1 once", "scalarise a once", "remove-unit-loop once"),
    "not-from-zero": (
        c(
            "for (int i = n; i < n + 1; i++) for (int j = i; j < n + 2; j++) a[i] += j;",
            "int n, int a[n + 1]",
        ),
        "remove-unit-loop i",
    ),
}
REFUSALS = {
    "more": (SUM, "remove-unit-loop i"),
    "perhaps-none": (c("for (int i = 0; i < n && i < 1; i++) a[i] = 1;"), "remove-unit-loop i"),
    "mapped": (
        SUM,
        "unit-loop 2 1 once",
        "parallelise once",
        "map once group.x",
        "remove-unit-loop once",
    ),
    "read-later": (
        c("int i; for (i = 0; i < 1; i++) a[i] = 1; a[1] = i;", "int n, int a[n + 2]"),
        "remove-unit-loop i",
    ),
    "unknown": (SUM, "remove-unit-loop q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
