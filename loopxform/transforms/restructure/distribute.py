"""Distribution (fission): for i: { S1; S2 } -> for i: S1; for i: S2.

Every statement gets a loop of its own, or, `around` named inner loops, these and the statements
between them do. Legal at a cut where no dependence carried by the loop leads from a later statement
back to an earlier one, and no storage declared in the body is used on both sides of it (expand it
first). For a forall only the second can happen. (Cholewa-Madsen and Holst, step 3b, listing 6;
section 2.4.4.)

Where the loops may be `reordered`, they are sorted by dependences:

    for i: { a[i] = b[i - 1]; b[i] = c[i] }  ->  for i: b[i] = c[i]; for i: a[i] = b[i - 1]

Then it is legal where no cycle of dependences goes through several statements. (Allen and Kennedy,
"Optimizing Compilers for Modern Architectures", section 2.4.4, with a topological sort.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, groupby
from typing import ClassVar

from loopxform.analysis.legality import dependence_order, distribute_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Decl, For, Function, Stmt
from loopxform.ir.visit import LoopSite, reads, replace_at, resolve, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import no_such_loop, one_loop, trusted, unmapped, whole_loop

REORDERED = "reordered"
"""The word for loops that are sorted by dependences."""


@record
class Distribute(Step):
    """Gives every statement of a loop body its own loop, or only the loops of the body named in
    `around`; several loops are distributed from the innermost outwards. `reordered` (the word)
    sorts the new loops by dependences."""

    loops: tuple[str, ...]
    around: tuple[str, ...] = ()
    reordered: str = ""

    verb: ClassVar[str] = "distribute"
    usage: ClassVar[str] = (
        "distribute LOOP,LOOP,... [INNER,INNER,...] [reordered]   (outermost loop first)"
    )
    flags: ClassVar[Mapping[str, str]] = {REORDERED: "reordered"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        for ref in reversed(self.loops):
            site = one_loop(fn, ref)
            if isinstance(site, Obstacle):
                return (site,)
            found = self._obstacles(fn, site)
            if found:
                return found
            fn = self._split(fn, site)
        return ()

    def rewrite(self, fn: Function) -> Function:
        for ref in reversed(self.loops):
            fn = self._split(fn, trusted(one_loop(fn, ref)))
        return fn

    def reason(self, fn: Function) -> str:
        sites = [trusted(one_loop(fn, ref)) for ref in self.loops]
        if all(s.loop.parallel for s in sites):
            return "the loops are parallel: dependences lead only to later statements"
        if any(self._order(fn, s) for s in sites):
            return "the loops are in an order in which each dependence leads to a later one"
        return "no dependence leads back from a later statement to an earlier one"

    def _obstacles(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        structure = (*whole_loop(site), *unmapped(site, "distribute"))
        if structure:
            return structure
        sunk = replace_at(fn, site.path, (replace(site.loop, body=self._sunk(site.loop)),))
        parts = self._parts(site.loop)
        if len(parts) < 2:
            unknown = next((ref for ref in self.around if not resolve(fn, ref)), None)
            return (_single(site) if unknown is None else no_such_loop(fn, unknown),)
        ordered = self._order(fn, site) is not None
        found = (distribute_obstacles(sunk, site.path, n, ordered=ordered) for n in _cuts(parts))
        return next(filter(None, found), ())

    def _order(self, fn: Function, site: LoopSite) -> tuple[int, ...] | None:
        """The parts in an order that keeps the dependences, where that of the text does not; None
        where it does, or none does."""
        if site.loop.parallel or not self.reordered:
            return None
        cuts = (0, *_cuts(self._parts(site.loop)))
        sunk = replace(site.loop, body=self._sunk(site.loop))
        order = dependence_order(replace_at(fn, site.path, (sunk,)), site.path, cuts)
        return order if order != tuple(range(len(cuts))) else None

    def _split(self, fn: Function, site: LoopSite) -> Function:
        loop = site.loop
        parts = self._parts(loop)
        order = self._order(fn, site) if len(parts) > 1 else None
        parts = parts if order is None else [parts[n] for n in order]
        origin = loop.origin.then(str(self))
        return replace_at(
            fn, site.path, tuple(replace(loop, body=part, origin=origin) for part in parts)
        )

    def _parts(self, loop: For) -> list[tuple[Stmt, ...]]:
        """The statements that stay together."""
        if not self.around:
            return [(s,) for s in loop.body]
        runs = groupby(enumerate(self._sunk(loop)), key=lambda x: self._alone(*x))
        return [tuple(s for _, s in run) for _, run in runs]

    def _alone(self, n: int, s: Stmt) -> int:
        """A number of its own for a loop that is cut out, or holds one that is."""
        inside = {x.var for _, x in walk((s,)) if isinstance(x, For)}
        return n if inside & set(self.around) else -1

    def _sunk(self, loop: For) -> tuple[Stmt, ...]:
        """With declarations directly before the statement that first mentions what they declare."""
        if not self.around:
            return loop.body
        waiting = [s for s in loop.body if isinstance(s, Decl)]
        out: list[Stmt] = []
        for s in (s for s in loop.body if not isinstance(s, Decl)):
            used = reads((s,)) | writes((s,))
            out += [d for d in waiting if d.name in used]
            waiting = [d for d in waiting if d.name not in used]
            out.append(s)
        return (*waiting, *out)


def _cuts(parts: list[tuple[Stmt, ...]]) -> list[int]:
    """The numbers of the statements that begin the parts behind the first."""
    return [*accumulate(len(p) for p in parts[:-1])]


def _single(site: LoopSite) -> Obstacle:
    return Obstacle(
        "LX120",
        f"the loop over '{site.loop.var}' holds a single statement",
        site.loop.origin.loc,
        remedy="there is nothing to distribute",
    )
