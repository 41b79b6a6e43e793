"""`offload --show-plan` and `--json`: the plan of a pipeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Golden

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

ROWS = """\
void edges(int h, int w, const float in[h][w], float out[h][w])
{
  float t[h][w], u[h][w], v[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      t[y][x] = in[y][x - 1] + in[y][x + 1];
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      u[y][x] = t[y][x] * t[y][x];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      out[y][x] = u[y - 1][x] + u[y + 1][x];
}
"""
BLOCKS = """\
void half(int h, int w, const float in[2 * h][2 * w], float out[h][w])
{
  float t[h][2 * w];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < 2 * w; x++)
      t[y][x] = in[2 * y][x] + in[2 * y + 1][x];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = t[y][2 * x] + t[y][2 * x + 1];
}
"""
ONCE_MORE = """\
void again(int h, int w, const float a[h][w], float b[h][w])
{
  float t[h][w], d[h / 2][w / 2], e[h / 2][w / 2], u[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      t[y][x] = a[y][x] * 0.5f;
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < w / 2; x++)
      d[y][x] = t[2 * y][2 * x] + t[2 * y + 1][2 * x + 1];
  for (int y = 0; y < w / 2; y++)
    for (int x = 0; x < h / 2; x++)
      e[x][y] = d[x][w / 2 - 1 - y];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      u[y][x] = t[y][x] + e[y / 2][x / 2];
  for (int y = 1; y < h - 1; y++)
    for (int x = 0; x < w; x++)
      b[y][x] = u[y - 1][x] + u[y + 1][x];
}
"""
LATE = """\
void late(int h, int w, const float a[h][w], float b[h][w])
{
  float s[h][w], d[h / 2][w / 2], e[h / 2][w / 2];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      s[y][x] = a[y][x] * a[y][x];
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < w / 2; x++)
      d[y][x] = a[2 * y][2 * x] + a[2 * y + 1][2 * x + 1];
  for (int y = 0; y < w / 2; y++)
    for (int x = 0; x < h / 2; x++)
      e[x][y] = d[x][w / 2 - 1 - y];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      b[y][x] = s[y][x] + e[y / 2][x / 2];
}
"""
ALONE = "void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = i; }\n"
CASES = {
    "rows": (ROWS, ["--profile", "h100"]),
    "blocks": (BLOCKS, ["--tile-stages", "16x32x128"]),
    "once more": (ONCE_MORE, ["--profile", "h100"]),
    "late": (LATE, ["--profile", "h100"]),
    "apart": (ROWS, ["--fuse-stages", "0", "--tile-stages", "0"]),
    "one by one": (ROWS, ["--profile", "pocl"]),
    "c": (ROWS, ["--profile", "cpu"]),
    "alone": (ALONE, []),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def offload(text: str, *options: str) -> int:
    Path("f.c").write_text(text)
    return main(["offload", "f.c", *options])


@pytest.mark.parametrize("case", CASES)
def test_plan(case: str, golden: Golden, capsys: Capture) -> None:
    text, options = CASES[case]
    assert offload(text, *options, "--dry-run", "--show-plan") == 0
    golden.check(capsys.readouterr().out)


def plan(text: str, capsys: Capture, *options: str) -> dict[str, Any]:
    assert offload(text, *options, "--dry-run", "--json", "-") == 0
    out, err = capsys.readouterr()
    assert "summary:" in err
    (found,) = json.loads(out)["pipelines"]
    return dict(found)


def test_the_plan_as_data(capsys: Capture) -> None:
    found = plan(ROWS, capsys, "--profile", "h100")
    (chosen,) = found["chosen"]
    assert (chosen["form"], chosen["lines"]) == ("rows", [4, 7, 10])
    assert [k["lines"] for k in found["unfused"]] == [[4, 7], [10]]
    assert all(k["tile"] is None and k["overlap"] == 1 for k in found["unfused"])
    assert chosen["milliseconds"] < sum(k["milliseconds"] for k in found["unfused"])
    assert chosen["bytes"] < sum(k["bytes"] for k in found["unfused"])
    assert chosen["overlap"] > 1


def test_a_smaller_tile_overlaps_more(capsys: Capture) -> None:
    overlaps = [
        plan(ROWS, capsys, "--fuse-stages", tile)["chosen"][0]["overlap"]
        for tile in ("8x32", "64x32", "64x128")
    ]
    assert overlaps == sorted(overlaps, reverse=True)


def test_the_file_of_the_plan(capsys: Capture) -> None:
    assert offload(ROWS, "-q", "--json", "plan.json", "-o", "out") == 0
    assert json.loads(Path("plan.json").read_text())["unknown_size"] == 2048
    assert capsys.readouterr().out == ""
