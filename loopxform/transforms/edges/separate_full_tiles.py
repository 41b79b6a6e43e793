"""Separate full tiles: forall iii: for kk: { A_loc = A[clamped box]; S } -> forall iii: for kk:
{ if (iii + Ty*Ry <= M && kk + Tk <= U) A_loc = A[box]; else A_loc = A[clamped box]; S }.

    forall (iii = 0; iii < M; iii += Ty*Ry)  ! group y
      if (iii + Ty*Ry <= M)
        forall (ii = iii; ii < iii + Ty*Ry; ii += Ry) ...             not cut short, without checks
      else
        forall (ii = iii; ii < min(M, iii + Ty*Ry); ii += Ry) ...     as it was

Groups inside the grid run without the checks that only groups at its edge need, and so do tiles of
a loop that is not mapped but for the last one. The branches are as small as that allows: what needs
no check is there once, and barriers, which stand between copies and computation, stay outside. The
condition speaks of the whole group, all its work-items take the same branch. Of a loop over tiles
that is not mapped, each iteration gets a version for where its tile is whole. Legal where nothing
changes what the condition reads: both versions are the same statements, and every check that the
first one lacks is proven to hold there. (Cholewa-Madsen and Holst, section 7.3.3.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.analysis.context import always, never
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Copy, Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    bodies,
    enclosing,
    loads,
    names,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, operands
from loopxform.transforms.edges.cuts import drop_cuts
from loopxform.transforms.restructure.guards import drop_proven
from loopxform.transforms.sites import one_loop, trusted


@record
class SeparateFullTiles(Step):
    """Gives what is done in the innermost loop over groups, or in a loop that is not mapped, a
    version for whole tiles, where those need fewer checks."""

    loop: str

    verb: ClassVar[str] = "separate-full-tiles"
    former: ClassVar[tuple[str, ...]] = ("interior",)
    usage: ClassVar[str] = "separate-full-tiles LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        loop = site.loop
        if not (_is_grid(loop) or _is_free(loop)) or any(map(_is_grid, _inside(loop))):
            return (
                Obstacle(
                    "LX172",
                    f"the loop over '{loop.var}' is not the innermost one over groups",
                    loop.origin.loc,
                    remedy="map the loops first, and name the innermost one mapped to groups",
                ),
            )
        if not _found(fn, site):
            return (
                Obstacle(
                    "LX173",
                    f"whole tiles need every check in the loop over '{loop.var}'",
                    loop.origin.loc,
                    remedy="there is nothing to gain: no check is for partial tiles alone",
                ),
            )
        return ()

    def rewrite(self, fn: Function) -> Function:
        site, before = trusted(one_loop(fn, self.loop)), fn
        for path, conditions in reversed(_found(before, site)):
            s = at(before, path)
            inside = _version(before, path, conditions)
            origin = s.origin.then(str(self))
            fn = replace_at(fn, path, (If(conjunction(conditions), inside, (s,), origin=origin),))
        return fn

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        used = [x.var for p, found in _found(fn, site) for x in _tiles(fn, p) if _of(x, found)]
        text = ", ".join(dict.fromkeys(used))
        return f"the same statements: checks of {text} hold in tiles that are whole"


def _is_grid(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _is_free(loop: For) -> bool:
    """Whether a loop is not mapped, and holds nothing that a group does together where iterations
    may be those of work-items."""
    return loop.level is None and not (loop.parallel and _copies(loop))


def _inside(loop: For) -> list[Stmt]:
    return [s for _, s in walk(loop.body)]


def _tiles(fn: Function, path: Path) -> list[For]:
    """The loops around a statement, over groups or in step in a group."""
    return [s for s in enclosing(fn, path)[:-1] if isinstance(s, For)]


def _of(loop: For, conditions: list[Expr]) -> bool:
    return any(loop.var in names(c) for c in conditions)


_asked: list[tuple[Function, Path, list[tuple[Path, list[Expr]]]]] = []
"""The last program that was looked at, and what was found."""


def _found(fn: Function, site: LoopSite) -> list[tuple[Path, list[Expr]]]:
    """The statements that get a version, in text order, with the conditions it stands under."""
    if not (_asked and _asked[0][0] is fn and _asked[0][1] == site.path):
        _asked[:] = [(fn, site.path, _search(fn, site))]
    return _asked[0][2]


def _search(fn: Function, site: LoopSite) -> list[tuple[Path, list[Expr]]]:
    out = []
    changed, around = writes(site.loop.body), len(_tiles(fn, site.path))
    for path in _units(fn, site):
        depth = 0 if _is_grid(site.loop) else around
        whole = [c for loop in _tiles(fn, path)[depth:] for c in _whole(fn, path, loop, changed)]
        helpful = [c for c in whole if _version(fn, path, [c]) != (at(fn, path),)]
        if helpful:
            out.append((path, helpful))
    return out


def _whole(fn: Function, path: Path, loop: For, changed: frozenset[str]) -> list[Expr]:
    """That the tile which an iteration of `loop` works on ends inside its range; nothing where
    every tile does, or none."""
    if (value_of(loop.step) or 0) < 1:
        return []
    last = simplify(Bin("+", Var(loop.var), loop.step))
    tests: list[Expr] = [Bin("<=", last, end) for end in operands(loop.hi)]
    fixed = (c for c in tests if not names(c) & changed and not any(loads(c)))
    return [c for c in fixed if not always(fn, path, c) and not never(fn, path, c)]


def _units(fn: Function, site: LoopSite) -> list[Path]:
    """The largest statements that can be in a branch: collective copies, and what holds none."""
    out: list[Path] = []
    for path, s in walk(fn.body):
        inside = path[: len(site.path)] == site.path and path != site.path
        covered = any(path[: len(p)] == p for p in out)
        alone = isinstance(s, Copy) or not _copies(s)
        if inside and not covered and alone and not isinstance(s, Decl):
            out.append(path)
    return out


def _copies(s: Stmt) -> bool:
    """Whether the whole group copies something inside."""
    inner = (x for body in bodies(s) for _, x in walk(body))
    return any(isinstance(x, Copy) and x.collective for x in inner)


def _version(fn: Function, path: Path, holds: list[Expr]) -> tuple[Stmt, ...]:
    """The statement at `path` without what is superfluous under the conditions."""
    fn = replace_at(fn, path, (If(conjunction(holds), (at(fn, path),)),))
    made = at(drop_cuts(drop_proven(fn, path), path), path)
    assert isinstance(made, If)
    return made.then
