"""Copy to local memory: for kk: ... A[ii+i, kk+k] ... -> for kk: A_loc = A[box]; ... A_loc[...] ...

The work-items of a group collectively copy the box of A that the body reads. Legal where the body
only reads A and the box is fixed by tile sizes. Elements of the box that the program never touches
are not read: the last touched one is copied in their place (`clamp`), so that no padding value is
ever computed with. (Seed 000, sections 2.2.2, 4.2.1 and 4.3, listing 10.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import extent
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Copy, Function, Slice
from loopxform.ir.types import Space
from loopxform.ir.visit import LoopSite, loops_around, replace_at
from loopxform.transforms.base import Step, new_name, one_loop, trusted
from loopxform.transforms.staging import Staging, insert, plan


@dataclass(frozen=True)
class CopyToLocal(Step):
    """Stages `array` in local memory at the start of each iteration of `loop`; `target` names the
    copy (default: A_loc)."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "copy-to-local"
    usage: ClassVar[str] = "copy-to-local ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        staging = plan(fn, self.array, site, self._target(fn))
        if isinstance(staging, Obstacle):
            return (staging,)
        taken = new_name(fn, self.target, site)
        if taken:
            return taken
        inside = [x for x in loops_around(fn, site.path) if x.level and x.level.kind == "group"]
        if inside or (site.loop.level and site.loop.level.kind == "group"):
            return (
                Obstacle(
                    "LX163",
                    f"the loop over '{site.loop.var}' runs inside a thread",
                    site.loop.origin.loc,
                    remedy="copy at a loop that the whole group runs together",
                ),
            )
        return self._bounds(fn, site, staging)

    def _bounds(self, fn: Function, site: LoopSite, staging: Staging) -> tuple[Obstacle, ...]:
        known = extent(fn, self.array)
        inside = (*site.path, 0)
        starts = staging.slices()
        if known is None or not all(always(fn, inside, Bin(">=", s.lo, Const(0))) for s in starts):
            return (
                Obstacle(
                    "LX164",
                    f"the part of '{self.array}' that is touched has no known bounds",
                    site.loop.origin.loc,
                    remedy="leave it in global memory",
                ),
            )
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        staging = plan(fn, self.array, site, self._target(fn))
        known = extent(fn, self.array)
        assert isinstance(staging, Staging)
        assert known is not None
        slices = tuple(
            _limited(fn, site, s, Slice(s.lo, s.size, end, clamp=True))
            for s, end in zip(staging.slices(), known.upper)
        )
        origin = site.loop.origin.then(str(self))
        copy = Copy(staging.target, self.array, slices, True, origin=origin)
        decl = staging.decl(Space.LOCAL, str(self), site)
        body = insert(site.loop.body, staging, (decl, copy))
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def _target(self, fn: Function) -> str:
        return self.target or fresh(fn, f"{self.array}_loc")

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"{self.array} is only read in the loop over {site.loop.var}, in a box of fixed size"


def _limited(fn: Function, site: LoopSite, plain: Slice, limited: Slice) -> Slice:
    """Without the limit where the box is proven to end inside it."""
    if limited.limit is None:
        return plain
    size = Const(1) if plain.size is None else plain.size
    end = Bin("+", plain.lo, size)
    inside = (*site.path, 0)
    return plain if always(fn, inside, Bin("<=", end, limited.limit)) else limited
