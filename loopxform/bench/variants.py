"""Variants of a nest: recipes, times every value of what is varied (`--vary Tk=8,16,32`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from loopxform.api.facade import Routine
from loopxform.api.tile import TiledRoutine, tile_routine
from loopxform.errors import UsageError
from loopxform.floating_point import FloatingPoint
from loopxform.nearest import did_you_mean
from loopxform.schedule import tiling_options
from loopxform.schedule.params import NAMES, RECIPES, Options, Recipe
from loopxform.schedule.requests import Wish, wish
from loopxform.targets.target import Limits

VARIED = (*NAMES, *tiling_options.VARIED)


@dataclass(frozen=True)
class Variant:
    """A recipe (None: the one that tiling chooses) with sizes and options of its own."""

    recipe: Recipe | None
    varied: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return " ".join([self.recipe or "auto", *(f"{n}={v}" for n, v in self.varied)])

    def used(self, sizes: Mapping[str, int]) -> Variant:
        """With the sizes and options that its recipe has."""
        names = (*sizes, *(tiling_options.VARIED if self.recipe != "naive" else ()))
        return replace(self, varied=tuple((n, v) for n, v in self.varied if n in names))

    def tiled(
        self,
        routine: Routine,
        sizes: Mapping[str, int],
        limits: Limits,
        options: Options,
        *,
        fp: FloatingPoint,
    ) -> TiledRoutine:
        """The nest tiled in this way; `sizes` and `options` are what all variants have. The naive
        kernel has none of the options: it is what the others are compared with. Raises
        UnsupportedC, TransformError, LimitError."""
        asked = wish(dict(self.varied)).over(Wish(sizes, options=options))
        options = asked.options
        if self.recipe == "naive":
            options = Options(relayout=(), reassociate=options.reassociate)
        given = asked.sizes
        return tile_routine(routine, given, self.recipe, limits, fp=fp, options=options)


def every(recipes: str, varied: Sequence[str]) -> list[Variant]:
    """The variants of `naive,block` and of `Tk=8,16`, `Rx=1,2`. Raises UsageError."""
    lists = [_varied(text) for text in varied]
    names = [n for n, _ in lists]
    if len(set(names)) < len(names):
        raise _refusal(f"'{names[-1]}' is varied twice", "--vary")
    return [
        Variant(recipe, tuple(zip(names, values)))
        for recipe in _recipes(recipes)
        for values in product(*(v for _, v in lists))
    ]


def _recipes(text: str) -> list[Recipe | None]:
    known: dict[str, Recipe | None] = {"auto": None, **{r: r for r in RECIPES}}
    words = list(dict.fromkeys(text.split(",")))
    wrong = [w for w in words if w not in known]
    if wrong:
        help = f"{did_you_mean(wrong[0], known)}the variants are: {', '.join(known)}"
        raise UsageError(f"there is no variant '{wrong[0]}'", help=help, subject="--variants")
    return [known[w] for w in words]


def _varied(text: str) -> tuple[str, list[str]]:
    written, equals, values = text.partition("=")
    known = tiling_options.option(written)
    name = written if known is None else known.name
    if name not in VARIED or not equals:
        hint = did_you_mean(name, VARIED) if equals else ""
        raise _refusal(f"'{text}' is not NAME=VALUE,...", text, hint)
    try:
        for value in values.split(","):
            wish({name: value})
        return name, list(dict.fromkeys(values.split(",")))
    except UsageError as e:
        e.subject = text
        raise


def _refusal(message: str, subject: str, hint: str = "") -> UsageError:
    help = f"{hint}--vary Tk=8,16,32; what can be varied: {', '.join(VARIED)}"
    return UsageError(message, code="LX023", help=help, subject=subject)
