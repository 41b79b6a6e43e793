"""SignedCounters: ints in place of unsigned counters."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ARRAYS = "unsigned T, unsigned n, float A[2][n]"
SMALL = ("assume T<=536870912", "assume n<=536870912")
PLANES = "for (unsigned t = 0; t < T; t++) for (unsigned i = 1; i < n - 1; i++)"
LISTINGS = {
    "planes": (c(f"{PLANES} A[(t + 1) % 2][i] = A[t % 2][i - 1] + i;", ARRAYS), *SMALL),
    "values": (
        c(f"{PLANES} if (t % 2 == 1) A[0][i] = (i - 5) % n + A[1][n - 1 - i];", ARRAYS),
        *SMALL,
    ),
    "remainders": (
        c(f"{PLANES} A[0][i] = A[1][(i + 1) % n] + A[1][(i + 1) % 2];", ARRAYS),
        *SMALL,
    ),
}
WIDE = "unsigned long n, unsigned long m, float A[n]"
ONE = "for (unsigned long i = 0; i < n; i++) A[i] = 1;"
REFUSALS = {
    "no-loop": (c(ONE, WIDE), "signed-counters k"),
    "signed": (
        c("for (int i = 0; i < n; i++) A[i] = 1;", "int n, float A[n]"),
        "signed-counters i",
    ),
    "large": (c(ONE, WIDE), "signed-counters i"),
    "sum": (
        c("for (unsigned long i = 0; i < n - m; i++) A[i] = 1;", WIDE),
        "assume n<=536870912",
        "assume m<=536870912",
        "signed-counters i",
    ),
    "not-a-parameter": (
        c(
            "unsigned long k = A[0]; for (unsigned long i = 0; i < k; i++) A[i] = 1;",
            WIDE,
        ),
        "signed-counters i",
    ),
    "downwards": (
        c("for (unsigned long i = n; i > 0; i--) A[i - 1] = 1;", WIDE),
        "assume n<=536870912",
        "signed-counters i",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *before = LISTINGS[case]
    golden.check(assert_step(text, *before, "signed-counters t"))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
