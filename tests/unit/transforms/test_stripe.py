"""Stripe: the elements of an array dealt out to the work-items that use them."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = "int n, int m, const int a[restrict n][m], int b[restrict n][m]"
DOUBLED = c(
    "for (int i = 0; i < n; i++) { int t[m]; for (int j = 0; j < m; j++) t[j] = 2 * a[i][j]; "
    "for (int j = 0; j < m; j++) b[i][j] = t[j] + 1; }",
    ROWS,
)
MIRROR = DOUBLED.replace("t[j] + 1", "t[m - 1 - j]")
FIRST = DOUBLED.replace("t[j] + 1", "t[j] - t[0]")
NEXT = DOUBLED.replace("t[j] + 1", "t[j > 0 ? j - 1 : 0]")


def dealt(*parts: str) -> tuple[str, ...]:
    """The steps before: both loops over a row dealt out, in so many parts each."""
    own = [f"parallelise j#{k}" for k, _ in enumerate(parts, 1)]
    turns = [f"round-robin j#{k} {p} t{k}" for k, p in enumerate(parts, 1)]
    trips = [f"bound-trips j#{k} 4" for k, _ in enumerate(parts, 1)]
    bounded = ("assume m<=12", "bound-extent t 12", "parallelise i")
    return (*bounded, *own, *turns, *trips, "normalise j*")


LISTINGS = {
    "rows": (DOUBLED, *dealt("4", "4"), "stripe t 4"),
    "unrolled": (DOUBLED, *dealt("4", "4"), "unroll j*", "stripe t 4"),
    "named": (DOUBLED, *dealt("Tx", "Tx"), "stripe t Tx"),
    "partial": (DOUBLED, *dealt("5", "5"), "stripe t 5"),
}
REFUSALS = {
    "in-other-parts": (DOUBLED, *dealt("4", "3"), "stripe t 4"),
    "mirrored": (MIRROR, *dealt("4", "4"), "stripe t 4"),
    "of-another-one": (FIRST, *dealt("4", "4"), "stripe t 4"),
    "neighbours": (NEXT, *dealt("4", "4"), "stripe t 4"),
    "open": (DOUBLED, "stripe t 4"),
    "of-the-caller": (DOUBLED, "stripe a 4"),
    "no-size": (DOUBLED, *dealt("4", "4"), "stripe t many"),
    "placed": (DOUBLED, *dealt("4", "4"), "map i group.x", "promote-to-local t", "stripe t 4"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
