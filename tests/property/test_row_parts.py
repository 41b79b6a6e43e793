"""Parts of rows behind pointers: what is copied of each row is exactly what lies between the first
and the last element that loops touch there, by enumeration."""

from __future__ import annotations

import random
from itertools import product

import pytest

import loopxform as lx
from loopxform.analysis.matrix_rows import row_part
from loopxform.ir.evaluate import evaluate

LOOPS = (
    "for (int i = {lo}; i < n; i++) for (int j = {lo2}; j < m; j++)",
    "for (int i = {lo}; i < n; i++) for (int j = {lo2}; j <= i; j++)",
    "for (int i = {lo}; i < n; i++) for (int j = i; j < m + 1; j++)",
)
ROWS = ("i", "i + 1", "i + 2")
COLUMNS = ("j", "j + 1", "j + 3", "2 * j", "i + j", "2")


def nest(rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """A nest, and the rows and columns that it touches, in Python too."""
    head = rng.choice(LOOPS).format(lo=rng.randrange(3), lo2=rng.randrange(3))
    touched = [(rng.choice(ROWS), rng.choice(COLUMNS)) for _ in range(rng.randrange(1, 4))]
    lines = [f"b[i] += a[{r}][{c}];" for r, c in touched]
    return f"{head} {{ {' '.join(lines)} }}", touched


def elements(text: str, touched: list[tuple[str, str]], n: int, m: int) -> set[tuple[int, int]]:
    """What the nest touches, by its header."""
    i_lo = int(text.split("i = ")[1][0])
    found: set[tuple[int, int]] = set()
    for i in range(i_lo, n):
        j_lo = i if "j = i" in text else int(text.split("j = ")[1][0])
        j_hi = i + 1 if "j <= i" in text else m + 1 if "j < m + 1" in text else m
        for j, (r, c) in product(range(j_lo, j_hi), touched):
            at = {"i": i, "j": j}
            found.add((eval(r, at), eval(c, at)))
    return found


@pytest.mark.parametrize("seed", range(16))
def test_parts_are_what_is_touched(seed: int) -> None:
    text, touched = nest(random.Random(seed))
    done = lx.loads(f"void f(int n, int m, long *b, long **a) {{ {text} }}").offload()
    if any("no simple formula" in e.message for _, e in done.left):
        pytest.skip("the part has no simple formula")
    assert [r.region.name for r in done.regions] == ["f_1"], done.left
    start = done.regions[0].done.derivation.start
    if any(p.name == "i" for p in start.params):
        pytest.skip("the part has no simple formula but in an inner loop")
    (a,) = (p for p in start.objects if p.rows)
    part = row_part(start, a)
    for n, m in product((0, 1, 2, 5, 6), (0, 1, 3, 7)):
        there = elements(text, touched, n, m)
        known = {"n": n, "m": m}
        copied: dict[int, tuple[int, int]] = {}
        if part.touched is None or evaluate(part.touched, known):
            for row in range(evaluate(part.ends[0], known)):
                here = {**known, part.index[0]: row}
                if part.when is None or evaluate(part.when, here):
                    copied[row] = evaluate(part.first, here), evaluate(part.last, here)
        rows = {r for r, _ in there}
        columns = {r: [c for row, c in there if row == r] for r in rows}
        assert copied == {r: (min(c), max(c)) for r, c in columns.items()}, (text, n, m)
        if there:
            length = a.shape[1]
            assert length is not None
            assert evaluate(length, known) > max(c for _, c in there)
