"""Annotations that ask for tiles of several nests: of loops over time, of fused stages."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Golden

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

STAGES = """void f(int n, int m, const float a[n][m], float b[n][m])
{{
  float t[n][m];
{}  for (int y = 0; y < n; y++)
    for (int x = 1; x < m - 1; x++)
      t[y][x] = a[y][x - 1] + a[y][x + 1];
{}  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < m - 1; x++)
      b[y][x] = t[y - 1][x] + t[y + 1][x];
}}
"""
HEAT = """void f(int steps, int n, float a[n][n], float b[n][n])
{{
{}  for (int t = 0; t < steps; t++) {{
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }}
}}
"""


def tile(text: str) -> str:
    return f"#pragma loopxform tile({text})\n"


CASES = {
    "both": STAGES.format(*[tile("fuse-stages=8x16")] * 2),
    "one": STAGES.format(tile("fuse-stages=8x16"), ""),
    "apart": STAGES.format("", tile("fuse-stages=0")),
    "tiled-otherwise": STAGES.format(tile("Ty=8"), ""),
    "whole": tile("fuse-stages=8x16") + STAGES.format("", ""),
    "halo": STAGES.format(*[tile("fuse-stages=8x2")] * 2),
    "blocks": STAGES.format(*[tile("tile-stages=4x8x16")] * 2),
    "blocks-of-one": STAGES.format(tile("tile-stages=4x8x16"), ""),
    "blocks-of-all": tile("tile_stages=4x8x16") + STAGES.format("", ""),
    "blocks-or-none": STAGES.format(*[tile("tile-stages=4x8x16x16")] * 2),
    "no-blocks": STAGES.format(*[tile("tile-stages=0, fuse-stages=8x16")] * 2),
    "no-block": STAGES.format(tile("tile-stages=8"), ""),
    "no-tile": STAGES.format(tile("fuse-stages=8"), ""),
    "time": HEAT.format(tile("time-tile=2x8x16")),
    "no-time": HEAT.format(tile("time-tile=0")),
    "time-halo": HEAT.format(tile("time_tile=4x8x8")),
    "time-of-a-nest": STAGES.format(tile("time-tile=4x8x8"), ""),
}


@pytest.mark.parametrize("name", CASES)
def test_report(
    name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(CASES[name])
    status = main(["offload", "f.c", "--dry-run"])
    shown = capsys.readouterr()
    golden.check(f"{CASES[name]}{shown.out}{shown.err}status {status}\n")


def test_the_command_line_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(CASES["time"])
    assert main(["offload", "f.c", "--dry-run", "--time-tile", "3x4x32"]) == 0
    assert "3 steps of time a pass, tiles of 4 rows, 32 items" in capsys.readouterr().out
    assert main(["offload", "f.c", "--dry-run", "--time-tile", "0"]) == 0
    assert "steps of time a pass" not in capsys.readouterr().out
    Path("f.c").write_text(CASES["blocks"])
    assert main(["offload", "f.c", "--dry-run", "--fuse-stages", "8x16"]) == 0
    assert "in one kernel, tiles of 8 rows, 16 items" in capsys.readouterr().out
    assert main(["offload", "f.c", "--dry-run", "--tile-stages", "8x8x16", "--show-plan"]) == 0
    assert "  5, 9   blocks  8x8x16" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tile", "why"),
    [
        (("--fuse-stages", "8x2"), "2 of 2 elements in a row of a tile belong to its neighbours"),
        (("--tile-stages", "8x16"), "the tiles of 'b' have 2 dimensions"),
        (("--tile-stages", "512x512x64"), "its tile needs 1052672 bytes"),
    ],
)
def test_why_a_tile_cannot_be_had(
    tile: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(STAGES.format("", ""))
    assert main(["offload", "f.c", "--dry-run", *tile]) == 0
    assert f"because not in one kernel with others: {why}" in capsys.readouterr().out
