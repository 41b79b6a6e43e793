"""CopyToPrivate: each work-item copies its strip into registers."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, STAGED
from conftest import Golden
from deriving import assert_step, refusal

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
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
