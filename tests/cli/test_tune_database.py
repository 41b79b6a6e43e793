"""What was tuned for devices and ships: which entries are used where, and how one is written."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import drawn_worker
import pytest
from tuning_folder import SCALE, enter

import loopxform as lx
from loopxform.cli import main
from loopxform.cli.tuned import of_entry, shape_of
from loopxform.runtime.profiles import family_of, limits_of
from loopxform.runtime.selection import choose
from loopxform.schedule.requests import options_of
from loopxform.schedule.tiling_options import TAKEN
from loopxform.targets import database
from loopxform.targets.database import Entry, Family, entries, nearest, written
from loopxform.tune import threshold_session

Capture = pytest.CaptureFixture[str]
TILE = ["tile", "f.c", "--dry-run", "--device", "c"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With a database of the test's own."""
    enter(tmp_path, monkeypatch, SCALE)
    monkeypatch.setattr(database, "FOLDER", tmp_path / "tuned")
    Path("tuned").mkdir()
    database.shipped.cache_clear()
    yield
    database.shipped.cache_clear()


def shape(text: str) -> str:
    (routine,) = lx.loads(text)
    return shape_of(routine)


def ship(*found: Entry) -> None:
    for n, entry in enumerate(found):
        Path("tuned", f"{n}.toml").write_text(written([entry]))
    database.shipped.cache_clear()


def entry(
    device: str, sizes: dict[str, int], fp: str = "contract", architecture: str = "a"
) -> Entry:
    family = Family(device, architecture, "v")
    return Entry(family, shape(SCALE), "naive", fp, sizes, {}, "scale, n=3: 1 ms")


def test_names_do_not_matter_and_all_else_does() -> None:
    renamed = SCALE.replace("scale", "twice").replace("a[", "in[").replace("b[", "out[")
    renamed = renamed.replace("int i", "int row").replace("i < n; i++", "row < n; row++")
    renamed = renamed.replace("[i]", "[row]")
    assert shape(renamed) == shape(SCALE)
    others = (
        SCALE.replace("float", "double"),
        SCALE.replace("2 *", "3 *"),
        SCALE.replace("a[i][j]", "a[i][m - 1 - j]"),
        SCALE.replace("2 * a[i][j]", "a[i][j] * 2"),
    )
    assert len({shape(x) for x in (SCALE, *others)}) == 5


def test_entries_of_the_device_are_used_and_told(capsys: Capture) -> None:
    device = limits_of(choose("c")).name
    ship(entry(device, {"Ty": 2, "Tx": 32}), entry("another", {"Ty": 1, "Tx": 8}))
    assert main(TILE) == 0
    shown = capsys.readouterr().out
    assert "Ty=2, Tx=32" in shown
    assert "sizes found on this device before (scale, n=3: 1 ms; --no-tuning: not these)" in shown
    assert main(["run", "f.c", "--device", "c", "--size", "n=3,m=4"]) == 0
    assert "Ty=2, Tx=32" in capsys.readouterr().out
    assert main(["offload", *TILE[1:]]) == 0
    assert "Ty=2, Tx=32" in capsys.readouterr().out
    for options in (["--no-tuning"], ["--Ty", "4"], ["--recipe", "naive"]):
        assert main([*TILE, *options]) == 0
        assert "found on this device" not in capsys.readouterr().out
    assert main(TILE[:3]) == 0
    assert "found on this device" not in capsys.readouterr().out
    Path("f.tuning").write_text(f"device={device}\nscale.recipe=naive\nscale.Ty=4\nscale.Tx=64\n")
    assert main(TILE) == 0
    assert "Ty=4, Tx=64" in capsys.readouterr().out


def test_entries_of_the_architecture_are_used(capsys: Capture) -> None:
    """Those of the device come first; a profile has the architecture of its devices."""
    own = limits_of(choose("c"))
    ship(entry("another", {"Ty": 2, "Tx": 32}, architecture=own.architecture))
    assert main(TILE) == 0
    shown = capsys.readouterr().out
    assert "Ty=2, Tx=32" in shown
    assert "sizes found on another before (scale, n=3: 1 ms; --no-tuning: not these)" in shown
    ship(
        entry("another", {"Ty": 2, "Tx": 32}, architecture=own.architecture),
        entry(own.name, {"Ty": 4, "Tx": 16}, architecture=own.architecture),
    )
    assert main(TILE) == 0
    assert "Ty=4, Tx=16" in capsys.readouterr().out
    ship(entry("NVIDIA H100 80GB HBM3", {"Ty": 2, "Tx": 64}, architecture="sm_90"))
    for command in ("tile", "offload"):
        assert main([command, "f.c", "--dry-run", "--profile", "h100"]) == 0
        assert "Ty=2, Tx=64" in capsys.readouterr().out
    assert main(["tile", "f.c", "--dry-run", "--profile", "a100"]) == 0
    assert "Ty=2, Tx=64" not in capsys.readouterr().out


