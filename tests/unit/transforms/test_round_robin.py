"""RoundRobin: the iterations of a forall, dealt out in turns."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MM
from conftest import Golden
from deriving import assert_step, c, refusal

STRIDE = c("for (int i = 1; i < n; i += 3) b[i] = a[i - 1];", "int n, float a[n], float b[n]")
NARROW = c("for (unsigned char i = 0; i < 200; i++) b[i] = i;", "int b[200]")
ANYWHERE = c("for (int i = m; i < n; i++) b[i] = i;", "int m, int n, int b[n]")
ROWS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) b[i][j] = 1;",
    "int n, const int a[n], int b[n][n]",
)

LISTINGS = {
    "copy": (COPY, "parallelise i", "round-robin i 4"),
    "named": (COPY, "parallelise i", "round-robin i Ty*Tx item"),
    "stride": (STRIDE, "parallelise i", "round-robin i 2"),
    "narrow-counter": (NARROW, "parallelise i", "round-robin i 3"),
    "pair": (
        *(MM, "parallelise i", "parallelise j", "round-robin j Tx", "interchange i j_t"),
        "round-robin i Ty",
    ),
    "as-far-as-data-say": (ROWS, "parallelise i", "parallelise j", "round-robin j 4"),
    "rows-of-work-items": (COPY, "parallelise i", "round-robin i Ty*Tx", "stripmine i_t Tx i_y"),
}
REFUSALS = {
    "not-parallel": (COPY, "round-robin i 4"),
    "downwards": (DOWN, "parallelise i", "round-robin i 4"),
    "no-size": (COPY, "parallelise i", "round-robin i 0"),
    "taken": (COPY, "parallelise i", "round-robin i 4 i"),
    "begins-anywhere": (ANYWHERE, "parallelise i", "round-robin i 4"),
    "ends-anywhere": (
        ROWS.replace("int j", "long j"),
        "parallelise i",
        "parallelise j",
        "round-robin j 4",
    ),
    "mapped": (COPY, "parallelise i", "map i group.x", "round-robin i 4"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
