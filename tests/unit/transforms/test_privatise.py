"""Privatise: a variable that each iteration sets for itself is declared in it."""

from __future__ import annotations

import pytest
from c_texts import C89, MM
from conftest import Golden
from deriving import assert_step, c, refusal

COUNTED = c(
    "for (int i = 0; i < n; i++) { int x; for (x = 0; x < 4; x++) m[i][x] = a[i]; BEHIND }",
    "int n, float a[n], float b[n], float m[n][4]",
)
"""C as it was before loops could declare their counters."""

LISTINGS = {
    "accumulator": (
        C89,
        "privatise acc j",
    ),
    "outer": (
        C89,
        "privatise acc i",
    ),
    "already-inside": (
        MM,
        "privatise acc j",
    ),
    "used-by-another-loop": (
        c(
            "float t; for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; } for (int i = 0; "
            "i < n; i++) { t = b[i]; a[i] = t * t; }"
        ),
        "privatise t i#1",
    ),
    "counter": (COUNTED.replace("BEHIND", ""), "privatise x x"),
    "counter-of-two-loops": (
        COUNTED.replace("BEHIND", "for (x = 1; x < 3; x++) m[i][x] += b[i];"),
        "privatise x i",
    ),
    "set-before": (
        c("float t = 3; for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }"),
        "privatise t i",
    ),
    "own": (
        c("float t; for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }"),
        "privatise t i own",
    ),
    "own-inside": (
        c("for (int i = 0; i < n; i++) { float t = a[i]; b[i] = t; }"),
        "privatise t i own",
    ),
    "array": (
        c("float t[2]; for (int i = 0; i < n; i++) { t[0] = a[i]; t[1] = t[0] + 1; b[i] = t[1]; }"),
        "privatise t i",
    ),
}

REFUSALS = {
    "counter-that-is-read": (COUNTED.replace("BEHIND", "b[i] = x;"), "privatise x x"),
    "counter-with-other-uses": (COUNTED.replace("BEHIND", "x = 3; b[i] = x;"), "privatise x x"),
    "read-first": (
        c("float t = 0; for (int i = 0; i < n; i++) { t += a[i]; b[i] = t; }"),
        "privatise t i",
    ),
    "set-in-a-branch": (
        c("float t = 0; for (int i = 0; i < n; i++) { if (a[i] > 1) t = a[i]; b[i] = t; }"),
        "privatise t i",
    ),
    "read-after": (
        c("float t = 0; for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; } b[0] = t;"),
        "privatise t i",
    ),
    "of-the-caller": (
        c("for (int i = 0; i < n; i++) b[0] = a[i];"),
        "privatise b i",
    ),
    "extent-changes": (
        c(
            "int m = n; float t[m]; m = 1; for (int i = 0; i < n; i++) { t[i] = a[i]; "
            "b[i] = t[i]; }"
        ),
        "privatise t i",
    ),
    "unknown": (
        C89,
        "privatise acc x",
    ),
    "no-such-variable": (
        C89,
        "privatise sum j",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