def test_devices_of_unknown_architecture_have_none_in_common() -> None:
    ship(entry("another", {"Ty": 2}, architecture=""))
    assert database.usable(shape(SCALE), Family("d", "", "")) == []


def test_those_of_other_devices_are_not(capsys: Capture) -> None:
    ship(entry("another", {"Ty": 2, "Tx": 32}))
    assert main(TILE) == 0
    assert "found on this device" not in capsys.readouterr().out


def test_what_does_not_fit_is_not_used(capsys: Capture) -> None:
    ship(entry(limits_of(choose("c")).name, {"Ty": 64, "Tx": 64}))
    for command in ("tile", "offload"):
        assert main([command, *TILE[1:]]) == 0
        assert "Ty=4, Tx=64" in capsys.readouterr().out


def test_nor_what_needs_permission(capsys: Capture) -> None:
    ship(entry(limits_of(choose("c")).name, {"Ty": 2, "Tx": 32}, "reassociate"))
    assert main(TILE) == 0
    assert "found on this device" not in capsys.readouterr().out
    assert main([*TILE, "--fp", "reassociate"]) == 0
    assert "found on this device" in capsys.readouterr().out


def test_from_near_to_far() -> None:
    here = Family("d", "a", "v")
    families = (("x", "x", "x"), ("x", "x", "v"), ("x", "a", "v"), ("d", "a", "v"))
    found = [Entry(Family(*f), "s", "naive", "contract", {"Ty": n}) for n, f in enumerate(families)]
    ship(*found)
    assert [e.sizes["Ty"] for e in nearest("s", here)] == [3, 2, 1, 0]
    assert nearest("t", here) == []


def test_a_search_begins_with_them(capsys: Capture) -> None:
    ship(entry("another", {"Ty": 3, "Tx": 48}))
    words = ["tune", "f.c", "--device", "c", "--size", "n=8,m=16", "--budget", "2", "--json", "a"]
    assert main(words) in (0, 5)
    assert '"Ty": 3' in Path("a").read_text()
    assert "  Ty   1, 2, 3, 4, 8, 16, 32" in capsys.readouterr().out


def test_an_entry_is_written_and_read_back(capsys: Capture) -> None:
    words = ["tune", "f.c", "--device", "c", "--size", "n=8,m=16", "--budget", "36"]
    command = [sys.executable, drawn_worker.__file__, *words, "--contribute", "mine.toml"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "wrote mine.toml" in done.stdout, done.stdout + done.stderr
    (found,) = entries(Path("mine.toml"))
    assert found.family == family_of(choose("c"))
    assert (found.shape, found.recipe) == (shape(SCALE), "naive")
    assert found.sizes == {"Ty": 4, "Tx": 32}
    assert found.about == "scale, n=8, m=16: 1 ms, defaults 5 ms"
    Path("f.c").write_text(SCALE.replace("2 *", "3 *"))
    Path("f.tuning").unlink()
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    assert [e.shape for e in entries(Path("mine.toml"))] == [
        found.shape,
        shape(SCALE.replace("2 *", "3 *")),
    ]
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace(found.family.device, "H100"))
    assert main([*words, "--contribute", "mine.toml"]) == 2
    said = capsys.readouterr().err
    assert f"'mine.toml' is for H100, and this is {found.family.device}" in said
    assert "give a file for each device" in said
    Path("mine.toml").write_text("device = 3")
    assert main([*words, "--contribute", "mine.toml"]) == 2
    assert "'mine.toml' is no file of tuned nests" in capsys.readouterr().err


ROWS = """\
void rows(int n, int m, const int a[n][m], int y[n])
{
  for (int i = 0; i < n; i++) {
    int most = 0, place = 0;
    for (int j = 0; j < m; j++)
      if (a[i][j] > most) {
        most = a[i][j];
        place = j;
      }
    y[i] = place;
  }
}
"""


