"""What a kernel takes besides what it does decides how many stages are one, and what local memory a
unit has how many work-items compute their tile."""

from __future__ import annotations

from dataclasses import replace

import pytest

import loopxform as lx
from loopxform.targets.profile import PROFILES

CELLS = """
#define GH ((h - 1) / 8 + 8)
#define GW ((w - 1) / 8 + 6)
void cells(int h, int w, const float a[12][GH][GW], const float in[h][w], float out[h][w])
{
  float x[12][GH][GW], y[12][GH][GW];
  for (int k = 0; k < 12; k++)
    for (int i = 0; i < GH; i++)
      for (int j = 2; j < GW - 2; j++)
        x[k][i][j] = a[k][i][j - 2] + 2 * a[k][i][j] + a[k][i][j + 2];
  for (int k = 0; k < 12; k++)
    for (int i = 3; i < GH - 3; i++)
      for (int j = 2; j < GW - 2; j++)
        y[k][i][j] = x[k][i - 3][j] + 2 * x[k][i][j] + x[k][i + 3][j];
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float v = in[i][j];
      int k = (int)((v < 0 ? 0 : v > 1 ? 1 : v) * 11);
      out[i][j] = y[k][i / 8 + 3][j / 8 + 2];
    }
}
"""


@pytest.mark.parametrize(("start", "stages"), [(0, 2), (4, 3)])
def test_small_stages_are_one_kernel_where_kernels_take_long(start: int, stages: int) -> None:
    assert f"{stages} stages in one kernel" in fused(CELLS, start=start)


@pytest.mark.parametrize(
    ("planes", "room", "items"), [(36, 0, 256), (36, 232448, 128), (72, 232448, 256)]
)
def test_more_work_items_where_a_unit_has_room_for_few_groups(
    planes: int, room: int, items: int
) -> None:
    text = CELLS.replace("12", str(planes))
    assert f"{items} work-items" in fused(text, unit_local_bytes=room, start=8)


def fused(text: str, **costs: int) -> str:
    """The kernel of several stages, as reports have it."""
    limits = PROFILES["h100"]
    done = lx.loads(text)["cells"].offload(
        limits=replace(limits, costs=replace(limits.costs, **costs))
    )
    (about,) = [p.about for p in done.parts if p.about]
    return about
