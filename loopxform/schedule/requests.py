"""What a user asks of the nests of a function: of all, by name, or of one, by an annotation.

--Ty 16 --recipe block --pad          #pragma loopxform tile(Ty=16, recipe=block, pad)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from loopxform.errors import AnnotationError, LoopxformError, UsageError
from loopxform.ir.annotations import Annotation
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.offload_options import OF_PROGRAMS
from loopxform.schedule.option_values import size
from loopxform.schedule.params import NAMES, PLAIN, RECIPES, Options, Recipe
from loopxform.schedule.tiling_options import NAMED, option, require_taken, words
from loopxform.source import Loc

RECIPE_NAMES = ("recipe", "variant")


@record
class Wish:
    """What is asked of one nest, or of all: tile sizes, a recipe (None: any that fits), options;
    the `annotation` that asks for it, None where the command line or a call does."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    recipe: Recipe | None = None
    options: Options = PLAIN
    annotation: Annotation | None = None

    @property
    def strict(self) -> bool:
        """Whether a recipe that does not fit is an error."""
        return self.recipe is not None and self.recipe != "naive"

    @property
    def is_of_nests(self) -> bool:
        """Whether anything but tiles of several nests is asked for."""
        nests = replace(self.options, time_tile=None, fuse_stages=None, tile_stages=None)
        return bool(self.sizes) or self.recipe is not None or nests != PLAIN

    def over(self, other: Wish) -> Wish:
        """Both wishes, this one where they differ."""
        return Wish(
            {**other.sizes, **self.sizes},
            self.recipe or other.recipe,
            self.options.over(other.options),
            self.annotation or other.annotation,
        )

    def unmet(self, e: LoopxformError) -> LoopxformError:
        """The error where the wish cannot be met: that of the annotation, if it was one's."""
        a = self.annotation
        if a is None:
            return e
        return AnnotationError(
            f"{a.text} cannot be met: {e.message}",
            loc=a.loc,
            code="LX401",
            width=a.width,
            notes=((f"{e.loc} [{e.code}]",) if e.loc else ()) + e.notes,
            help=e.help,
        )


# ---------------------------------------------------------------- by name


def wish(texts: Mapping[str, str]) -> Wish:
    """The wish of options as they are written, by name. Raises UsageError with the name as its
    subject."""
    sizes: dict[str, int] = {}
    values: dict[str, Any] = {}
    recipe, names, given = None, [], dict[str, str]()
    for name, text in texts.items():
        if name in RECIPE_NAMES:
            _require_once(given, "recipe", name)
            recipe = _recipe(text)
            continue
        if (program := OF_PROGRAMS.get(name.replace("_", "-"))) is not None:
            _require_once(given, program.field, name)
            values[program.field] = program.kind.parse(program.name, text)
            continue
        names.append(name)
        if name in NAMES:
            sizes[name] = size(name, text)
        elif (known := option(name)) is not None:
            names[-1] = known.name
            _require_once(given, known.field, name)
            values[known.field] = known.kind.parse(known.name, text)
        else:
            raise UsageError(f"tile has no option '{name}'", help=_nearest(name), subject=name)
    require_taken(names, (recipe,))
    return Wish(sizes, recipe, Options(**values))


def options_of(values: Mapping[str, str]) -> Options:
    """Those of a tuning file. Raises UsageError."""
    return wish(words(values)).options


def _require_once(given: dict[str, str], what: str, name: str) -> None:
    """Raises UsageError where the option is given already, by another name or as its opposite."""
    other = given.setdefault(what, name)
    if other != name:
        message = f"'{other}' and '{name}' are one option"
        raise UsageError(message, help="give one of them", subject=name)


def _recipe(text: str) -> Recipe | None:
    if text == "auto":
        return None
    chosen = next((r for r in RECIPES if r == text), None)
    if chosen is None:
        known = ("auto", *RECIPES)
        help = f"{did_you_mean(text, known)}the recipes are: {', '.join(known)}"
        raise UsageError(f"there is no recipe '{text}'", help=help, subject="recipe")
    return chosen


def _nearest(name: str) -> str:
    known = (*NAMES, *RECIPE_NAMES, *NAMED, *OF_PROGRAMS)
    return f"{did_you_mean(name, known)}the options are: {', '.join(known)}"


# ---------------------------------------------------------------- by loop


@dataclass
class Wishes:
    """What is asked of the nests of a function: `common` of all, `at` of those that hold the loop
    that is written at a place, or stand in it. `met` are the places of loops that were mapped."""

    common: Wish = field(default_factory=Wish)
    at: Mapping[Loc, Wish] = field(default_factory=dict)
    met: set[Loc] = field(default_factory=set)

    def of(self, fn: Function, path: Path) -> Wish:
        """What is asked of the nest at `path`: of its outermost loop that is annotated, else of
        the nearest around it."""
        found = self._places(fn, path)
        return self.at[found[0]] if found else self.common

    def of_loop(self, loop: For) -> Wish:
        """What is asked of this very loop, else of all."""
        found = None if loop.origin.loc is None else self.at.get(loop.origin.loc)
        return found or self.common

    def meet_loop(self, loop: For) -> None:
        """What is asked of this very loop was done."""
        if loop.origin.loc in self.at and loop.origin.loc is not None:
            self.met.add(loop.origin.loc)

    def meet(self, fn: Function, path: Path) -> None:
        """The nest at `path` was mapped as asked."""
        self.met.update(self._places(fn, path))

    def _places(self, fn: Function, path: Path) -> list[Loc]:
        parents = enclosing(fn, path)
        inside = [s for _, s in walk((parents[-1],)) if isinstance(s, For)]
        around = [s for s in reversed(parents[:-1]) if isinstance(s, For)]
        places = (s.origin.loc for s in (*inside, *around))
        return [p for p in places if p is not None and p in self.at]

    @property
    def left(self) -> tuple[tuple[Loc, Wish], ...]:
        """The loops that are in no nest that was mapped, and what is asked of these."""
        return tuple((p, w) for p, w in self.at.items() if p not in self.met)
