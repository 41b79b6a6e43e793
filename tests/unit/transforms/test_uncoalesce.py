"""Uncoalesce: a loop over the numbers of elements as loops over rows and columns."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int m, int a[n][m], int b[n]"


def loop(body: str, trips: str = "n*m", kind: str = "int", params: str = PARAMS) -> str:
    return c(f"for ({kind} t = 0; t < {trips}; t++) {{ {body} }}", params)


FLAT = loop("a[t / m][t % m] = b[t / m] + t;")
CUBE = loop(
    "a[t / (m*l)][t / l % m][t % l] = t % (m*l);",
    "n*m*l",
    params="int n, int m, int l, int a[n][m][l]",
)
POSITIVE = "assume m>=1"

LISTINGS = {
    "matrix": (FLAT, POSITIVE, "uncoalesce t"),
    "named": (FLAT, POSITIVE, "uncoalesce t i j"),
    "cube": (CUBE, "assume l>=1", POSITIVE, "uncoalesce t row k", "uncoalesce row i j"),
    "numbers": (loop("a[t / 8][t % 8] = t;", "24", params="int a[3][8]"), "uncoalesce t"),
    "differences": (
        loop("a[t / (m - 2)][t % (m - 2)] = t;", "n*m - 2*n", params=PARAMS),
        "assume m>=3",
        "uncoalesce t",
    ),
    "longs": (
        loop("a[t / m][t % m] = 1;", "n*m", "long", "long n, long m, int a[n][m]"),
        POSITIVE,
        "uncoalesce t",
    ),
}

REFUSALS = {
    "no-such-loop": (FLAT, "uncoalesce z"),
    "not-known": (FLAT, "uncoalesce t"),
    "a-rest": (loop("a[t / m][t % m] = 1;", "n*m - 1"), POSITIVE, "uncoalesce t"),
    "two-widths": (loop("a[t / m][t % m] = t % n;"), POSITIVE, "assume n>=1", "uncoalesce t"),
    "of-data": (loop("a[t / m][t % m] = t / b[0];"), POSITIVE, "uncoalesce t"),
    "unsigned": (loop("a[t / m][t % m] = 1;", kind="unsigned"), POSITIVE, "uncoalesce t"),
    "wider": (
        loop("b[t / m] = 1;", params="int n, long m, int b[n]"),
        POSITIVE,
        "uncoalesce t",
    ),
    "taken": (FLAT, POSITIVE, "uncoalesce t a j"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
