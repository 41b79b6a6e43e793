"""Fusion: for i: A(i); for j: B(j) -> for i: { A(i); B(i) }.

Legal where the loops are neighbours in one body, provably run through the same values, and no
dependence leads from an iteration of the first to an earlier iteration of the second: fusion would
reverse it. Two foralls stay one where no dependence between the two bodies is carried by the fused
loop. (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", section 6.2.5.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.fusion import across, fuse_obstacles, fused, next_loop, next_statement
from loopxform.analysis.legality import loop_at
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function, Opaque
from loopxform.ir.visit import LoopSite, after, replace_at, resolve
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, unmapped


@record
class Fuse(Step):
    """Makes one loop of two. `fuse i` takes the loop over i that has a loop directly after it, and
    that loop; `second` says which loop that must be."""

    first: str
    second: str = ""

    verb: ClassVar[str] = "fuse"
    usage: ClassVar[str] = "fuse LOOP [NEXT-LOOP]   (default: the loop directly after it)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = self._site(fn)
        if isinstance(site, Obstacle):
            return (site,)
        second = next_loop(fn, site.path)
        both = (site, LoopSite(after(site.path), second)) if second else (site,)
        structure = tuple(o for s in both for o in unmapped(s, "fuse"))
        return structure or fuse_obstacles(fn, site.path)

    def rewrite(self, fn: Function) -> Function:
        site = self._site(fn)
        assert isinstance(site, LoopSite)
        made = fused(fn, site.path)
        parallel = self._both_parallel(fn, site) and not across(fn, site.path)
        loop = replace(
            loop_at(made, site.path), parallel=parallel, origin=site.loop.origin.then(str(self))
        )
        return replace_at(made, site.path, (loop,))

    def reason(self, fn: Function) -> str:
        site = self._site(fn)
        assert isinstance(site, LoopSite)
        text = "the same iterations, and no dependence leads to an earlier one"
        if self._both_parallel(fn, site):
            stays = not across(fn, site.path)
            text += "; " + ("none to a later one either" if stays else "one to a later one: a for")
        return text

    def _both_parallel(self, fn: Function, site: LoopSite) -> bool:
        second = next_loop(fn, site.path)
        return second is not None and site.loop.parallel and second.parallel

    def _site(self, fn: Function) -> LoopSite | Obstacle:
        """The first loop: among those of its name, the one directly before `second`."""
        refs = (self.first, self.second) if self.second else (self.first,)
        for ref in refs:
            if not resolve(fn, ref):
                unknown = one_loop(fn, ref)
                assert isinstance(unknown, Obstacle)
                return unknown
        found = resolve(fn, self.first)
        seconds = {s.path for s in resolve(fn, self.second)}
        pairs = [
            s
            for s in found
            if next_loop(fn, s.path) and (not self.second or after(s.path) in seconds)
        ]
        if len(pairs) == 1:
            return pairs[0]
        return self._several(fn, pairs) if pairs else self._apart(fn, found)

    def _several(self, fn: Function, pairs: list[LoopSite]) -> Obstacle:
        var = pairs[0].loop.var
        every = [s.path for s in resolve(fn, var)]
        choices = ", ".join(f"{var}#{every.index(s.path) + 1}" for s in pairs)
        text = f"{len(pairs)} loops over '{var}' have a loop directly after them"
        return Obstacle("LX022", text, pairs[1].loop.origin.loc, remedy=f"say which one: {choices}")

    def _apart(self, fn: Function, found: tuple[LoopSite, ...]) -> Obstacle:
        """No such neighbours: say what follows the first loop."""
        site, place = found[0], found[0].loop.origin.loc
        behind = next_statement(fn, site.path)
        if isinstance(behind, Opaque) and len(found) == 1:
            remedy = behind.help or None
            return Obstacle("LX103", behind.reason, behind.origin.loc, remedy=remedy)
        if not self.second:
            text = f"no loop stands directly after the loop over '{site.loop.var}'"
            remedy = "move what stands between the loops before or after both"
            return Obstacle("LX113", text, place, remedy=remedy)
        text = f"'{self.second}' does not stand directly after '{self.first}'"
        reversed_pair = {after(s.path) for s in resolve(fn, self.second)}
        if any(s.path in reversed_pair for s in found):
            remedy = f"name the first loop first: fuse {self.second} {self.first}"
            return Obstacle("LX113", text, place, remedy=remedy)
        other = next_loop(fn, site.path) if len(found) == 1 else None
        if other is not None:
            text += f": that is the loop over '{other.var}'"
        remedy = "move what stands between the loops before or after both"
        return Obstacle("LX113", text, place, remedy=remedy)
