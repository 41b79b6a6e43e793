"""Distribution of a condition: every statement of its branches gets it, loops take it inside."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

BOTH = c(
    "float s = a[0]; if (s > 3) { b[0] = s; for (int i = 0; i < n; i++) a[i] = s; } "
    "else { float t = s * 2; for (int i = 0; i < n; i++) { a[i] = t; b[i] += 1; } }"
)
LISTINGS = {
    "both-branches": (BOTH, "distribute-if 3"),
    "in-an-else-branch": (
        BOTH.replace("s > 3", "n > 9) b[1] = 2; else if (s > 3"),
        "distribute-if 3.-1",
    ),
    "changes": (BOTH.replace("b[0] = s", "s = 1"), "distribute-if 3"),
    "on-an-element": (
        c("if (a[0] > 3) for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) b[i] += a[j];"),
        "distribute-if 1",
    ),
}
REFUSALS = {
    "no-loop": (c("if (a[0] > 3) b[0] = 1;"), "distribute-if 1"),
    "bounds-from-an-array": (
        c("if (n > 0) for (int i = 0; i < a[0]; i++) b[0] += i;", "int n, int a[n], int b[n]"),
        "distribute-if 1",
    ),
    "not-modelled": (BOTH.replace("b[0] = s;", "unknown();"), "distribute-if 3"),
    "no-condition": (BOTH, "distribute-if 2"),
    "no-place": (BOTH, "distribute-if 9"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case], sizes=(2, 5, 8)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
