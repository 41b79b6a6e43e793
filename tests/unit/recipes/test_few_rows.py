"""Element-wise nests of a few rows, fewer than a group has work-items along them."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.targets.profile import PROFILES


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 7, 8, 9, 33])
def test_no_more_work_items_than_rows(rows: int) -> None:
    text = f"""void f(int n, const int a[{rows}][n], int b[restrict {rows}][n]) {{
      for (int y = 0; y < {rows}; y++) for (int x = 0; x < n; x++) b[y][x] = a[y][x]; }}"""
    done = lx.loads(text)["f"].tile(limits=PROFILES["h100"])
    assert done.tiled.recipe == "elementwise"
    assert emit.kernel(done.derivation).kernels
