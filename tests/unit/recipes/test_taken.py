"""Which recipe takes which option."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import loopxform as lx
from loopxform.errors import IgnoredOption, InputError, UsageError
from loopxform.recipes.tile import tile
from loopxform.schedule.offload_options import OFFLOADING
from loopxform.schedule.params import Options, Recipe
from loopxform.schedule.requests import wish
from loopxform.schedule.tiling_options import EVERY, ON_DEVICE, OPTIONS, require_taken

CORPUS = Path(__file__).parents[3] / "corpus"
REFUSED: dict[Recipe, tuple[str, Options]] = {
    "naive": (
        "mm",
        Options(
            pad=True, separate_full_tiles=True, vector=4, index=32, stages=3, register_pipeline=True
        ),
    ),
    "reduce": (
        "nests/row_sum",
        Options(
            pad=True,
            separate_full_tiles=True,
            vector=4,
            index=32,
            stages=2,
            warp_tile=(4, 8),
            swizzle_groups=4,
        ),
    ),
    "one-sided": (
        "nests/weighted_rows",
        Options(register_pipeline=True, serpentine=2, block_cyclic=2, warp_tile=(4, 8)),
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


def test_each_option_is_a_field_of_its_name() -> None:
    every = {o.field for o in (*OPTIONS, *OFFLOADING)}
    permission = {"fp"}  # given with every command, not an option of tiling
    assert every == {f.name for f in fields(Options)} - permission
    assert set(EVERY) > ON_DEVICE


@pytest.mark.parametrize("former", [(name, o.name) for o in OPTIONS for name in o.former])
def test_names_of_earlier_releases_are_understood(former: tuple[str, str]) -> None:
    name, current = former
    flag = next(o for o in OPTIONS if o.name == current)
    text = {"N": "2", "A:1,0": "A:1,0", "RxC": "4x8"}.get(flag.kind.metavar, "")
    with pytest.warns(FutureWarning, match=f"'{name}' is called '{current}' now"):
        assert wish({name: text}) == wish({current: text})


TWICE: list[dict[str, str]] = [
    {"pad": "", "no-pad": ""},
    {"swizzle-groups": "8", "group-order": "4"},
    {"preload": "", "no-register-pipeline": ""},
    {"layouts": "A:1,0", "relayout": "B:1,0"},
    {"recipe": "block", "variant": "register"},
]


@pytest.mark.parametrize("texts", TWICE, ids=" ".join)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_an_option_has_one_of_its_names(texts: dict[str, str]) -> None:
    one, other = texts
    with pytest.raises(UsageError, match=f"'{one}' and '{other}' are one option"):
        wish(texts)


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
    assert mm.tile(recipe="naive", Ty=4, separate_full_tiles=False).sizes["Ty"] == 4


def test_an_annotation_is_held_to_it() -> None:
    text = (CORPUS / "mm.c").read_text().replace("{\n", "{\n#pragma loopxform tile(NOTE)\n", 1)
    with pytest.raises(InputError, match=re.escape("the recipe block has no use for Rx")) as caught:
        lx.loads(text.replace("NOTE", "Ty=4, Rx=2, recipe=block"))["mm"].tile()
    assert caught.value.loc is not None
    assert (caught.value.loc.line, caught.value.loc.column) == (5, 30)
