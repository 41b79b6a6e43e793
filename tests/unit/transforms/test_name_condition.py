"""Name-condition: what a condition on data says, in a scalar that the host can read."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

TEXT = c(
    "int s = 0; for (int k = 0; k < n; k++) { if (a[k] > 2 && b[k]) for (int i = 0; i < n; i++)"
    " { s += a[i]; b[k] = 0; } else s = 1; } b[0] = s;",
    "int n, int a[n], int b[n + 1]",
)

LISTINGS = {
    "condition": ("name-condition 3.1",),
    "twice": ("name-condition 3.1", "name-condition 3.3"),
}
REFUSALS = {"loop": "name-condition 3", "nothing": "name-condition 9"}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(TEXT, *LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(TEXT, REFUSALS[case]))
