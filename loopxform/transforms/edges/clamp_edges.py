"""Clamped edges: if (ii+i < M && jj+j < N) acc[i, j] += e(ii+i, jj+j)
   -> acc[i, j] += e(min(ii+i, M-1), min(jj+j, N-1)).

Redundant computation instead of guards: iterations past the edge repeat the last one inside it, on
elements of their own that nobody reads. Legal for statements that write the storage under one guard
(a condition, or the bound that cuts a loop short) and write nothing that is shared, where every
other read of it stands under that guard too, each element belongs to one iteration, and what the
statements read is either unchanged by the clamping or a staged copy that is itself clamped. No
padding value is ever computed with: each value is one that some iteration of the program computes.
Statements of which that cannot be shown keep the guard. (In place of the padding of Cholewa-Madsen
and Holst, sections 4.2.1 and 7.3.2; serves every operator, division included.)"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Slice,
    Stmt,
    Var,
)
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    loads,
    loops_around,
    names,
    replace_at,
    stmt_exprs,
    walk,
    walk_expr,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, least, operands
from loopxform.transforms.edges.clamping import clamp_body
from loopxform.transforms.edges.guarded import (
    Site,
    cuts,
    everywhere,
    first_sites,
    held,
    inner_loops,
    or_zero,
    settings,
    sites_of,
)

_asked: list[tuple[Function, ClampEdges, tuple[list[Site], Obstacle | None]]] = []
"""The last program that was checked, and what was found."""


@record
class ClampEdges(Step):
    """Drops the bounds check around the statements that write the expanded storage `names`, where
    that is legal."""

    names: tuple[str, ...]

    verb: ClassVar[str] = "clamp-edges"
    former: ClassVar[tuple[str, ...]] = ("unguard",)
    usage: ClassVar[str] = "clamp-edges NAME,NAME,..."

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        for name in self.names:
            decl = declared(fn.body).get(name)
            if decl is None or not decl.shape:
                return (self._no(fn, f"'{name}' is not expanded storage", f"expand {name} first"),)
        sites = sites_of(fn, self.names)
        if not any(s.key for s in sites):
            return (self._no(fn, "the writes do not stand under a bounds check", None),)
        free, problem = self._found(fn)
        return () if free or problem is None else (problem,)

    def _found(self, fn: Function) -> tuple[list[Site], Obstacle | None]:
        """The sites that can do without the check; what was found is kept for the rewriting."""
        if not (_asked and _asked[0][0] is fn and _asked[0][1] == self):
            _asked[:] = [(fn, self, self._free(fn))]
        return _asked[0][2]

    def _free(self, fn: Function) -> tuple[list[Site], Obstacle | None]:
        """All sites, where they share one check that none needs; else those that only set the
        storage to numbers, and why the others must keep theirs."""
        sites = everywhere(fn, sites_of(fn, self.names), self.names)
        problem = None
        if len({s.key for s in sites}) != 1:
            problem = self._no(fn, "the writes do not stand under one bounds check", None)
        problem = problem or self._readers(fn, sites)
        if problem is None:
            free, problem = self._together(fn, sites)
            if free:
                return free, problem
        plain = (s for s in sites if s.key and _sets_numbers(s.body))
        return [s for s in plain if self._stays(fn, s, [s]) is None], problem

    def _together(self, fn: Function, sites: list[Site]) -> tuple[list[Site], Obstacle | None]:
        """The sites that can do without the check while the others keep it, and why those must:
        none where storage would be used that was never set."""
        free, problem = sites, None
        while True:
            stay = {s.path: found for s in free if (found := self._stays(fn, s, free))}
            if not stay:
                break
            problem = problem or next(iter(stay.values()))
            free = [s for s in free if s.path not in stay]
        begins = {s.path for s in first_sites(fn, sites, self.names)}
        return (free if begins <= {s.path for s in free} else []), problem

    def _stays(self, fn: Function, site: Site, sites: list[Site]) -> Obstacle | None:
        """Why the bounds check of one site must stay."""
        problem = self._elements(fn, site) or self._values(fn, site)
        return problem or self._bystanders(fn, site, sites)

    def _readers(self, fn: Function, sites: list[Site]) -> Obstacle | None:
        """Reads elsewhere must stand under the guard."""
        for path, s in walk(fn.body):
            if not isinstance(s, Assign) or any(path[: len(x.path)] == x.path for x in sites):
                continue
            if any(x.array in self.names for x in loads(s.value)):
                around = held(fn, path)
                if not sites[0].key <= around:
                    return self._no(fn, f"read at {s.origin.loc} without the bounds check", None)
        return None

    def _elements(self, fn: Function, site: Site) -> Obstacle | None:
        """Each iteration of the guarded loops has its own element, inside the declared shape."""
        inside = {x.var for x in inner_loops(fn, site.path, self.names)}
        for var in {n for g in site.guard for n in names(g.index)} & inside:
            if var not in site.elements:
                return self._no(fn, f"there is no element per iteration of '{var}'", None)
        free = replace_at(_freed(fn, site), site.path, (If(Const(1), site.body),))
        for path, s in walk(free.body):
            target = s.target if isinstance(s, Assign) else None
            if not isinstance(target, Load) or target.array not in self.names:
                continue
            if path[: len(site.path)] != site.path:
                continue
            for index, size in zip(target.index, declared(fn.body)[target.array].shape):
                fits = Bin("&&", Bin(">=", index, Const(0)), Bin("<", index, size))
                if not always(free, path, fits):
                    return self._no(fn, f"'{target.array}' may be indexed past its end", None)
        return None

    def _bystanders(self, fn: Function, site: Site, sites: list[Site]) -> Obstacle | None:
        """Whatever else stands in the loops that are no longer cut short runs past the edge too:
        it must have the bounds check itself, or only fill registers from the staged copy."""
        freed = _freed(fn, site)
        loops = [site.path[:n] for n in range(1, len(site.path))]
        grown = [p for p in loops if _header(freed, p) != _header(fn, p)]
        edge = {s.var for s in (at(fn, p) for p in grown) if isinstance(s, For)}
        for path, s in walk(fn.body):
            if not grown or path[: len(grown[0])] != grown[0] or path == grown[0]:
                continue
            if any(path[: len(x.path)] == x.path for x in sites) or site.key <= held(freed, path):
                continue
            if not _harmless(freed, path, s, edge):
                return self._no(fn, f"the statement at {s.origin.loc} needs it", None)
        return None

    def _values(self, fn: Function, site: Site) -> Obstacle | None:
        value = self._clamped(fn, site)
        if isinstance(value, str) and not settings(site.body, self.names):
            return self._no(fn, value, "leave the bounds check in place")
        return None

    def _clamped(self, fn: Function, site: Site) -> tuple[Stmt, ...] | str:
        around = loops_around(fn, site.path)
        return clamp_body(fn, site.body, site.guard, self.names, around)

    def _no(self, fn: Function, what: str, remedy: str | None) -> Obstacle:
        decl = declared(fn.body).get(self.names[0])
        loc = decl.origin.loc if decl else fn.origin.loc
        return Obstacle("LX170", f"the bounds check must stay: {what}", loc, remedy=remedy)

    def rewrite(self, fn: Function) -> Function:
        before = fn
        for site in reversed(self._found(before)[0]):
            body = self._clamped(before, site)
            if isinstance(body, str):
                inside = conjunction([Bin("<", g.index, g.limit) for g in site.guard])
                body = (or_zero(inside, site.body, self.names),)
            fn = replace_at(_freed(fn, site), site.path, body)
        return fn

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "iterations past the edge repeat the last valid one on elements nobody reads"


def _sets_numbers(body: tuple[Stmt, ...]) -> bool:
    return all(isinstance(s, Assign) and not s.op and isinstance(s.value, Const) for s in body)


@remembered(64)
def _freed(fn: Function, site: Site) -> Function:
    """`fn` with the loops around the site no longer cut short where the guard implies the cut."""
    for n in range(1, len(site.path)):
        path = site.path[:n]
        loop = at(fn, path)
        if not isinstance(loop, For):
            continue
        for cut in cuts(loop):
            kept = [o for o in operands(loop.hi) if o != cut]
            loop = replace(loop, hi=least(kept))
            relaxed = replace_at(fn, path, (loop,))
            bound = Bin("<", Var(loop.var), cut)
            if _implied(relaxed, site, bound):
                fn = relaxed
            else:
                break
    return fn


def _header(fn: Function, path: Path) -> Expr | None:
    loop = at(fn, path)
    return loop.hi if isinstance(loop, For) else None


def _harmless(fn: Function, path: Path, s: Stmt, edge: set[str]) -> bool:
    """May run past the edge: structure that reads nothing there, a copy proven to be inside."""
    match s:
        case Decl():
            return True
        case For() | If():
            parts = [x for e in stmt_exprs(s) if names(e) & edge for x in walk_expr(e)]
            return not any(
                isinstance(x, Load) or (isinstance(x, Bin) and x.op in "/%") for x in parts
            )
        case Copy(_, source, slices, False):
            own = declared(fn.body).get(source)
            shape = own.shape if own else ()
            return bool(own) and all(_fits(fn, path, x, n) for x, n in zip(slices, shape))
        case _:
            return False


def _fits(fn: Function, path: Path, part: Slice, extent: Expr) -> bool:
    end = Bin("+", part.lo, part.size or Const(1))
    return always(fn, path, Bin("&&", Bin(">=", part.lo, Const(0)), Bin("<=", end, extent)))


def _implied(fn: Function, site: Site, bound: Bin) -> bool:
    if any(g.index == bound.left and poly(g.limit) == poly(bound.right) for g in site.guard):
        return True
    if poly(bound.right) not in {poly(g.limit) for g in site.guard}:
        return False
    return isinstance(at(fn, site.path), If) and always(fn, (*site.path, 0), bound)
