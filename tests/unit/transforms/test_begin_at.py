"""BeginAt: loops that begin earlier than they did, and do nothing there."""

from __future__ import annotations

import pytest
from c_texts import DOWN
from conftest import Golden
from deriving import assert_step, c, refusal

LATER = c("for (int i = 1; i < n; i++) b[i] = a[i - 1];")
LEAST = c(
    "float m = a[0]; for (int i = 1; i < n; i++) if (a[i] < m) m = a[i]; b[0] = m;",
    "int n, const float a[restrict n + 1], float b[restrict n + 1]",
)
TRIANGLE = c(
    "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) b[i] += a[j];",
    "int n, const float a[restrict n], float b[restrict n]",
)

LISTINGS = {
    "zero": (LATER, "begin-at i 0"),
    "extremum": (LEAST, "begin-at i 0"),
    "triangle": (TRIANGLE, "begin-at j 0"),
    "assumed": (
        c(
            "for (int i = m; i < n; i++) b[i] = a[i];",
            "int n, int m, float a[n + 1], float b[n + 1]",
        ),
        *("assume m>=0", "begin-at i 0"),
    ),
}
REFUSALS = {
    "later": (LATER, "begin-at i 2"),
    "not-known": (
        c("for (int i = m; i < n; i++) b[i] = a[i];", "int n, int m, float a[n], float b[n]"),
        "begin-at i 0",
    ),
    "by-two": (c("for (int i = 1; i < n; i += 2) b[i] = a[i];"), "begin-at i 0"),
    "down": (DOWN, "begin-at i 0"),
    "unsigned": (c("for (unsigned i = 1; i < n; i++) b[i] = 0;"), "begin-at i 0"),
    "read-after": (c("int i; for (i = 1; i < n; i++) b[i] = 0; b[0] = i;"), "begin-at i 0"),
    "no-number": (LATER, "begin-at i -1"),
    "mapped": (LATER, "parallelise i", "map i group.x", "begin-at i 0"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
