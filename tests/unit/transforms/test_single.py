"""Single: a loop of one iteration around statements that stand next to each other."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

TWO = c(
    "int t = 3; for (int k = 0; k < n; k++) t += a[k]; a[0] = t; "
    "for (int i = 0; i < n; i++) { a[i] = a[i] + 1; if (n > 2) a[0] = 2; else { a[0] = 3; "
    "a[n] = t; } }",
    "int n, int a[n + 1]",
)

LISTINGS = {
    "one": (TWO, "single 2"),
    "several": (TWO, "single 2 3"),
    "declarations-stay-in-front": (TWO, "single 1 4 whole", "parallelise whole"),
    "in-a-loop": (TWO, "single 5.1 2"),
    "in-a-branch": (TWO, "single 5.2.1"),
    "in-an-else-branch": (TWO, "single 5.2.-1 2 other"),
}

REFUSALS = {
    "no-such-place": (TWO, "single 9"),
    "no-such-statements": (TWO, "single 4 3"),
    "inside-an-assignment": (TWO, "single 4.1"),
    "no-place": (TWO, "single k"),
    "place-zero": (TWO, "single 5.0"),
    "no-count": (TWO, "single 2 0"),
    "taken": (TWO, "single 2 1 t"),
    "no-name": (TWO, "single 2 1 for"),
    "ends-the-function": (
        c("for (int k = 0; k < n; k++) a[k] = 1; return;", "int n, int a[n]"),
        "single 1 2",
    ),
    "not-modelled": (c("for (int i = 0; i < n; i++) a[i] = 1; unknown(a);"), "single 1 2"),
    "extent-changes": (
        c("int m; m = n + 1; int b[m]; b[0] = 1; a[0] = b[0];", "int n, int a[n + 1]"),
        "single 2 3",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
