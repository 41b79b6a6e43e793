"""Sequentialise: a forall may also run in order."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, PARALLEL, SWAPPED
from conftest import Golden
from deriving import assert_step, refusal

LISTINGS = {
    "one": (
        MM,
        *PARALLEL,
        "sequentialise i",
    ),
    "every": (
        MM,
        *SWAPPED,
        "sequentialise i*",
    ),
}

REFUSALS = {
    "mapped": (
        MM,
        *MAPPED,
        "sequentialise ii*",
    ),
    "ambiguous": (
        MM,
        *SWAPPED,
        "sequentialise i",
    ),
    "unknown": (
        MM,
        "sequentialise x*",
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
