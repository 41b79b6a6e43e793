"""Parallelise: for i: S -> forall i: S.

Legal where the loop carries no dependence: every row of the dependence matrix has `=` in the column
of i, or a `<` in a column further out. Storage declared inside the loop is private to an iteration.
(Cholewa-Madsen and Holst, step 0, listing 2.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import parallel_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, whole_loop


@record
class Parallelise(Step):
    """Marks a loop as `forall` once it is proven to carry no dependence."""

    loop: str

    verb: ClassVar[str] = "parallelise"
    usage: ClassVar[str] = "parallelise LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        return (*whole_loop(site), *parallel_obstacles(fn, site.path))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        new = replace(site.loop, parallel=True, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, (new,))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"no dependence is carried by {var}: its column of the matrix is '=' or shielded"
