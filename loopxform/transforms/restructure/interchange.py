"""Interchange: for i: for j: S -> for j: for i: S.

Legal where no direction vector of the nest becomes lexicographically negative: no dependence has
`<` for i and `>` for j with only `=` further out. A forall moves inwards always: it carries
nothing. A forall that moves outwards stays one where no dependence that the outer loop carried
has anything but `=` for it. Where the bounds of j depend on i, both loops get new ones
(`analysis.exchange`): the steps must be 1 or -1, and the bounds affine. (Cholewa-Madsen and Holst,
steps 2 and 4, listings 4 and 7.)

    for i in [0, n): for j in [0, i]: S  ->  for j in [0, n): for i in [j, n): S
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.exchange import depends, exchanged
from loopxform.analysis.legality import interchange_obstacles, loop_at, stays_parallel
from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, replace_at, resolve
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, unmapped


@record
class Interchange(Step):
    """Swaps a loop with the loop directly and perfectly nested in it."""

    outer: str
    inner: str

    verb: ClassVar[str] = "interchange"
    usage: ClassVar[str] = "interchange OUTER INNER"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = self._site(fn)
        if isinstance(site, Obstacle):
            return (site,)
        inner = (*site.path, 0)
        mapped = (site, LoopSite(inner, loop_at(fn, inner)))
        structure = tuple(o for s in mapped for o in unmapped(s, "interchange"))
        return structure or interchange_obstacles(fn, site.path)

    def rewrite(self, fn: Function) -> Function:
        site = self._site(fn)
        assert isinstance(site, LoopSite)
        outer, inner = _swapped(fn, site)
        inner = replace(inner, origin=inner.origin.then(str(self)))
        parallel = outer.parallel and stays_parallel(fn, site.path)
        origin = outer.origin.then(str(self))
        outer = replace(outer, body=(inner,), parallel=parallel, origin=origin)
        return replace_at(fn, site.path, (outer,))

    def reason(self, fn: Function) -> str:
        site = self._site(fn)
        assert isinstance(site, LoopSite)
        if site.loop.parallel:
            return f"{site.loop.var} is parallel: it moves inwards in a perfect nest"
        return f"no direction vector has '<' for {self.outer} and '>' for {self.inner}"

    def _site(self, fn: Function) -> LoopSite | Obstacle:
        """The outer loop: among those of its name, the one that directly holds `inner`."""
        for ref in (self.outer, self.inner):
            if not resolve(fn, ref):
                unknown = one_loop(fn, ref)
                assert isinstance(unknown, Obstacle)
                return unknown
        inner = {s.path for s in resolve(fn, self.inner)}
        found = resolve(fn, self.outer)
        nested = [s for s in found if (*s.path, 0) in inner]
        if len(nested) == 1:
            return nested[0]
        if not nested and (inside := self._reversed(found, resolve(fn, self.inner))):
            return inside
        if not nested and len(found) == 1:
            return self._apart(found[0])
        return one_loop(fn, self.outer) if len(found) > 1 else found[0]

    def _reversed(
        self, found: tuple[LoopSite, ...], around: tuple[LoopSite, ...]
    ) -> Obstacle | None:
        """Says so where the loops are nested the other way round."""
        for site in found:
            for other in around:
                if site.path[: len(other.path)] == other.path and site.path != other.path:
                    return Obstacle(
                        "LX110",
                        f"the loop over '{self.outer}' is inside the loop over '{self.inner}'",
                        site.loop.origin.loc,
                        remedy=f"name the outer loop first: interchange {self.inner} {self.outer}",
                    )
        return None

    def _apart(self, site: LoopSite) -> LoopSite | Obstacle:
        """The loops are not parent and child: say what stands between them."""
        body = site.loop.body
        if len(body) == 1 and isinstance(body[0], For):
            held = f"directly inside it is the loop over '{body[0].var}'"
            remedy = f"interchange {self.outer} {body[0].var} first"
        else:
            held = f"its body has {len(body)} statements"
            remedy = f"distribute {self.outer} first"
        return Obstacle(
            "LX110",
            f"'{self.inner}' is not perfectly nested in '{self.outer}': {held}",
            site.loop.origin.loc,
            remedy=remedy,
        )


def _swapped(fn: Function, site: LoopSite) -> tuple[For, For]:
    """The new outer loop, with its old body, and the new inner one."""
    outer, inner = site.loop, site.loop.body[0]
    assert isinstance(inner, For)
    if not depends(inner, outer.var):
        return inner, replace(outer, body=inner.body)
    new_outer = exchanged(fn, site.path)
    new_inner = new_outer.body[0]
    assert isinstance(new_inner, For)
    return new_outer, new_inner
