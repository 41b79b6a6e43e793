"""Mapping to hardware: a forall runs over the groups of the grid, or over the threads of a group.

Legal for a forall, over groups also for chunks in a chain that look back (the step `look-back`). A
loop over groups must have bounds the host can compute, from parameters and the counters of
sequential loops around it, which the host runs, and be all that the loop over groups around it
holds (several in one dimension of the grid are numbered through, the innermost fastest); a loop
over threads lies inside the loops over groups, has a fixed number of iterations (they become the
group's shape) and no collective copy inside. (Cholewa-Madsen and Holst, section 2.2.1, listing 10.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Copy, Decl, For, Function
from loopxform.ir.types import Level, Space
from loopxform.ir.visit import LoopSite, loops_around, names, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.mapping.look_back import looks_back
from loopxform.transforms.sites import for_each, rewrite_loops, some_loops

LEVELS: dict[str, Level] = {
    **{f"group.{d}": Level("grid", n) for n, d in enumerate("xyz")},
    **{f"thread.{d}": Level("group", n) for n, d in enumerate("xyz")},
}


@record
class MapTo(Step):
    """Maps a parallel loop to `group.x|y|z` (groups of the grid) or `thread.x|y|z` (threads of a
    group)."""

    loop: str
    level: str

    verb: ClassVar[str] = "map"
    usage: ClassVar[str] = "map LOOP group.x|group.y|group.z|thread.x|thread.y|thread.z"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        if self.level not in LEVELS:
            return (
                Obstacle(
                    "LX025",
                    f"'{self.level}' is not a level of the hardware",
                    sites[0].loop.origin.loc,
                    remedy=f"levels: {', '.join(LEVELS)}",
                ),
            )
        return for_each(sites, lambda s: self._obstacles(fn, s))

    def _obstacles(self, fn: Function, site: LoopSite) -> list[Obstacle]:
        loop, level = site.loop, LEVELS[self.level]
        hosted, around = _of_the_host(loops_around(fn, site.path))
        problems = []
        chained = level.kind == "grid" and looks_back(loop) is not None
        if not (loop.parallel or chained):
            first = "look-back" if loop.chained else "parallelise"
            problems.append(("is not parallel", f"{first} {loop.var} first"))
        if loop.level is not None:
            problems.append((f"is already mapped to {loop.level}", "map each loop once"))
        if level.kind == "group" and any(x.level == level for x in around):
            problems.append((f"lies inside a loop mapped to {level}", "use another dimension"))
        if level.kind == "grid" and any(x.level is None or x.level.kind != "grid" for x in around):
            problems.append(("lies inside a loop that is not mapped to groups", "map that first"))
        if level.kind == "grid" and around and len(around[-1].body) > 1:
            problems.append(("stands beside other statements", f"distribute {around[-1].var}"))
        sizes = host_scalars(fn) | {x.var for x in hosted}
        bounds = names(loop.lo) | names(loop.hi)
        if level.kind == "grid" and bounds & {x.var for x in around}:
            problems.append(("has bounds that vary between groups", "use fixed bounds"))
        elif level.kind == "grid" and not bounds <= sizes:
            other = min(bounds - sizes)
            problems.append((f"has bounds that depend on '{other}'", "use parameters as bounds"))
        if level.kind == "group" and _of_the_group(loop):
            problems.append(("holds a copy that the whole group makes", "map before staging"))
        if level.kind == "group" and not any(x.level and x.level.kind == "grid" for x in around):
            problems.append(("is not inside a loop mapped to groups", "map the groups first"))
        if level.kind == "group" and fixed_trips(loop) is None:
            problems.append(("has no fixed trip count", f"stripmine {loop.var} first"))
        return [
            Obstacle("LX151", f"the loop over '{loop.var}' {what}", loop.origin.loc, remedy=remedy)
            for what, remedy in problems
        ]

    def rewrite(self, fn: Function) -> Function:
        def mapped(loop: For) -> For:
            return replace(loop, level=LEVELS[self.level], origin=loop.origin.then(str(self)))

        return rewrite_loops(fn, self.loop, mapped)

    def reason(self, fn: Function) -> str:
        sites = some_loops(fn, self.loop)
        assert not isinstance(sites, Obstacle)
        if any(s.loop.chained for s in sites):
            return "what a chunk begins with, it finds by looking back"
        return "the iterations of a forall may run at the same time"


def _of_the_host(around: tuple[For, ...]) -> tuple[tuple[For, ...], tuple[For, ...]]:
    """The sequential loops outside of all others, which the host runs, and the others."""
    count = 0
    while count < len(around) and not (around[count].parallel or around[count].level):
        count += 1
    return around[:count], around[count:]


def _of_the_group(loop: For) -> bool:
    """Whether a body has copies or storage of the whole group."""
    return any(
        (isinstance(s, Copy) and s.collective) or (isinstance(s, Decl) and s.space is Space.LOCAL)
        for _, s in walk(loop.body)
    )
