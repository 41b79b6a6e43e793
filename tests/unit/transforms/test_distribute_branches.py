"""Distributing branches: for i: if (c) A else B, as a loop for each branch, in an order that keeps
the dependences between them."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, float *a, const float *b, float *c, const float *d"
S161 = c(
    "for (int i = 0; i < n - 1; i++) if (b[i] < 0) c[i + 1] = a[i] + d[i] * d[i];"
    " else a[i] = c[i] + d[i];",
    PARAMS,
)
GOTO = c(
    "for (int i = 0; i < n - 1; i++) { if (b[i] < 0) goto L20; a[i] = c[i] + d[i]; goto L10;"
    " L20: c[i + 1] = a[i]; L10:; }",
    PARAMS,
)
LOOPS = c(
    "for (int i = 1; i < n; i++) if (b[i] > d[0]) { for (int k = 0; k < 4; k++) a[i - 1] += b[k]; }"
    " else { float t = c[i]; c[i] = t * a[i]; }",
    PARAMS,
)

LISTINGS = {
    "as_written": (S161, "distribute-branches i"),
    "turned": (GOTO, "distribute-branches i"),
    "loops": (LOOPS, "distribute-branches i"),
    "parallel": (
        c("for (int i = 0; i < n; i++) if (b[i] < 0) a[i] = 1; else c[i] = 2;", PARAMS),
        "parallelise i",
        "distribute-branches i",
    ),
}

REFUSALS = {
    "cycle": (
        c(
            "for (int i = 1; i < n; i++) if (b[i] < 0) a[i] = c[i - 1]; else c[i] = a[i - 1];",
            PARAMS,
        ),
        "distribute-branches i",
    ),
    "condition": (
        c("for (int i = 0; i < n; i++) if (a[i] < 0) a[i + 1] = 1; else c[i] = 2;", PARAMS),
        "distribute-branches i",
    ),
    "scalar": (
        c(
            "float t = 0; for (int i = 0; i < n; i++) if (b[i] < 0) t = b[i]; else c[i] = t;"
            " a[0] = t;",
            PARAMS,
        ),
        "distribute-branches i",
    ),
    "no-else": (
        c("for (int i = 0; i < n; i++) if (b[i] < 0) a[i] = 1;", PARAMS),
        "distribute-branches i",
    ),
    "no-branches": (COPY, "distribute-branches i"),
    "unknown": (DOWN, "distribute-branches x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
