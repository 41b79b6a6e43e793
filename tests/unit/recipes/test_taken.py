"""Which recipe takes which option."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import loopxform as lx
from loopxform.errors import IgnoredOption, InputError
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options, Recipe
from loopxform.schedule.requests import _OTHERS, FLAGS, wish
from loopxform.schedule.used_options import EVERY, ON_DEVICE, require_taken

CORPUS = Path(__file__).parents[3] / "corpus"
REFUSED: dict[Recipe, tuple[str, Options]] = {
    "naive": (
        "mm",
        Options(pad=True, versions=True, vector=4, narrow=True, stages=3, preload=True),
    ),
    "reduce": (
        "nests/row_sum",
        Options(pad=True, versions=True, vector=4, narrow=True, stages=2, lanes=(4, 8), bands=4),
    ),
    "one-sided": (
        "nests/weighted_rows",
        Options(preload=True, serpentine=2, cyclic=2, lanes=(4, 8)),
    ),
}
"""Nests, and options that a recipe does not take."""


@pytest.mark.parametrize("recipe", REFUSED)
def test_what_is_refused_would_change_nothing(recipe: Recipe) -> None:
    name, options = REFUSED[recipe]
    fn = next(iter(lx.load(CORPUS / f"{name}.c"))).function

    def kernel(asked: Options) -> object:
        return tile(fn, {}, recipe, strict=True, options=asked).function

    assert kernel(Options(reassociate=True)) == kernel(
        Options(**{**vars(options), "reassociate": True})
    )


def test_each_option_is_taken_by_a_recipe() -> None:
    known = {*FLAGS, *_OTHERS, "Tz", "Ty", "Tx", "Tk", "Ry", "Rx"} - {"recipe", "variant"}
    assert known | {"fp-contract"} == set(EVERY)
    assert set(EVERY) > ON_DEVICE


def test_names_are_told_as_they_are_written() -> None:
    require_taken(["--Ty", "--Rk"], ["naive"])
    require_taken(["--Ry"], ["naive", None])
    with pytest.raises(IgnoredOption, match="the recipe naive has no use for --Ry"):
        require_taken(["--Ty", "--Ry"], ["naive"])
    with pytest.raises(IgnoredOption, match="the recipes naive, block have no use for --Ry"):
        require_taken(["--Ry"], ["naive", "block"])
    with pytest.raises(IgnoredOption, match="no use for --stages"):
        require_taken(["--stages"], [None], "openmp")
    with pytest.raises(IgnoredOption, match="the recipe naive has no use for Ry"):
        wish({"recipe": "naive", "Ry": "4"})


def test_calls_from_python_are_held_to_it() -> None:
    mm = lx.load(CORPUS / "mm.c")["mm"]
    refused: list[tuple[Recipe, dict[str, Any]]] = [
        ("naive", {"Ry": 4}),
        ("block", {"Rx": 2}),
        ("naive", {"async_copies": True}),
        ("naive", {"pad": False}),
        ("reduce", {"pack": 0}),
    ]
    for recipe, given in refused:
        words = f"the recipe {recipe} has no use for {next(iter(given))}"
        with pytest.raises(lx.ArgumentError, match=words):
            mm.tile(recipe=recipe, **given)
        with pytest.raises(lx.ArgumentError, match=words):
            mm.tile(variant=recipe, **given)
    assert mm.tile(recipe="naive", Ty=4, edge_versions=False).sizes["Ty"] == 4


def test_an_annotation_is_held_to_it() -> None:
    text = (CORPUS / "mm.c").read_text().replace("{\n", "{\n#pragma loopxform tile(NOTE)\n", 1)
    with pytest.raises(InputError, match=re.escape("the recipe block has no use for Rx")) as caught:
        lx.loads(text.replace("NOTE", "Ty=4, Rx=2, recipe=block"))["mm"].tile()
    assert caught.value.loc is not None
    assert (caught.value.loc.line, caught.value.loc.column) == (5, 30)
