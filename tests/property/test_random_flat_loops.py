"""Loops over the numbers of elements, as loops over rows and columns: they mean the same."""

from __future__ import annotations

import random

import pytest
from deriving import assert_same_meaning, c, derived

from loopxform.errors import TransformError

PARAMS = "int n, int m, int a[n][m], int b[n], int d[m], const int x[n][m]"
ROW, COLUMN = "t / m", "t % m"


def statement(rng: random.Random) -> str:
    """A store to an element that the number names, or to one of its row or column."""
    target = rng.choice((f"a[{ROW}][{COLUMN}]", f"b[{ROW}]", f"d[{COLUMN}]"))
    reads = (
        *(f"x[{ROW}][{COLUMN}]", f"b[{ROW}]", f"d[{COLUMN}]", "t", ROW, COLUMN),
        *(f"a[{ROW}][{COLUMN}]", str(rng.randint(1, 5))),
    )
    value = f" {rng.choice('+-*')} ".join(rng.sample(reads, rng.randint(1, 3)))
    text = f"{target} {rng.choice(('=', '+='))} {value};"
    if rng.random() < 0.4:
        left = rng.choice((ROW, COLUMN, f"x[{ROW}][{COLUMN}]"))
        text = f"if ({left} {rng.choice(('>', '<=', '!='))} {rng.randint(0, 3)}) {text}"
    return text


SLOW = [pytest.param(s, marks=pytest.mark.slow) for s in range(1, 8)]


@pytest.mark.parametrize("seed", [0, *SLOW])
def test_rows_and_columns_mean_the_same(seed: int) -> None:
    rng = random.Random(seed)
    taken = 0
    for _ in range(20):
        body = " ".join(statement(rng) for _ in range(rng.randint(1, 3)))
        text = c(f"for (int t = 0; t < n*m; t++) {{ {body} }}", PARAMS)
        try:
            done = derived(text, "assume m>=1", "uncoalesce t")
        except TransformError:
            continue
        taken += 1
        assert_same_meaning(done.start, done.function, (1, 2, 5))
    assert taken >= 15, taken
