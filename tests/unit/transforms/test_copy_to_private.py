"""CopyToPrivate: each work-item copies its strip into registers."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, STAGED
from conftest import Golden
from deriving import assert_step, refusal

PAIRS = """
void f(int n, int m, float x[n], float A[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = x[i] - x[j];
}
"""

LISTINGS = {
    "first": (
        MM,
        *STAGED,
        "copy-to-private A_loc k",
    ),
    "both": (
        MM,
        *STAGED,
        "copy-to-private A_loc k",
        "copy-to-private B_loc k",
    ),
    "named": (
        MM,
        *STAGED,
        "copy-to-private A_loc k mine",
    ),
    "one-of-two": (PAIRS, "copy-to-private x i own 1"),
}

REFUSALS = {
    "not-staged": (
        MM,
        *STAGED,
        "copy-to-private A k",
    ),
    "global": (
        MM,
        *MAPPED,
        "copy-to-private A k",
    ),
    "not-read": (
        MM,
        *STAGED,
        "copy-to-private B_loc i#1",
    ),
    "written": (
        MM,
        *STAGED,
        "copy-to-private A_loc kk",
    ),
    "taken": (
        MM,
        *STAGED,
        "copy-to-private A_loc k acc",
    ),
    "unknown": (
        MM,
        *STAGED,
        "copy-to-private A_loc x",
    ),
    "two-boxes": (PAIRS, "copy-to-private x i"),
    "no-such-box": (PAIRS, "copy-to-private x i own 2"),
    "no-number": (PAIRS, "copy-to-private x i own first"),
    "may-not-be-read": (PAIRS.replace("j < n", "j < m"), "copy-to-private x i own 1"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
