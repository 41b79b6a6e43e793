"""Every program of the corpus under the Oclgrind simulator: no race, no access out of bounds, no
read of an unset value, and the result of the user's C to the last bit."""

from __future__ import annotations

import pytest
from harness import PROGRAMS, Sizes, check_under_oclgrind, sizes_of

from loopxform.schedule.params import Recipe, Tiles

SEED = 9
SIZES: tuple[Sizes, ...] = ((11, 7, 9), (8, 8, 8))
"""Residuals in every dimension, and none."""


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_partial_tile_in_every_dimension(name: str) -> None:
    check_under_oclgrind(name, Tiles(3, 4, 5, 2, 2), "register", [sizes_of(name, *SIZES[0])], SEED)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["mm", "mm_at", "batched", "mm_bool_and", "covariance"])
def test_one_row_per_work_item(name: str) -> None:
    check_under_oclgrind(name, Tiles(4, 3, 1, 1, 2), "register", [sizes_of(name, *SIZES[0])], SEED)


VARIANTS: dict[Recipe, tuple[Tiles, ...]] = {
    "register": (
        *(Tiles(4, 4, 4, 2, 2), Tiles(2, 5, 3, 3, 1), Tiles(1, 4, 8, 2, 3)),
        *(Tiles(2, 2, 1, 1, 1), Tiles(4, 3, 1, 1, 2)),
    ),
    "block": (Tiles(2, 5, 3, 1, 1), Tiles(1, 4, 8, 1, 1)),
    "naive": (Tiles(2, 5, 1, 1, 1),),
}
"""Sizes that a recipe has; the others say nothing there."""


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("recipe", ["register", "block", "naive"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_variant(name: str, recipe: Recipe) -> None:
    for tiles in VARIANTS[recipe]:
        check_under_oclgrind(name, tiles, recipe, [sizes_of(name, *s) for s in SIZES], SEED)
