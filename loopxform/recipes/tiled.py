"""A nest that is tiled: its derivation, and what is to be said of it."""

from __future__ import annotations

from loopxform.analysis.invariance import Read
from loopxform.ir.nodes import Function
from loopxform.model.choice import Choice
from loopxform.model.resources import Demand
from loopxform.model.reuse import Staged
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.schedule.params import Recipe
from loopxform.transforms import Derivation


@record
class Fitted:
    """What a tiled nest needs of a device, and which defaults were reduced, and why."""

    needs: Demand
    reduced: tuple[str, ...]


@record
class Tiled:
    """The derivation, the choice that was possible with its tile sizes for the nest, what was
    staged, what is read into registers from global memory, and why not another choice; the arrays
    that are read from a copy in another layout, with the names of the copies; the nest before that,
    where its reduction is not split. `rest` are the nests that follow, where the loops of the
    user's nest became several. `fitted` says why the sizes are what they are, `group` which
    loop runs over the groups, the outermost of them. The recipe may be one that the user `asked`
    for; others come before it that fit, but have a step that is `refused`, for what reason."""

    derivation: Derivation
    choice: Choice
    sizes: dict[str, int]
    nest: Nest
    staged: tuple[Staged, ...] = ()
    kept: tuple[Read, ...] = ()
    reason: str = ""
    copied: tuple[tuple[str, str], ...] = ()
    plain: Nest | None = None
    rest: tuple[Tiled, ...] = ()
    fitted: Fitted | None = None
    group: str = ""
    asked: bool = False
    refused: tuple[tuple[Recipe, str], ...] = ()

    @property
    def function(self) -> Function:
        return self.derivation.function

    @property
    def recipe(self) -> Recipe:
        return self.choice.recipe