def thresholds(**found: int) -> Entry:
    """For the rows above, on the CPU."""
    family = family_of(choose("c"))
    return Entry(family, shape(ROWS), about="rows, n=3: 1 ms", thresholds=found)


def test_thresholds_are_used_and_told(capsys: Capture) -> None:
    Path("f.c").write_text(ROWS)
    ship(thresholds(suff_outer_par_0=77))
    note = "thresholds found on this device before (rows, n=3: 1 ms; --no-tuning: not these)"
    for words in (TILE, ["offload", *TILE[1:]]):
        assert main([*words, "--show-plan"] if words == TILE else words) == 0
        shown = capsys.readouterr().out
        assert note in shown
        assert "suff_outer_par_0 = 77" in shown
    assert main(["run", "f.c", "--device", "c", "--size", "n=3,m=4"]) == 0
    assert note in capsys.readouterr().out
    assert main([*TILE, "--show-plan", "--no-tuning"]) == 0
    assert "suff_outer_par_0 = 77" not in capsys.readouterr().out
    sizes = Entry(family_of(choose("c")), shape(ROWS), "naive", sizes={"Tx": 32}, about="1 ms")
    ship(thresholds(suff_outer_par_0=77), sizes)
    assert main([*TILE, "--show-plan"]) == 0
    shown = capsys.readouterr().out
    assert "Tx=32" in shown
    assert "suff_outer_par_0 = 77" in shown


def test_thresholds_that_the_nest_does_not_have_are_not_used(capsys: Capture) -> None:
    """Of an older loopxform, or of the whole function, as `offload` maps it."""
    Path("f.c").write_text(ROWS)
    ship(thresholds(suff_outer_par_9=77))
    assert main(TILE) == 0
    assert "before" not in capsys.readouterr().out
    assert main(["offload", *TILE[1:]]) == 0
    assert "without suff_outer_par_9, which no guard compares with" in capsys.readouterr().out


def test_thresholds_are_contributed(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the sizes of the same nest."""
    monkeypatch.setattr(threshold_session, "NOISY", 99.0)
    Path("f.c").write_text(ROWS)
    family = family_of(choose("c"))
    sizes = Entry(family, shape(ROWS), "naive", sizes={"Tx": 32}, about="1 ms")
    Path("mine.toml").write_text(written([sizes, thresholds(suff_outer_par_0=1)]))
    slow = "suff_outer_par_0=2147483647,suff_intra_par_1=0"  # a group for four terms
    words = ["tune", "f.c", "--thresholds", "--device", "c", "--size", "n=300,m=4"]
    words += ["--threshold", slow, "--repeat", "2", "--contribute", "mine.toml"]
    assert main(words) == 0
    assert "wrote mine.toml" in capsys.readouterr().out
    kept, own = entries(Path("mine.toml"))
    assert kept == sizes
    assert (own.family, own.shape, own.recipe) == (family, shape(ROWS), "")
    assert "suff_outer_par_0" in own.thresholds
    assert own.about.startswith("rows thresholds, n=300, m=4: ")
    Path("f.tuning").unlink()
    ship(own)
    assert main([*TILE, "--show-plan"]) == 0
    assert f"suff_outer_par_0 = {own.thresholds['suff_outer_par_0']}" in capsys.readouterr().out


def test_every_entry_that_ships_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """And docs/tuning.md names the devices that have any and the functions, of which the shapes
    are still those of the entries, in a table, or says that none has."""
    monkeypatch.setattr(database, "FOLDER", Path(database.__file__).parent / "tuned")
    database.shipped.cache_clear()
    ships = database.shipped()
    page = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text()
    claim = page.partition("## What ships\n")[2]
    _, *devices = re.findall(r"^\| ([^|]+?) \|", claim.replace("|---", ""), re.MULTILINE) or [""]
    assert devices == sorted({e.family.device for e in ships})
    assert ("No entry ships yet." in claim) == (not ships)
    root = Path(__file__).parents[2]
    files = [lx.load(root / name) for name in re.findall(r"`(corpus/[\w/]+\.c)`", claim)]
    assert {e.shape for e in ships} == {shape_of(r) for f in files for r in f}
    for e in ships:
        tuned = of_entry(e)
        assert {*tuned.sizes, *tuned.options} <= TAKEN[tuned.recipe] if e.recipe else e.thresholds
        options_of(tuned.options)
        assert e.about
