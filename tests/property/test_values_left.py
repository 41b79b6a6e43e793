"""Random loops that give variables and arrays of the file new values: where `check` calls one
private with its last value left, any order of the iterations leaves what the program does."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from checks import check_verdicts
from random_nests import lowered

from loopxform.analysis.verdict import judge

SIZE = 4
COUNT = 60


def text(rng: random.Random) -> str:
    """A loop over parts that set `b` and `k` and read them."""
    parts = " ".join(_part(rng) for _ in range(rng.choice([1, 2, 2, 3])))
    step = rng.choice(["i = 0; i < N; i++", "i = N - 1; i >= 0; i--", "i = 0; i < M; i += 2"])
    again = rng.choice(["", "for (int j = 0; j < 4; j++) a[j + 30] = k[j] + b;"])
    arrays = "int A[40][40], int a[60]"
    return (
        f"int b, k[{SIZE}]; void f(int M, int N, {arrays}) "
        f"{{ for (int {step}) {{ {parts} }} {again} }}"
    )


def _part(rng: random.Random) -> str:
    value = rng.choice(["i", "A[i][1]", "7", "A[i][j] + i", "k[j] + 1", "b"])
    row = value.replace("b", "3") if rng.random() < 0.7 else value
    first, last = rng.choice(["0", "0", "0", "1"]), rng.choice(["4", "4", "4", "3", "i", "N"])
    fill = f"for (int j = {first}; j < {last} && j < {SIZE}; j++) k[j] = {row};"
    if rng.random() < 0.6:
        fill = f"for (int j = {first}; j < {rng.choice('4443')}; j++) k[j] = {row};"
    plain = value.replace("[j]", "[2]")
    condition = rng.choice(["A[i][0] > 5", "A[0][i] > 5", "i % 2 == 0", "A[i][0] > 900"])
    scalar = rng.choice([f"b = {plain};", f"if ({condition}) b = {plain};"])
    if rng.random() < 0.15:
        fill = f"if ({condition}) {fill}"
    read = rng.choice(["a[i] += k[3];", "a[i] = b;", "A[i][3] = k[0] + k[1];"])
    return rng.choice([fill, fill, scalar, scalar, read])


def check(seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for n in seeds:
        fn = lowered(text(random.Random(f"values left {n}")))
        verdict = judge(fn)[0]
        seen += Counter(check_verdicts(f"values left {n}", fn))
        seen["an array"] += "k" in verdict.copies
        seen["a number"] += "b" in verdict.copies
        seen["where set"] += bool(verdict.conditional)
    return seen


def test_any_order_leaves_the_same() -> None:
    seen = check(range(COUNT))
    assert min(seen[x] for x in ("an array", "a number", "where set", "no")) > 2, seen


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_any_order_of_many_leaves_the_same(share: int) -> None:
    seen = check(range(1000 + share * 500, 1500 + share * 500))
    assert seen["where set"] > 20, seen
