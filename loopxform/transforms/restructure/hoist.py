"""Hoisting: forall i: { T x; x = e; S } -> T x; x = e; forall i: S.

Loop-invariant statements move in front of the loop: those at the top level of its body that write
only storage the body declares, which nothing else in the body writes, and read nothing that the
rest of the body changes. Legal where the loop is sure to have an iteration (what they read is then
read in any case) or nothing that they compute can fail. What the iterations of a forall over the
work-items of a group have in common becomes one value of the group: an index that says which part
of an array all of them need. (Henriksen, section on automatic loop tiling.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Call, Decl, For, Function, If, Load, Stmt
from loopxform.ir.visit import (
    reads,
    replace_at,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import ascending, one_loop, trusted, unmapped


@record
class Hoist(Step):
    """Moves the statements of the body of `loop` that do not vary with it in front of it; where
    `names` are given, only those that set these."""

    loop: str
    names: tuple[str, ...] = ()

    verb: ClassVar[str] = "hoist"
    usage: ClassVar[str] = "hoist LOOP [NAME,NAME,...]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        invariant, _ = self._split(site.loop)
        if not any(isinstance(s, Assign | For | If) for s in invariant):
            text = f"nothing in the body of '{site.loop.var}' is the same in every iteration"
            return (Obstacle("LX183", text, where, remedy="there is nothing to hoist"),)
        runs = always(fn, site.path, Bin("<", site.loop.lo, site.loop.hi))
        if not runs and not all(_total(s) for s in invariant):
            text = f"the loop over '{site.loop.var}' may have no iteration: what is read or divided"
            return (
                Obstacle(
                    "LX184",
                    f"{text} in its body may not be where it has none",
                    where,
                    remedy="stripmine it and hoist out of the loop over a tile",
                ),
            )
        return (*ascending(site), *unmapped(site, "hoist"))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        invariant, rest = self._split(site.loop)
        loop = replace(site.loop, body=rest, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, (*invariant, loop))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        same = sorted(writes(self._split(site.loop)[0]))
        return f"{', '.join(same)}: the same in every iteration of {site.loop.var}"

    def _split(self, loop: For) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """The invariant statements with the declarations of what they set, and the rest."""
        own = {s.name for s in loop.body if isinstance(s, Decl)}
        chosen = [n for n, s in enumerate(loop.body) if self._wanted(s)]
        while True:
            rest = tuple(s for n, s in enumerate(loop.body) if n not in chosen)
            changing = writes(rest) | {loop.var}
            kept = [n for n in chosen if _invariant(loop.body[n], own, changing)]
            if len(kept) == len(chosen):
                break
            chosen = kept
        made = writes(tuple(loop.body[n] for n in chosen))
        decls = [n for n, s in enumerate(loop.body) if isinstance(s, Decl) and s.name in made]
        moved = tuple(loop.body[n] for n in (*decls, *chosen))
        left = tuple(s for n, s in enumerate(loop.body) if n not in {*decls, *chosen})
        return moved, left

    def _wanted(self, s: Stmt) -> bool:
        return not isinstance(s, Decl) and (not self.names or writes((s,)) <= set(self.names))


def _invariant(s: Stmt, own: set[str], changing: frozenset[str] | set[str]) -> bool:
    declared = {x.name for _, x in walk((s,)) if isinstance(x, Decl)}
    return (
        isinstance(s, Assign | If | For)
        and writes((s,)) <= own | declared
        and not reads((s,)) & changing
        and not writes((s,)) & changing
        and not any(isinstance(x, For) and (x.live_out or x.parallel) for _, x in walk((s,)))
    )


def _total(s: Stmt) -> bool:
    """Computing it cannot fail: it reads no array, calls nothing and divides by numbers."""
    for _, x in walk((s,)):
        for e in (y for root in stmt_exprs(x) for y in walk_expr(root)):
            if isinstance(e, Load | Call):
                return False
            if isinstance(e, Bin) and e.op in ("/", "%") and not value_of(e.right):
                return False
    return True
