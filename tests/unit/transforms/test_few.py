"""Few: a version of a nest for sizes that leave much of a device without work."""

from __future__ import annotations

from itertools import product

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import If
from loopxform.recipes.rounds import few
from loopxform.transforms.bounds import conjuncts

ROWS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < len[0]; j++) a[i][j] = 1;",
    "int n, int *len, float a[n][64]",
)
INSIDE = c("for (int t = 0; t < 4; t++) for (int i = 0; i < n; i++) a[i] += b[i];")

REFUSALS = {
    "unknown": (MM, "few z 128 264"),
    "not-nested": (MM, "few i 128,128,8 264"),
    "inside": (INSIDE, "few i 128 264"),
    "no-size": (MM, "few i Ty,128 264"),
    "no-number": (MM, "few i 128,128 many"),
    "data": (ROWS, "few i 128,128 264"),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(MM, "few i 2,3 4"))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("at_once", [1, 4, 7])
def test_the_condition_is_that_of_the_plan(at_once: int) -> None:
    choice = derived(MM, f"few i 8,4 {at_once}").function.body[0]
    assert isinstance(choice, If)
    seen = set()
    for m, n in product((0, 1, 8, 9, 33, 80, 200), (0, 1, 4, 5, 17, 64, 100)):
        tiles = -(-m // 8) * -(-n // 4)
        asked = bool(evaluate(choice.cond, {"M": m, "N": n}))
        assert asked == few(tiles, at_once), (m, n, tiles)
        seen.add(asked)
    assert seen == ({False} if at_once == 1 else {False, True})


def test_large_sizes_are_not_counted() -> None:
    """A product of tiles that could overflow is never computed: there are many."""
    choice = derived(MM, "few i 8,4 264").function.body[0]
    assert isinstance(choice, If)
    most = 2**31 - 1
    for m, n in ((most, 1), (1, most), (most, most)):
        first, second, _ = conjuncts(choice.cond)
        assert not (evaluate(first, {"M": m, "N": n}) and evaluate(second, {"M": m, "N": n}))
    edge = {"M": 8 * 4096 - 1, "N": 4 * 4096 - 1}
    assert all(evaluate(c, edge) for c in conjuncts(choice.cond)[:2])
