"""Loops that were blocked or unrolled by hand: which become one, and which stay."""

from __future__ import annotations

import pytest
from deriving import assert_same_meaning, c, start

from loopxform.ir.printer import listing
from loopxform.ir.visit import loops
from loopxform.prepare.blocked_loops import unblocked
from loopxform.prepare.unrolled_loops import rerolled

PARAMS = "int n, int m, int a[n + 9][m + 9], const int b[n + 9][m + 9], int s[n + 9]"
TILE = "i = ii; i < ii + 4 && i < n; i++"

JOINED = {
    "in-between": f"for (int ii = 0; ii < n; ii += 4) for (int j = 0; j < m; j++)"
    f" for (int {TILE}) a[i][j] += b[i][j];",
    "scalar": f"for (int ii = 0; ii < n; ii += 4) for (int j = 0; j < m; j++)"
    f" {{ int x = b[0][j]; for (int {TILE}) a[i][j] += x; }}",
    "both": f"for (int ii = 0; ii < n; ii += 4) for (int jj = 0; jj < m; jj += 4) for (int {TILE})"
    " for (int j = jj; j < m && j < jj + 4; j++) a[i][j] += b[i][j];",
    "same-names": f"for (int ii = 0; ii < n; ii += 4) for (int {TILE}) s[i] = 1;"
    f" for (int ii = 0; ii < n; ii += 4) for (int {TILE}) s[i] += i;",
}
KEPT = {
    "not-legal": f"for (int ii = 1; ii < n; ii += 4) for (int j = 1; j < m; j++)"
    f" for (int {TILE}) a[i][j] = a[i - 1][j + 1] + 1;",
    "statements-between": f"for (int ii = 0; ii < n; ii += 4) for (int j = 0; j < m; j++)"
    f" {{ s[j % 4] = 0; for (int {TILE}) s[j % 4] += b[i][j]; }}",
    "parallel-tiles": f"for (int ii = 0; ii < n; ii += 4)"
    f" for (int {TILE}) if (i % 4 != 0) s[i] += s[i - 1];",
    "tile-read": f"for (int ii = 0; ii < n; ii += 4) for (int {TILE}) s[i] += ii;",
}


@pytest.mark.parametrize("name", JOINED)
def test_loops_that_become_one(name: str) -> None:
    before = start(c(JOINED[name], PARAMS))[0]
    after = unblocked(before)
    assert " ii" not in listing(after.function).replace("(", " ")
    assert_same_meaning(before.function, after.function, (0, 1, 5, 8))


@pytest.mark.parametrize("name", KEPT)
def test_loops_that_stay(name: str) -> None:
    before = start(c(KEPT[name], PARAMS))[0]
    assert unblocked(before) is before


def test_unrolled_loops_beside_each_other() -> None:
    first = "for (k = 0; k + 1 < n; k += 2) { s[k] = k; s[k + 1] = k + 1; }"
    first += " for (; k < n; k++) s[k] = k;"
    second = "for (l = 1; l + 1 < n; l += 2) { s[l] += s[l - 1]; s[l + 1] += s[l]; }"
    third = "for (q = 0; q < n; q += 2) { s[q] += 3; s[q + 1] += 3; }"
    before = start(c(f"int k, l, q; {first} {second} {third}", PARAMS))[0]
    after = rerolled(before)
    assert [s.loop.step.value for s in loops(after.function)] == [1, 1, 1]
    assert_same_meaning(before.function, after.function, (0, 1, 2, 5, 8))


@pytest.mark.parametrize(
    ("header", "loops_left"),
    [("k = 0; k < n - n / 2 * 2", 1), ("k = 1; k < n - n / 2 * 2", 2), ("k = 0; k < n % 3", 2)],
)
def test_the_rest_in_front_of_an_unrolled_loop(header: str, loops_left: int) -> None:
    first = f"for ({header}; k++) s[k] += k;"
    second = "for (k = n - n / 2 * 2; k < n; k += 2) { s[k] += k; s[k + 1] += k + 1; }"
    before = start(c(f"int k; {first} {second}", PARAMS))[0]
    after = rerolled(before)
    assert len(loops(after.function)) == loops_left
    assert_same_meaning(before.function, after.function, (0, 1, 2, 5, 8))


def test_loops_without_repetitions_stay() -> None:
    before = start(c("for (int i = 0; i < n; i += 2) { s[i] = 1; s[i + 1] = 2; }", PARAMS))[0]
    assert rerolled(before) is before
