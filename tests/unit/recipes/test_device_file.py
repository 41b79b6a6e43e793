"""Profiles of the user's own, in TOML."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from loopxform.errors import UsageError
from loopxform.targets.profile import FORMER, PROFILES, profile
from loopxform.targets.target import MEASURED, THRESHOLDS, Costs, unmeasured


def described(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_what_is_said_and_the_rest_as_another_has_it(tmp_path: Path) -> None:
    text = (
        'like = "h100"\nregisters = 168\nstages = 2\nitem_sizes = [512, 512, 64]\nbandwidth = 9.5\n'
    )
    changed = replace(
        unmeasured(PROFILES["h100"]),
        name="mine",
        registers=168,
        stages=2,
        item_sizes=(512, 512, 64),
        bandwidth=9.5,
    )
    assert profile(described(tmp_path, text)) == changed


@pytest.mark.parametrize("former", FORMER)
def test_keys_of_earlier_releases_are_understood(former: str, tmp_path: Path) -> None:
    value = {"rectangle": "[2, 8]", "at_once": "2", "arrange": "9", "turn": "9"}.get(former, "true")
    now = profile(described(tmp_path, f"{FORMER[former]} = {value}"))
    with pytest.warns(FutureWarning, match=f"'{former}' of a profile is called '{FORMER[former]}'"):
        assert profile(described(tmp_path, f"{former} = {value}")) == now


def test_generic_where_nothing_is_said(tmp_path: Path) -> None:
    assert profile(described(tmp_path, "")) == replace(PROFILES["generic"], name="mine")


CHANGES = "must say what tile sizes are multiplied by"
TIMES = (
    "tile_times must be the time of each tile, to start, of its epilogue, and the waves of a round"
)


@pytest.mark.parametrize(
    ("text", "why", "help"),
    [
        ("registers = ", "Invalid value (at end of document)", "registers = 128"),
        ("registers = 0", "registers must be a whole number from 1 on, not 0", ""),
        ("registers = true", "registers must be a whole number from 1 on, not True", ""),
        ("registers = 1e3", "registers must be a whole number from 1 on, not 1000.0", ""),
        ("regsters = 4", "there is no key 'regsters'", "did you mean 'registers'?"),
        ('like = "h1000"', "there is no profile 'h1000'", "generic, a100"),
        ("like = 4", "there is no profile 4", "generic, a100"),
        ("index32 = 1", "index32 must be true or false, not 1", ""),
        ("name = 1", "name must be a text, not 1", ""),
        ("stages = 3", "stages must be one of 1, 2, not 3", ""),
        ("vector_width = 3", "vector_width must be one of 1, 2, 4, 8, 16, not 3", ""),
        ("item_sizes = [1, 2]", "item_sizes must be three sizes, not [1, 2]", "[1024, 1024, 64]"),
        ("bandwidth = -1", "bandwidth must be a number of 0 or more, not -1", ""),
        ("peak = nan", "peak must be a number of 0 or more, not nan", ""),
        ("tile_times = 4", TIMES, '"16x16 8x8" = [890, 170, 60]'),
        ("[tile_times]\n16 = [1, 2]", TIMES, ""),
        ('[tile_times]\n"16x16 8x8" = [1]', TIMES, ""),
        ('[tile_times]\n"16x16 8x8" = [0, 1]', TIMES, ""),
        ('[tile_times]\n"16x16 8x8" = [1, 1, 1, 1, 1]', TIMES, ""),
        ('[tile_times]\n"16x16 8x8" = [1, 1, -1]', TIMES, ""),
        ('smaller_tiles = "Tk*2"', CHANGES, 'smaller_tiles = ["Ty*1/2 Tk*2"]'),
        ('packed_tiles = ["Tz*2"]', CHANGES, ""),
        ("search_parts = [9, 4]", "search_parts must be numbers that grow", "[4194304, 67108864]"),
        ("costs = 4", "costs must be a table", "[costs]"),
        ("[costs]\nlocal = 1", "there is no key 'local' in [costs]", "local_read"),
        ("[costs]\ncached = 1.5", "cached must be a whole number from 1 on, not 1.5", ""),
        ("copies = 4", "copies must be a table", "[copies]"),
        ("[copies]\nthread = 1", "there is no key 'thread' in [copies]", "threads"),
        ("[copies]\nthreads = 0", "threads must be a whole number from 1 on, not 0", ""),
        ("[costs]\nfill = 0", "fill must be a number above 0, not 0", ""),
        ("measured_on = []", "measured_on must be names of devices", 'measured_on = ["H100"]'),
    ],
)
def test_what_is_no_description(tmp_path: Path, text: str, why: str, help: str) -> None:
    path = described(tmp_path, text)
    with pytest.raises(UsageError) as e:
        profile(path)
    assert e.value.message.startswith(f"{path}: ")
    assert e.value.message.endswith(why)
    assert help in (e.value.help or "")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"mine\.toml: 'utf-8' codec"):
        profile(str(path))


def test_no_file() -> None:
    with pytest.raises(UsageError, match=r"cannot read nowhere\.toml: No such file"):
        profile("nowhere.toml")


def test_a_file_may_name_its_device(tmp_path: Path) -> None:
    own = profile(described(tmp_path, 'name = "my gpu"\nlike = "h100"'))
    assert own == replace(unmeasured(PROFILES["h100"]), name="my gpu")


TIMED = (
    'measured_on = ["X1"]\n[tile_times]\n"16x16 8x8" = [3000, 10]\n"8x16 8x8" = [1600, 20, 3, 2]'
)


def test_times_are_those_of_the_device_that_they_were_measured_on(tmp_path: Path) -> None:
    own = profile(described(tmp_path, f'like = "h100"\n{TIMED}'))
    assert own.tile_times == (("16x16 8x8", 3000, 10, 0, 1), ("8x16 8x8", 1600, 20, 3, 2))
    assert own.measured_on == ("X1",)
    for name, p in PROFILES.items():
        assert bool(p.tile_times) == (name == "h100"), "no profile has those of another"


def test_the_constants_of_the_model_are_those_that_are_said(tmp_path: Path) -> None:
    own = profile(described(tmp_path, "[costs]\nlocal_read = 4\nlaunch = 0.5"))
    assert own.costs == replace(Costs(), local_read=4, launch=0.5)


def test_the_sizes_of_copies_are_those_that_are_said(tmp_path: Path) -> None:
    like = described(tmp_path, 'like = "h100"\n[copies]\nthreads = 4')
    assert profile(like).copies == replace(PROFILES["h100"].copies, threads=4)


def test_the_constants_of_the_model_are_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "tiling.md").read_text()
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    names = [x for row in rows for x in row[1].replace("`", "").replace(",", "").split()]
    for f in fields(Costs):
        assert names.count(f.name) == 1, f.name


@pytest.mark.parametrize("name", [*PROFILES, "mine"])
def test_what_was_measured_on_a_device_is_for_no_other(tmp_path: Path, name: str) -> None:
    """Whatever profile one is like: figures come from its own file, or from the model."""
    own = profile(described(tmp_path, 'like = "h100"')) if name == "mine" else PROFILES[name]
    if name == "h100":
        assert own.measured_on == ("H100", "H200")
        return
    if name == "pocl":
        assert own.measured_on == ("pthread-", "cpu-")
        return
    for key in MEASURED:
        if key in THRESHOLDS:
            assert getattr(own, key) in (0, None), "never, or as the model says"
        else:
            assert getattr(own, key) == getattr(PROFILES["generic"], key)
