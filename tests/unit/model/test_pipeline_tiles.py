"""Tiles of pipelines: fewer rows where the cache then holds what groups work on."""

from __future__ import annotations

from dataclasses import replace

import pytest

import loopxform as lx
from loopxform.targets.profile import PROFILES

BLUR = """
void blur(int h, int w, const float in[{0}h + 2][w + 2], float out[{0}h][w])
{{
  float v[{0}h][w + 2];
  {1}
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w + 2; x++)
      v{2}[y][x] = in{2}[y][x] + in{2}[y + 1][x] + in{2}[y + 2][x];
  {1}
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out{2}[y][x] = v{2}[y][x] + v{2}[y][x + 1] + v{2}[y][x + 2];
}}
"""
PLANES = BLUR.format("3][", "for (int c = 0; c < 3; c++)", "[c]")


@pytest.mark.parametrize(
    ("text", "cache", "few"),
    [(PLANES, 50 << 20, True), (PLANES, 0, False), (PLANES, 1 << 30, False)],
)
def test_rows(text: str, cache: int, few: bool) -> None:
    h100 = PROFILES["h100"]
    limits = replace(h100, costs=replace(h100.costs, cache_bytes=cache))
    (part, *_) = lx.loads(text)["blur"].offload(limits=limits).parts
    assert part.about is not None
    assert any(f"tiles of {n} rows" in part.about for n in (8, 16)) == few
