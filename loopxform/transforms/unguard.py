"""Redundant computation instead of guards: if (ii+i < M && jj+j < N) acc[i, j] += e(ii+i, jj+j)
   -> acc[i, j] += e(min(ii+i, M-1), min(jj+j, N-1)).

Iterations past the edge repeat the last one inside it, on elements of their own that nobody reads.
Legal where all statements that write the storage stand under one guard, every other read of it
stands under that guard too, each element belongs to one iteration, and what the statements read is
either unchanged by the clamping or a staged copy that is itself clamped. No padding value is ever
computed with: each value is one that some iteration of the program computes. (In place of the
padding of seed 000, sections 4.2.1 and 7.3.2; serves every operator, division included.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Load, Var
from loopxform.ir.visit import Path, at, declared, enclosing, loads, names, replace_at, walk
from loopxform.transforms.base import Step
from loopxform.transforms.bounds import iteration_number, least, operands
from loopxform.transforms.clamping import Guard, clamped, parse_guard


@dataclass(frozen=True)
class Unguard(Step):
    """Drops the bounds check around every statement that writes the expanded storage `name`."""

    name: str

    verb: ClassVar[str] = "unguard"
    usage: ClassVar[str] = "unguard NAME"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        decl = declared(fn.body).get(self.name)
        if decl is None or not decl.shape:
            return (self._no(fn, "is not expanded storage", f"expand {self.name} first"),)
        sites = _writers(fn, self.name)
        guards = {_key(s.guard) for s in sites if s.guard is not None}
        if len(guards) != 1 or any(s.guard is None for s in sites):
            why = "is not written under one bounds check"
            return (self._no(fn, why, "normalise its loops with the check innermost"),)
        problem = self._readers(fn, sites) or self._elements(fn, decl, sites)
        return (problem,) if problem else self._values(fn, sites)

    def _readers(self, fn: Function, sites: list[_Site]) -> Obstacle | None:
        """Other reads must stand under the guard."""
        guard = sites[0].guard
        assert guard is not None
        own = {s.path for s in sites}
        for path, s in walk(fn.body):
            if path in own or not isinstance(s, Assign):
                continue
            if any(x.array == self.name for x in loads(s.value)):
                above = [x for x in enclosing(fn, path) if isinstance(x, If)]
                held = {c for x in above for c in _key(parse_guard(x.cond))}
                if not _key(guard) <= held:
                    return self._no(fn, f"is read at {s.origin.loc} without its guard", None)
        return None

    def _elements(self, fn: Function, decl: Decl, sites: list[_Site]) -> Obstacle | None:
        """Each iteration of the guarded loops has its own element, inside the declared shape."""
        for site in sites:
            assert site.guard is not None
            parents = enclosing(fn, site.path)
            around = [x for x in parents if isinstance(x, For)]
            target = site.stmt.target
            assert isinstance(target, Load)
            own = {poly(i) for i in target.index}
            used = {n for c in site.guard for n in names(c.index)}
            outside = {x.var for x in around[: _depth_of(fn, self.name)]}
            for loop in around:
                if loop.var in used - outside and poly(iteration_number(loop)) not in own:
                    return self._no(fn, f"has no element per iteration of '{loop.var}'", None)
            freed, path = _freed(fn, site)
            for index, size in zip(target.index, decl.shape):
                inside = Bin("&&", Bin(">=", index, Const(0)), Bin("<", index, size))
                if not always(freed, path, inside):
                    return self._no(fn, "may be indexed past its end", None)
        return None

    def _values(self, fn: Function, sites: list[_Site]) -> tuple[Obstacle, ...]:
        out = []
        for site in sites:
            assert site.guard is not None
            value = clamped(fn, site.path, site.stmt, site.guard)
            if isinstance(value, str) and not _sets(site.stmt, self.name):
                out.append(self._no(fn, value, "leave the bounds check in place"))
        return tuple(out)

    def _no(self, fn: Function, what: str, remedy: str | None) -> Obstacle:
        decl = declared(fn.body).get(self.name)
        loc = decl.origin.loc if decl else fn.origin.loc
        return Obstacle("LX170", f"'{self.name}' {what}", loc, remedy=remedy)

    def rewrite(self, fn: Function) -> Function:
        for path in reversed([s.path for s in _writers(fn, self.name)]):
            site = next(s for s in _writers(fn, self.name) if s.path == path)
            assert site.guard is not None
            value = clamped(fn, path, site.stmt, site.guard)
            guard_path = path[:-1]
            guard = at(fn, guard_path)
            assert isinstance(guard, If)
            new: Assign | If
            if isinstance(value, str):
                zero = replace(site.stmt, value=Const(0), op="")
                new = replace(guard, orelse=(zero,))
            else:
                new = replace(site.stmt, value=value, origin=site.stmt.origin.then(str(self)))
            freed, _ = _freed(fn, site)
            fn = replace_at(freed, guard_path, (new,))
        return fn

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "iterations past the edge repeat the last valid one on elements nobody reads"


@dataclass(frozen=True)
class _Site:
    path: Path
    stmt: Assign
    guard: tuple[Guard, ...] | None


def _writers(fn: Function, name: str) -> list[_Site]:
    """Statements that write `name`, with the bounds check that holds each of them alone."""
    out = []
    for path, s in walk(fn.body):
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == name:
            parent = at(fn, path[:-1]) if len(path) > 1 else None
            alone = isinstance(parent, If) and len(parent.then) == 1 and not parent.orelse
            guard = parse_guard(parent.cond) if alone and isinstance(parent, If) else None
            out.append(_Site(path, s, guard or None))
    return out


def _key(guard: tuple[Guard, ...] | None) -> frozenset[object]:
    return frozenset((poly(c.index), poly(c.limit)) for c in guard or ())


def _sets(stmt: Assign, name: str) -> bool:
    """A plain assignment that does not read `name`: may get a default instead of a clamp."""
    return not stmt.op and name not in {x.array for x in loads(stmt.value)}


def _depth_of(fn: Function, name: str) -> int:
    """How many loops stand around the declaration of `name`."""
    path = next(p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name)
    return sum(isinstance(x, For) for x in enclosing(fn, path)[:-1])


def _freed(fn: Function, site: _Site) -> tuple[Function, Path]:
    """`fn` with the bounds of the loops around the statement relaxed where its guard implies them,
    and the path of the guard (at which the guard itself is not assumed)."""
    assert site.guard is not None
    guard_path = site.path[:-1]
    for n in range(len(guard_path)):
        path = guard_path[: n + 1]
        loop = at(fn, path)
        if not isinstance(loop, For) or len(operands(loop.hi)) < 2:
            continue
        for cut in operands(loop.hi):
            kept = [o for o in operands(loop.hi) if o is not cut]
            relaxed = replace_at(fn, path, (replace(loop, hi=least(kept)),))
            bound: Expr = Bin("<", Var(loop.var), cut)
            limits = {poly(c.limit) for c in site.guard}
            if poly(cut) in limits and always(relaxed, site.path, bound):
                fn = relaxed
                break
    return fn, guard_path
