"""Tuning files: written, read back, and what is wrong with others."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from loopxform.errors import UsageError
from loopxform.schedule.tuning_file import (
    Tuned,
    Tuning,
    comment_of,
    parsed,
    suffix_for,
    with_tuned,
)

MM = Tuned("register", {"Ty": 8, "Tx": 32, "Tk": 16, "Ry": 8, "Rx": 8}, "6f1c")
ABOUT = ["loopxform 1, tuned for a device, 2026-01-01", comment_of("mm", "M=3, N=4", 1.0, 2.5)]
DEVICE = "Device 1 (rev = 2)"


def test_what_is_written_is_read_back() -> None:
    text = with_tuned("", DEVICE, "mm", MM, ABOUT)
    assert text.startswith(
        "# loopxform 1, tuned for a device, 2026-01-01\nversion=1\ndevice=Device 1 (rev = 2)\n"
        "# mm, M=3, N=4: 1 ms, defaults 2.5 ms\nmm.text=6f1c\nmm.fp=contract\n"
    )
    assert parsed("mm.tuning", text, ["g", "mm"]) == Tuning(DEVICE, {"mm": MM})
    g = Tuned("naive", {"Ty": 4, "Tx": 64}, "77")
    both = with_tuned(text, DEVICE, "g", g, ABOUT[:1])
    assert both.startswith(text)
    assert parsed("mm.tuning", both, ["g", "mm"]) == Tuning(DEVICE, {"mm": MM, "g": g})


VERSIONS = Tuned(
    None, {}, thresholds={"suff_outer_par_0": 9}, threshold_text="2a", threshold_fp="fast"
)


def test_sizes_and_thresholds_are_replaced_each_alone() -> None:
    of_versions = [ABOUT[0], comment_of("mm", "M=3", 1.0, 2.5, thresholds=True)]
    sizes = with_tuned("", DEVICE, "mm", MM, ABOUT)
    both = with_tuned(sizes, DEVICE, "mm", VERSIONS, of_versions)
    assert both == sizes + (
        "# mm thresholds, M=3: 1 ms, defaults 2.5 ms\n"
        "mm.threshold_text=2a\nmm.threshold_fp=fast\nmm.suff_outer_par_0=9\n"
    )
    assert with_tuned(both, DEVICE, "mm", MM, ABOUT) == both
    assert with_tuned(both, DEVICE, "mm", VERSIONS, of_versions) == both
    other = with_tuned(both, DEVICE, "mm", Tuned("block", {"Ty": 2}, "55"), ABOUT[:1])
    found = parsed("mm.tuning", other, ["mm"]).functions["mm"]
    assert found == replace(VERSIONS, recipe="block", sizes={"Ty": 2}, text="55")
    alone = with_tuned("", DEVICE, "mm", VERSIONS, of_versions)
    assert parsed("mm.tuning", alone, ["mm"]).functions == {"mm": VERSIONS}


def test_calls_of_the_host_are_the_users_to_say() -> None:
    hosts = "mm.host=1.5e6\ng.host=never\n"
    text = f"{hosts}h.host=always\n"
    found = parsed("mm.tuning", text, ["mm", "g", "h"])
    assert found == Tuning("", {}, {"mm": 1.5e6, "g": 0, "h": inf})
    now = with_tuned(with_tuned(text, DEVICE, "mm", MM, ABOUT), DEVICE, "g", VERSIONS, ABOUT[:1])
    assert [x for x in now.splitlines() if ".host=" in x] == text.splitlines()
    again = parsed("mm.tuning", now, ["mm", "g", "h"])
    assert again == Tuning(DEVICE, {"mm": MM, "g": VERSIONS}, found.hosts)


MINE = """# mine, first
version = 1
# why this device
device={device}

