"""Tuning files: written, read back, and what is wrong with others."""

from __future__ import annotations

import pytest

from loopxform.errors import UsageError
from loopxform.schedule.tuning_file import Tuned, Tuning, parsed, written

TUNING = Tuning(
    "Device 1 (rev = 2)",
    {
        "mm": Tuned("register", {"Ty": 8, "Tx": 32, "Tk": 16, "Ry": 8, "Rx": 8}, "6f1c"),
        "g": Tuned("naive", {"Ty": 4, "Tx": 64}, "77"),
    },
)


def test_what_is_written_is_read_back() -> None:
    text = written(TUNING, ["loopxform 1, tuned for a device", "mm, M=3: 1 ms"])
    assert text.startswith("# loopxform 1, tuned for a device\n# mm, M=3: 1 ms\ndevice=Device 1")
    assert parsed("mm.tuning", text, ["g", "mm"]) == TUNING


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
