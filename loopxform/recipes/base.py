"""What a recipe is: when it fits a nest, and the steps that tile the nest by it.

A recipe is one file with one object, which `registry` lists; `schedule.params` has what users see
of it. Whether it fits is decided from invariance, never from the name of a pattern.
"""

from __future__ import annotations

from typing import Protocol

from loopxform.analysis.invariance import Read
from loopxform.errors import TransformError
from loopxform.model.choice import Choice
from loopxform.model.reuse import Facts, Stage, Staged
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.records import record
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Costs, Limits

RARE = "the data is reused too rarely to be worth staging: caches serve it as well"
NO_REUSE = "no array is invariant to one of the parallel loops: tiling would reuse nothing"

NO_UPDATES = "no array is updated atomically of which numbers say how much"
IN_LOCKSTEP = "the device runs the work-items of a group together, not in turn"
ONE_BY_ONE = "the device runs the work-items of a group in turn, not together"
NO_LANES = "no loop inside reads what follows one another along its own terms"
NO_COLUMNS = "no loop inside reads what follows one another along the parallel loops"
ALONG_LINES = "no block of two parallel loops touches fewer lines than rows of the innermost"
NO_CHUNKS = "no chunks of a loop with running values"
ONE_ELEMENT = "the device copies as fast with one element for each work-item"
WHOLE_WORDS = "neighbours touch neighbouring words: the device serves them together"
EVEN = "no single loop inside the parallel ones ends where data say"
FAR_APART = "the nest has loops inside, or touches elements that are far apart"


@record
class Question:
    """What a recipe is asked: a nest with its facts, the limits of the device, whether the user
    `asked` for the recipe, and for several elements a work-item (`kept`) where that is open;
    whether there are so `few` results that a group may compute a single one."""

    facts: Facts
    limits: Limits
    asked: bool
    kept: bool
    few: bool = False

    @property
    def costs(self) -> Costs:
        return self.limits.costs


@record
class Mapped:
    """What the steps of a recipe made of a choice: the choice that was possible, the boxes that
    were staged, the reads into registers from global memory, the outermost loop over groups where
    variants may follow, and a remark."""

    choice: Choice
    staged: tuple[Staged, ...] = ()
    kept: tuple[Read, ...] = ()
    group: str = ""
    remark: str = ""


@record
class Uncopied:
    """A box of a choice that cannot be copied to local memory, and why."""

    stage: Stage
    refusal: TransformError


class TilingRecipe(Protocol):
    """A recipe. `match` gives the choice for a nest, or why there is none, in words, or nothing
    where that is no news; `map` applies the steps of a choice, for sizes that fit, unless a box
    cannot be copied: the choice without it may do. Raises UnsupportedC, TransformError."""

    @property
    def name(self) -> Recipe: ...

    def match(self, question: Question) -> Choice | str: ...

    def map(
        self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
    ) -> Mapped | Uncopied: ...
