"""Hoisting: what is the same in every iteration goes in front of the loop."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, int m, const int nbr[n], const float x[n][m], float f[n][m]"
BOXES = c(
    "for (int b = 0; b < n; b++) for (int i = 0; i < m; i++) {"
    " int j; j = nbr[b]; float s = x[j][0]; f[b][i] = s + x[b][i]; }",
    ARGS,
)
LISTINGS = {
    "index": (BOXES, "parallelise i", "stripmine i 4", "hoist i"),
    "one-of-two": (BOXES, "stripmine i 4", "hoist i j"),
    "numbers": (
        c("for (int i = 0; i < n; i++) { float w = 0.5f; b[i] = w * a[i]; }"),
        "hoist i",
    ),
    "in-two-branches": (
        c(
            "for (int i = 0; i < n; i++) {"
            " float w; if (n > 3) w = 1; else w = 2; b[i] = w * a[i]; }"
        ),
        "hoist i",
    ),
}

REFUSALS = {
    "may-not-run": (BOXES, "hoist i"),
    "varies": (c("for (int i = 0; i < n; i++) { float w = a[i]; b[i] = w; }"), "hoist i"),
    "sum": (
        c(
            "for (int i = 0; i < n; i++) { float w = 0; for (int k = 0; k < n; k++) w += a[k];"
            " w += i; b[i] = w; }"
        ),
        "hoist i",
    ),
    "written-array": (
        c("for (int i = 1; i < n; i++) { float w = b[0]; b[i] = w + a[i]; }"),
        "hoist i",
    ),
    "shared-variable": (
        c("float w; for (int i = 0; i < n; i++) { w = 2; b[i] = w * a[i]; } b[0] = w;"),
        "hoist i",
    ),
    "not-of-this-name": (BOXES, "stripmine i 4", "hoist i x"),
    "unknown": (MM, "hoist x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
