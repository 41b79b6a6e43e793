"""Loops cut at the counter of a loop around them, in the ways that people write shortest paths."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.ir.visit import loops
from loopxform.offload.index_set_splitting import apart_from_pivots
from loopxform.transforms import Derivation

TEXT = """\
void f(int n, float d[n][n])
{{
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {{
      {before}
      for (int j = 0; j < n; j++) {{ {body} }}
    }}
}}
"""
WAYS = {
    "twice": ("", "if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];", 9),
    "in-a-scalar": ("", "float t = d[i][k] + d[k][j]; if (t < d[i][j]) d[i][j] = t;", 9),
    "selected": ("", "float t = d[i][k] + d[k][j]; d[i][j] = t < d[i][j] ? t : d[i][j];", 9),
    "only-rows": (
        "if (d[i][k] > 9) continue;",
        "float t = d[i][k] + d[k][j]; if (t < d[i][j]) d[i][j] = t;",
        3,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_in_so_many_parts(way: str) -> None:
    before, body, count = WAYS[way]
    fn = lx.loads(TEXT.format(before=before, body=body))["f"].function
    apart = apart_from_pivots(Derivation(fn), "i")
    assert apart is not None
    assert sum(s.loop.var.startswith("j") for s in loops(apart.function)) == count
