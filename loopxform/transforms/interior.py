"""Edge versions: forall iii: forall jjj: S -> forall iii: forall jjj: if (iii + Ty*Ry <= M && jjj +
Tx*Rx <= N) S' else S, where S' is S without what only groups at the edge of the grid need.

    forall (iii = 0; iii < M; iii += Ty*Ry)  ! group y
      if (iii + Ty*Ry <= M)
        A_loc = A[iii : iii + Ty*Ry, ...]                        not clamped
        forall (ii = iii; ii < iii + Ty*Ry; ii += Ry) ...        not cut short, without checks
      else
        ...                                                      as it was

The condition speaks of the group alone: all its work-items take the same branch, so barriers may
stand inside. Legal where the body does not change what the condition reads: both versions are the
same statements, and every check that the first one lacks is proven to hold there. (Seed 000,
section 7.3.3.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Expr, For, Function, If, Stmt, Var
from loopxform.ir.visit import LoopSite, at, enclosing, loads, names, replace_at, walk, writes
from loopxform.transforms.base import Step, one_loop, trusted
from loopxform.transforms.bounds import conjunction, operands
from loopxform.transforms.cuts import drop_cuts
from loopxform.transforms.guards import drop_proven


@dataclass(frozen=True)
class Interior(Step):
    """Gives the body of the innermost loop over groups a version for the groups inside the grid."""

    loop: str

    verb: ClassVar[str] = "interior"
    usage: ClassVar[str] = "interior LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        loop = site.loop
        if not _is_grid(loop) or any(_is_grid(s) for _, s in walk(loop.body)):
            return (
                Obstacle(
                    "LX172",
                    f"the loop over '{loop.var}' is not the innermost one over groups",
                    loop.origin.loc,
                    remedy="map the loops first, and name the innermost one mapped to groups",
                ),
            )
        if not _conditions(fn, site):
            return (
                Obstacle(
                    "LX173",
                    f"a version of the loop over '{loop.var}' for groups inside the grid would be "
                    "the same",
                    loop.origin.loc,
                    remedy="there is nothing to gain: no check is for groups at the edge alone",
                ),
            )
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found, origin = _conditions(fn, site), site.loop.origin.then(str(self))
        inside = _version(fn, site, found)
        both = If(conjunction(found), inside, site.loop.body, origin=origin)
        return replace_at(fn, site.path, (replace(site.loop, body=(both,)),))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        groups = " and ".join(x.var for x in _grid(fn, site) if _parts(fn, site, x))
        return f"the same statements: a group whose tile is whole in {groups} needs no checks of it"


def _is_grid(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _grid(fn: Function, site: LoopSite) -> list[For]:
    return [s for s in enclosing(fn, site.path) if isinstance(s, For) and _is_grid(s)]


def _conditions(fn: Function, site: LoopSite) -> list[Expr]:
    """That the tile of a group ends inside the grid, for each loop over groups where that makes a
    check superfluous."""
    return [c for loop in _grid(fn, site) for c in _parts(fn, site, loop)]


def _parts(fn: Function, site: LoopSite, loop: For) -> list[Expr]:
    if (value_of(loop.step) or 0) < 1:
        return []
    last = simplify(Bin("+", Var(loop.var), loop.step))
    tests: list[Expr] = [Bin("<=", last, end) for end in operands(loop.hi)]
    return [c for c in tests if _helps(fn, site, c)]


def _helps(fn: Function, site: LoopSite, c: Expr) -> bool:
    """Whether a check goes under the condition, which not every group meets."""
    changed = names(c) & writes(site.loop.body) or any(loads(c))
    if changed or always(fn, (*site.path, 0), c):
        return False
    return _version(fn, site, [c]) != site.loop.body


def _version(fn: Function, site: LoopSite, holds: list[Expr]) -> tuple[Stmt, ...]:
    """The body without what is superfluous under the conditions."""
    under = If(conjunction(holds), site.loop.body)
    fn = replace_at(fn, site.path, (replace(site.loop, body=(under,)),))
    path = (*site.path, 0)
    made = at(drop_cuts(drop_proven(fn, path), path), path)
    assert isinstance(made, If)
    return made.then
