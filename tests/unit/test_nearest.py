"""What somebody may have meant."""

from __future__ import annotations

import pytest

from loopxform.nearest import did_you_mean, nearest

OPTIONS = ("--Ty", "--Tx", "--target", "--show-steps", "--size")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("--ty", "--Ty"),
        ("--targte", "--target"),
        ("--show", "--show-steps"),
        ("--sizes", "--size"),
        ("--s", None),  # two begin so
        ("--xyzzy", None),
        ("", None),
    ],
)
def test_the_nearest_of_some_options(word: str, meant: str | None) -> None:
    assert nearest(word, OPTIONS) == meant


def test_a_hint_stands_in_front_of_other_help() -> None:
    assert did_you_mean("blok", ["block"]) == "did you mean 'block'? "
    assert did_you_mean("fast", ["block"]) == ""
