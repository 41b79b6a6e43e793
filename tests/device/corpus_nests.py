"""The loop nests of `corpus/nests`, each with what its TOML says is true of it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from loopxform import load
from loopxform.api.facade import Routine
from loopxform.schedule.params import Recipe
from loopxform.verify.values import Wanted, wanted

FOLDER = Path(__file__).parents[2] / "corpus" / "nests"

FIELDS = (
    "linear algebra",
    "statistics",
    "machine learning",
    "physics",
    "image",
    "graph",
    "strings",
    "finance",
)
RECIPES: tuple[Recipe, ...] = (
    *("register", "block", "coarsened", "one-sided", "1-d", "stencil"),
    *("transposition", "histogram", "naive"),
)


@dataclass(frozen=True)
class Nest:
    """`sizes` are multiples of the tiles (where the loops run over whole arrays), `residual` none
    of them; `fixed` are scalars that are no sizes. `verdicts` are those of the loops in text
    order, `recipe` is what `auto` should choose, `fits` are others that have to work when they are
    asked for. `tolerance` is relative; None: to the last bit.
    """

    name: str
    about: str
    field: str
    sizes: dict[str, int]
    residual: dict[str, int]
    verdicts: tuple[str, ...]
    recipe: str
    tolerance: float | None
    fixed: dict[str, float] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    fits: tuple[Recipe, ...] = ()

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.c"

    @property
    def inputs(self) -> dict[str, Wanted]:
        """The values of arrays that random numbers would not do for."""
        return {name: wanted(text) for name, text in self.given.items()}

    @property
    def routine(self) -> Routine:
        return load(self.file)[self.name]

    @property
    def scalars(self) -> dict[str, float]:
        return {**self.residual, **self.fixed}

    def ones(self) -> Iterator[dict[str, float]]:
        """Numbers for runs with one size 1 and the others residual."""
        return ({**self.scalars, name: 1} for name in self.residual)

    def small(self, most: int) -> dict[str, float]:
        """Numbers for a run that is quick even when it is simulated."""
        return {**self.fixed, **{name: min(n, most) for name, n in self.residual.items()}}


@cache
def nest(name: str) -> Nest:
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    tolerance = data.pop("tolerance")
    return Nest(
        name,
        given=data.pop("inputs", {}),
        **{**data, "verdicts": tuple(data["verdicts"]), "fits": tuple(data.get("fits", ()))},
        tolerance=None if tolerance == "exact" else tolerance,
    )


NAMES = tuple(sorted(p.stem for p in FOLDER.glob("*.c")))
