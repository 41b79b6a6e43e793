"""Histograms of rows: their versions give the counts of the C, few long rows by atomic updates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopxform as lx

ROWS = """
void f(int r, int n, int m, const int a[r][n], int h[restrict r][m])
{
  for (int i = 0; i < r; i++)
    for (int j = 0; j < n; j++)
      h[i][a[i][j]]++;
}
"""
SIZES = [(3, 0, 7), (3, 1, 7), (5, 257, 7), (33, 1000, 40), (2, 20001, 300), (300, 3, 5)]


def mapped(**options: Any) -> Any:
    return lx.loads(ROWS)["f"].offload(limits="h100", **options)


def test_versions() -> None:
    (part,) = (p for p in mapped().parts if p.kind == "kernel")
    assert part.tiled is not None
    guards = [v.label for v in mapped().derivation.records[-1].step.variants]
    assert guards == ["updates", "short rows", "items"]


@pytest.mark.device
@pytest.mark.parametrize("outer", [0, 1000])
def test_counts(outer: int) -> None:
    """With 0 rows enough, a work-item runs each; with 1000, updates are atomic."""
    kernel = mapped(threshold={"suff_outer_par_0": outer}).compile()
    random = np.random.default_rng(7)
    for r, n, m in SIZES:
        a = random.integers(0, m, (r, n)).astype(np.int32)
        h = np.arange(r * m, dtype=np.int32).reshape(r, m)
        counted = h + np.array([np.bincount(row, minlength=m) for row in a], np.int32)
        kernel(r, n, m, a, h)
        assert np.array_equal(h, counted), (r, n, m)
