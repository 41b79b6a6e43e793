"""`loopxform tune` for functions of several nests: tiles of pipelines and of loops over time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.tune.memo import measurement
from loopxform.tune.results import results

Capture = pytest.CaptureFixture[str]

SMOOTH = """void smooth(int h, int w, const float a[h][w], float b[h][w])
{
  float t[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      t[y][x] = a[y][x - 1] + a[y][x + 1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      b[y][x] = t[y - 1][x] + t[y + 1][x];
}
void heat(int steps, int n, float a[n][n], float b[n][n])
{
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
}
void apart(int n, float a[n], float b[n])
{
  for (int i = 0; i < n; i++)
    a[i] = 1;
  for (int i = 0; i < n; i++)
    b[n - 1 - i] = a[i];
}
"""
HALF = """
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
TUNE = "tune f.c --function smooth --size h=40,w=50 --device c --repeat 2"
DONE = (0, 5)
"""What is measured here takes microseconds: too few to tell on a machine that is busy."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    Path("f.c").write_text(SMOOTH)


def refused(words: str, capsys: Capture) -> str:
    assert main(words.split()) != 0
    return capsys.readouterr().err


def test_the_plan(capsys: Capture) -> None:
    assert main([*TUNE.split(), "--plan"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^  fuse-stages \d+(x\d+)+, 0, ", shown, re.MULTILINE)
    heat = TUNE.replace("smooth", "heat").replace("h=40,w=50", "steps=9,n=40")
    assert main([*heat.split(), "--plan"]) == 0
    assert re.search(r"^  time-tile \d+(x\d+)+, 0, ", capsys.readouterr().out, re.MULTILINE)


def test_a_session(capsys: Capture) -> None:
    assert main([*TUNE.split(), "--budget", "3", "--json", "all.json"]) in DONE
    rows = json.loads(Path("all.json").read_text())
    assert {r["status"] for r in rows} == {"ok"}
    tiles = [r["sizes"]["fuse-stages"] for r in rows if r["sizes"] and not r["race"]]
    assert len(set(tiles)) == 3
    assert "0" in tiles
    assert "  3 measured\n" in capsys.readouterr().out
    assert main(["tune", "explain", "f.c"]) == 0
    assert "fuse-stages=" in capsys.readouterr().out


def test_shares_are_merged(capsys: Capture) -> None:
    for share in ("1/2", "2/2"):
        assert main([*TUNE.split(), "--budget", "4", "--shard", share]) in DONE
    files = sorted(map(str, Path().glob("f.shard*.jsonl")))
    lines = [line for f in files for line in Path(f).read_bytes().splitlines()]
    (found,) = results(filter(None, map(measurement, lines)))
    assert found.subject["recipe"] == "offload"
    capsys.readouterr()
    assert main(["tune", "merge", *files]) == 0
    wrote = "wrote" in capsys.readouterr().out
    assert wrote == (found.best is not None)
    assert not wrote or "smooth.fuse-stages=" in Path("f.tuning").read_text()


def test_offload_uses_what_was_found(capsys: Capture) -> None:
    Path("f.tuning").write_text("device=c\nsmooth.text=0\nsmooth.fuse-stages=4x8\n")
    assert main(["offload", "f.c", "--function", "smooth", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "2 stages in one kernel, tiles of 4 rows, 8 items" in shown
    note = "f.tuning is for c (--device names yours); sizes of f.tuning, found for another text"
    assert f"note: smooth: {note} of the function\n" in shown
    own = ["--fuse-stages", "5x9"]
    assert main(["offload", "f.c", "--function", "smooth", "--dry-run", *own]) == 0
    assert "tiles of 5 rows, 9 items" in capsys.readouterr().out
    assert main(["offload", "f.c", "--function", "smooth", "--dry-run", "--no-tuning"]) == 0
    assert "tiles of 4 rows" not in capsys.readouterr().out


def test_offload_uses_blocks_that_were_found(capsys: Capture) -> None:
    Path("f.tuning").write_text("device=c\nsmooth.fuse-stages=0\nsmooth.tile-stages=4x8x16\n")
    words = ["offload", "f.c", "--function", "smooth", "--dry-run"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "2 stages in one kernel, tiles of 4x8 elements, 16 work-items" in shown
    assert main([*words, "--fuse-stages", "5x9"]) == 0
    assert "tiles of 5 rows, 9 items" in capsys.readouterr().out
    Path("f.tuning").write_text("device=c\nsmooth.tile-stages=8\n")
    error = refused("offload f.c --dry-run", capsys)
    assert error.startswith("f.tuning:2:1: error: '8' is no block of stages [LX072]\n")


def test_blocks_are_chosen_from(capsys: Capture) -> None:
    Path("f.c").write_text(HALF)
    words = "tune f.c --size h=40,w=50 --device c --repeat 2 --plan"
    assert main(words.split()) == 0
    assert re.search(r"^  tile-stages \d+(x\d+)+, 0, ", capsys.readouterr().out, re.MULTILINE)


def test_bad_tiles_in_a_file(capsys: Capture) -> None:
    Path("f.tuning").write_text("device=c\nsmooth.fuse-stages=8\n")
    error = refused("offload f.c --dry-run", capsys)
    assert error.startswith("f.tuning:2:1: error: '8' is no tile of stages [LX072]\n")


def test_nothing_to_choose(capsys: Capture) -> None:
    """The reason is that of `tile`, unless the whole function is asked for."""
    words = "tune f.c --function apart --size n=9 --device c"
    assert "[LX061]" in refused(words, capsys)
    assert "there are no sizes to choose from" in refused(f"{words} --offload", capsys)


def test_what_is_for_nests(capsys: Capture) -> None:
    error = refused(f"{TUNE} --offload --tune vector", capsys)
    assert "--tune is for nests, and this function is tuned as a whole" in error
