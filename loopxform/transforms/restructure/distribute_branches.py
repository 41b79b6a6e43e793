"""Distributing branches: for i: if (c) A else B -> for i: if (c) A; for i: if (!c) B.

One iteration runs only one of the branches, so nothing within an iteration leads from one to the
other. The loop of B comes first where dependences lead from B to A in later iterations:

    for i: if (x[i] < 0) c[i + 1] = a[i]; else a[i] = c[i];
      ->  for i: if (x[i] < 0) c[i + 1] = a[i];
          for i: if (!(x[i] < 0)) a[i] = c[i];

Legal where nothing in the branches changes what the condition reads, and no dependence that the
loop carries leads from the branch that is to run last to the one that is to run first. (Allen and
Kennedy, "Optimizing Compilers for Modern Architectures", sections 2.4.4 and 7.2.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import dependences
from loopxform.analysis.legality import describe, opaque_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function, If, Un
from loopxform.ir.visit import LoopSite, names, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped, whole_loop


@record
class DistributeBranches(Step):
    """Gives each of the two branches that fill the body of `loop` a loop of its own."""

    loop: str

    verb: ClassVar[str] = "distribute-branches"
    usage: ClassVar[str] = "distribute-branches LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*whole_loop(site), *unmapped(site, "distribute"))
        if structure:
            return structure
        loop, where = site.loop, site.loop.origin.loc
        found = _branches(loop)
        if found is None:
            text = f"the body of '{loop.var}' is not one condition with else"
            return (Obstacle("LX274", text, where, remedy="there are no branches to distribute"),)
        header = names(loop.lo) | names(loop.hi) | names(loop.step)
        changed = (names(found.cond) | header) & writes(loop.body)
        if changed:
            text = f"'{min(changed)}', which the condition or the loop reads, changes in a branch"
            remedy = "copy it into another variable before"
            return (Obstacle("LX274", text, found.origin.loc or where, remedy=remedy),)
        return opaque_obstacles(fn, site.path) or _cycle(fn, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        s = _branches(site.loop)
        assert s is not None
        match s.cond:
            case Un("!", operand):
                otherwise = operand
            case cond:
                otherwise = Un("!", cond, origin=cond.origin)
        parts = (replace(s, orelse=()), replace(s, cond=otherwise, then=s.orelse, orelse=()))
        if _leading(fn, site)[1]:
            parts = parts[::-1]
        origin = site.loop.origin.then(str(self))
        made = tuple(replace(site.loop, body=(part,), origin=origin) for part in parts)
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:
        later = bool(_leading(fn, trusted(one_loop(fn, self.loop)))[1])
        first, last = ("second", "first") if later else ("first", "second")
        return f"no dependence leads from the {last} branch to the {first} in a later iteration"


def _branches(loop: For) -> If | None:
    """The condition with two branches that is all of a body."""
    match loop.body:
        case (If(_, then, orelse) as s,) if then and orelse:
            return s
        case _:
            return None


def _leading(fn: Function, site: LoopSite) -> tuple[list[Dependence], list[Dependence]]:
    """The dependences that the loop carries from the first branch to the second, and back."""
    depth = len(site.path) + 1
    found: tuple[list[Dependence], list[Dependence]] = ([], [])
    for d in [] if site.loop.parallel else dependences(fn, site.path, counters=True):
        ends = [x.path[depth : depth + 1] for x in (d.source, d.sink)]
        if d.carrier != site.path or not all(ends):
            continue
        source, sink = (n < 0 for (n,) in ends)
        if source != sink:
            found[int(source)].append(d)
    return found


def _cycle(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """A dependence each way: then neither loop can be the first."""
    onwards, back = _leading(fn, site)
    if not (onwards and back):
        return ()
    d, other = worst(onwards)[0], worst(back)[0]
    text = f"{describe(d)} and the {other.kind} dependence of {other.array} back make a cycle"
    remedy = "keep the branches in one loop"
    return (Obstacle("LX274", text, d.sink.loc or site.loop.origin.loc, d.witness, remedy),)
