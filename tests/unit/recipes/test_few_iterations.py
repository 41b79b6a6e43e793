"""Loops of a handful of iterations: a work-item runs them, unless there are no others."""

from __future__ import annotations

import pytest

import loopxform as lx

GROUPS = """void f(int n, double grid[3 * n + 3][8])
{
  for (int i = 1; i <= n; i++) for (int r = 0; r < 3; r++) for (int j = 0; j < 8; j++)
    grid[3 * i + r][j] = grid[3 * i + r - 3][j] + r;
}"""
ROWS = """void f(int n, double grid[n][8])
{
  for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) grid[i][j] += j;
}"""


@pytest.mark.parametrize(("text", "loops"), [(GROUPS, ("r", "j")), (ROWS, ("i",))])
def test_loops_that_work_items_are_made_of(text: str, loops: tuple[str, ...]) -> None:
    (part,) = lx.loads(text)["f"].offload(limits="pocl").parts
    assert part.loops == loops
