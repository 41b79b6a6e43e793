"""How a nest could have been mapped: costs, and why it is not the one that was taken."""

from __future__ import annotations

from deriving import corpus

from loopxform.frontend import parse_file
from loopxform.recipes.candidates import Candidate, candidates
from loopxform.recipes.registry import SELDOM
from loopxform.recipes.tile import tile
from loopxform.schedule.params import RECIPES, Options, Recipe
from loopxform.targets.profile import PROFILES

H100 = PROFILES["h100"]


def of(name: str, recipe: Recipe | None = None, options: Options | None = None) -> list[Candidate]:
    (fn,) = parse_file("t.c", text=corpus(name)).unit.functions
    done = tile(fn, {}, recipe, H100, options=options or Options())
    return list(candidates(done, H100))


def why(every: list[Candidate]) -> dict[str, str]:
    return {c.name: c.why for c in every}


def test_that_which_was_taken_comes_first_and_every_recipe_once() -> None:
    every = of("mm", "block")
    assert every[0].name == "block"
    assert every[0].why == "taken"
    assert sorted(c.name for c in every) == sorted({*RECIPES} - {*SELDOM})
    assert {c.why for c in every[1:]} == {"block was asked for"}


def test_why_a_recipe_was_not_taken() -> None:
    reasons = why(of("nests/heat_2d"))
    assert reasons["naive"] == "taken"
    assert reasons["block"] == "only on request"
    assert reasons["stencil"].startswith("the data is reused too rarely")
    assert reasons["reduce"] == "0 sequential loops inside the parallel ones, not one"


def test_the_order_of_recipes_decides() -> None:
    every = of("nests/matvec")
    assert every[0].name == "1-d"
    assert why(every)["naive"] == "only where no other recipe fits"
    assert why(of("mm"))["1-d"] == "register fits too, and comes before it"


def test_layouts() -> None:
    made = of("nests/best_shift")
    assert made[0].name == "naive, x transposed"
    assert made[1].name == "naive, no copies"
    assert made[1].why.endswith("times as long as with the copies, 1.5 or more")
    assert made[0].cost
    assert made[1].cost
    assert made[0].cost["copies"] > 0
    assert made[0].cost.time < made[1].cost.time
    plain = of("nests/best_shift", options=Options(relayout=()))
    assert plain[0].name == "naive"
    assert plain[1].name == "naive, x transposed"


def test_steps_that_are_refused() -> None:
    reasons = why(of("nests/smoothing_grid"))
    assert reasons["1-d"].startswith("cannot copy-to-local")


def test_split_reductions_have_no_cost() -> None:
    assert of("nests/row_sum", options=Options(Rk=4, reassociate=True)) == []


def test_a_transposition_is_compared_where_something_is_turned() -> None:
    reasons = why(of("nests/transpose"))
    assert reasons["transposition"] == "taken"
    assert "transposition" not in why(of("nests/heat_2d"))
