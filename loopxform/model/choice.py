"""How a nest is tiled: which loops, and what is staged. Recipes decide it; the model of costs, the
sizes and the steps follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.analysis.invariance import Read
from loopxform.model.reuse import Dim, Stage
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.schedule.params import KINDS, NAMES, Recipe, Tiles, Trait


@record
class Choice:
    """How a nest is tiled: `dims` are the tiled loops, outermost first; the work-items along
    `neighbours` touch neighbouring addresses. `group` are the sizes of a group whose work-items run
    along no tiled loops, `tiles` those that suit the nest, where the recipe can tell. `shared` are
    the loops of the body whose iterations the work-items of a group share, one along x or two along
    y and x. `more` are other sizes: of what a group keeps in local memory that no box says. Reports
    call it `form`, where the recipe has several, else by the title of the recipe."""

    recipe: Recipe
    dims: tuple[Dim, ...]
    neighbours: str
    stages: tuple[Stage, ...] = ()
    reads: tuple[Read, ...] = ()
    group: tuple[str, ...] = ()
    tiles: Tiles | None = None
    shared: tuple[tuple[str, ...], ...] = ()
    more: tuple[str, ...] = ()
    form: str = ""

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.form or KINDS[self.recipe].title

    def has(self, trait: Trait) -> bool:
        """Whether the recipe has a trait."""
        return trait in KINDS[self.recipe].traits

    @property
    def read_once(self) -> tuple[Stage, ...]:
        """Boxes of tiles of which each element is read once: what work-items walk along."""
        return tuple(s for s in self.stages if not s.shared and s.tiled)

    @property
    def unstaged(self) -> tuple[Read, ...]:
        """Reads of reductions from global memory that several elements of a work-item share."""
        staged = [r for s in self.stages for r in s.reads]
        kept = [d.loop for d in self.dims if d.kept]
        rest = (r for r in self.reads if not any(r is x for x in staged))
        return tuple(r for r in rest if any(v not in r.varies for v in kept))

    @property
    def strips(self) -> tuple[str, ...]:
        """The sequential loops that are tiled."""
        return tuple(dict.fromkeys(s.loop for s in self.stages if s.tiled))

    @property
    def opened(self) -> tuple[str, ...]:
        """The sequential loops that a group runs in step: down to those that are tiled."""
        chains = [s.around for s in self.stages]
        return tuple(dict.fromkeys(v for chain in chains for v in chain))

    def without(self, stage: Stage) -> Choice:
        """The choice with one box less staged."""
        return replace(self, stages=tuple(s for s in self.stages if s is not stage))

    def hardware(self, sizes: Mapping[str, int]) -> tuple[Dim, ...]:
        """The tiled loops along x, y and z of the hardware: x where neighbours touch neighbouring
        addresses. Some implementations (PoCL 3) run a work-item twice where only the first
        dimension is empty: a loop with one work-item is not x."""
        wide = [d for d in self.dims if d.items and sizes[d.items] > 1] or [*self.dims]
        first = next((d for d in wide if d.loop == self.neighbours), wide[-1])
        return (first, *(d for d in reversed(self.dims) if d is not first))

    @property
    def names(self) -> tuple[str, ...]:
        """The tile sizes in use, in the order of the command line."""
        used = {*self.group, *self.more, *(f for d in self.dims for f in d.factors)}
        used |= {"Tk"} if self.strips else set()
        return tuple(n for n in NAMES if n in used)


def naive(nest: Nest, near: str = "") -> Choice:
    """One work-item for each iteration of the parallel loops, neighbours along `near` (the
    innermost where none is named)."""
    x = near or nest.parallel[-1]
    rows = [v for v in nest.parallel if v != x][-1:]
    return Choice("naive", tuple(Dim(v) for v in (*rows, x)), x, group=("Ty", "Tx"))