g.recipe = naive
# mm, says me
# mm, M=9: 7 ms, defaults 8 ms
mm.recipe=block
# between
mm.Ty =  4
# \xe9\udcff at the end, mm.Ty=9
g.Tx=8"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_all_other_lines_stay_as_they_are(end: str, mark: str) -> None:
    text = mark + MINE.format(device=DEVICE).replace("\n", end)
    now = with_tuned(text, DEVICE, "mm", MM, ABOUT)
    removed = ["# mm, M=9: 7 ms, defaults 8 ms", "mm.recipe=block", "mm.Ty =  4"]
    kept = [x for x in text.removeprefix(mark).split(end) if x not in removed]
    lines = now.removeprefix(mark).split(end)
    assert now.startswith(mark)
    assert lines[0] == f"# {ABOUT[0]}"
    assert [x for x in lines[:-1] if x in kept] == kept
    assert lines[-1] == ""
    assert lines.count("mm.Ty=8") == lines.count(f"# {ABOUT[1]}") == 1
    assert lines[9] == "mm.text=6f1c"
    assert with_tuned(now, DEVICE, "mm", MM, ABOUT) == now
    again = parsed("mm.tuning", now.removeprefix(mark), ["mm", "g"])
    assert again.functions == {"g": Tuned("naive", {"Tx": 8}), "mm": MM}


@pytest.mark.parametrize(
    ("device", "suffix"),
    [
        ("NVIDIA H100 80GB HBM3", ".NVIDIA-H100-80GB-HBM3.tuning"),
        ("../a/b\\c:*?", ".a-b-c.tuning"),
        ("the CPU, by cc", ".the-CPU-by-cc.tuning"),
        ("(~)", ".device.tuning"),
        ("x" * 500, f".{'x' * 100}.tuning"),
    ],
)
def test_the_file_of_a_device(device: str, suffix: str) -> None:
    assert suffix_for(device) == suffix


def test_another_version() -> None:
    with pytest.raises(UsageError, match="this is version '2' of tuning files") as raised:
        parsed("mm.tuning", "version=2\nmm.new=8\n", ["mm"])
    assert "mm.tuning:1:1" in raised.value.render()


def test_people_may_write_it_too() -> None:
    text = "\n  # mine\n\nmm.recipe = block\nmm.Ty =  8\n"
    with pytest.raises(UsageError):
        parsed("mm.tuning", text, ["mm"])
    found = parsed("mm.tuning", text.replace("  #", "#"), ["mm"])
    assert found == Tuning("", {"mm": Tuned("block", {"Ty": 8})})


@pytest.mark.parametrize(
    ("line", "message", "help"),
    [
        ("mm Ty 8", "'mm Ty 8' is not NAME=VALUE", "mm.Ty=16"),
        ("nn.Ty=8", "there is no function 'nn'", "tune again, or remove its lines"),
        ("Ty=8", "there is no function ''", "the functions are: mm"),
        ("mm.Ty=0", "'0' is not a number from 1 to", "Ty=16"),
        ("mm.Ty=-4", "'-4' is not a number", "Ty=16"),
        ("mm.Ty=99999999999999999999", "is not a number", "Ty=16"),
        ("mm.Ty=" + "0" * 30 + "8", "is not a number", "Ty=16"),
        ("mm.Ty=8.5", "'8.5' is not a number", "Ty=16"),
        ("mm.Tv=8", "there is no parameter 'Tv'", "Ty"),
        ("mm.recipe=registers", "there is no recipe 'registers'", "did you mean 'register'"),
        ("mm.recipe=block", "'mm.recipe' is given twice", "remove one"),
        ("mm.host=-1", "'-1' is not a number of operations from 0 on", "host=1e6, never or always"),
        ("mm.host=soon", "'soon' is not a number of operations", "host=1e6, never or always"),
        ("mm.host=1e999", "'1e999' is not a number of operations", "host=1e6, never or always"),
        ("nn.host=1", "there is no function 'nn'", "tune again, or remove its lines"),
        ("mm.hosts=1", "there is no parameter 'hosts'", "did you mean 'host'"),
        ("mm.fp=some", "there is no level 'some'", "strict, contract, reassociate, fast"),
        ("mm.Tz=2", "the recipe register has no use for Tz", "Ty, Tx, Tk, Ry, Rx"),
    ],
)
def test_lines_that_say_nothing_meaningful(line: str, message: str, help: str) -> None:
    text = f"# a\nmm.recipe=register\n{line}\n"
    with pytest.raises(UsageError) as raised:
        parsed("mm.tuning", text, ["mm"])
    shown = raised.value.render()
    assert f"mm.tuning:3:1: error: {message}" in shown or message in shown
    assert "mm.tuning:3:1" in shown
    assert f" 3 | {line}" in shown
    assert "[LX072]" in shown
    assert help in shown


def test_sizes_without_a_recipe() -> None:
    with pytest.raises(UsageError, match="'mm' has sizes and no recipe"):
        parsed("mm.tuning", "mm.Ty=8\n", ["mm"])
