"""Renaming: sibling loops get names of their own."""

from __future__ import annotations

import pytest
from c_texts import MM, TWO
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "inner": (MM, "rename k l"),
    "second": (
        c("for (int i = 0; i < n; i++) b[i] = a[i]; for (int i = 1; i < n; i++) b[i] += i;"),
        "rename i#2 j",
    ),
}

REFUSALS = {
    "taken": (MM, "rename k j"),
    "keyword": (MM, "rename k kernel"),
    "read-after": (c("int i; for (i = 0; i < n; i++) b[i] = 1; a[0] = i;"), "rename i j"),
    "two": (TWO, "rename i k"),
    "unknown": (MM, "rename x y"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
