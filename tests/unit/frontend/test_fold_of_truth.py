"""Constant conditions: a number converted to _Bool is 0 or 1."""

import pytest
from deriving import c, untiled

from loopxform.ir.printer import listing


@pytest.mark.parametrize("cond", ["(_Bool)2 == 1", "(_Bool)-1 > 0", "!((_Bool)4 - 1)"])
def test_truth_values(cond: str) -> None:
    found = listing(untiled(c(f"if ({cond}) a[0] = 1; else a[0] = 2;")))
    assert "a[0] = 1" in found
    assert "a[0] = 2" not in found


def test_choices_of_variables() -> None:
    assert "a[0] < (7 > 8 ? a[1] : 4)" in listing(
        untiled(c("if (a[0] < (7 > 8 ? a[1] : 4)) a[0] = 1;"))
    )
