"""SinkTail: the statements behind a loop become its last iteration."""

from __future__ import annotations

import pytest
from c_texts import COPY, MM
from conftest import Golden
from deriving import assert_step, c, refusal

SQUARE = "int n, const float L[n][n], float x[n]"
SOLVE = c(
    "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j]; x[i] = x[i] * L[i][i]; }",
    SQUARE,
)
TWO = c(
    "for (int i = 0; i < n; i++) { float s = x[i];"
    " for (int j = 0; j < i; j++) s -= L[i][j] * x[j]; float t = s * 2; x[i] = t; }",
    SQUARE,
)


def inside(body: str, params: str = SQUARE) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


LISTINGS = {
    "rows": (SOLVE, "sink-tail j"),
    "columns": (SOLVE, "sink-tail j", "interchange i j", "split i lo+1", "parallelise i#2"),
    "storage-of-their-own": (TWO, "sink-tail j"),
}

REFUSALS = {
    "nothing-behind": (COPY, "sink-tail i"),
    "nothing-behind-inside": (inside("for (int j = 0; j < i; j++) x[i] += x[j];"), "sink-tail j"),
    "to-the-end": (MM, "sink-tail k"),
    "may-not-run": (inside("for (int j = 3; j < i; j++) x[i] += x[j]; x[i] = 1;"), "sink-tail j"),
    "by-two": (inside("for (int j = 0; j < i; j += 2) x[i] += x[j]; x[i] = 1;"), "sink-tail j"),
    "bounds-change": (
        inside("for (int j = 0; j < m; j++) x[i] += x[j]; m = i;", f"{SQUARE}, int m"),
        "sink-tail j",
    ),
    "parallel": (SOLVE.replace("x[i] -=", "x[j] ="), "parallelise j", "sink-tail j"),
    "same-name": (
        inside("for (int j = 0; j < i; j++) x[i] += 1; for (int j = 0; j < i; j++) x[i] *= 2;"),
        "sink-tail j#1",
    ),
    "read-after": (
        c("int j; for (int i = 0; i < n; i++) { for (j = 0; j < i; j++) x[j] = 1; x[i] = j; }",
          SQUARE),
        "sink-tail j",
    ),
    "unknown": (MM, "sink-tail x"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
