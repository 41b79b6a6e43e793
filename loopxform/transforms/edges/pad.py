"""Neutral padding: for k: if (kk + k < U) acc += A_loc[k] * B_loc[k] -> for k: acc += ..., with
A_loc 0.0 and B_loc -0.0 past U.

The iterations past the end of the last, partial tile run as well, on padding in place of the last
valid elements; so every tile is full, and there is no need of an epilogue. Legal where padding is
found with which these iterations leave every variable as it is, to the last bit
(`analysis.neutral`); where the condition fails exactly where the elements read lie past the end of
the array, and no other read finds padding; and where what else is read is read by the first
iteration of the tile too. (Cholewa-Madsen and Holst, sections 4.2.1 and 7.3.2.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.neutral import Neutral, padding
from loopxform.errors import Obstacle
from loopxform.ir.nodes import (
    Bin,
    Const,
    Copy,
    Expr,
    For,
    Function,
    If,
    Stmt,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    declared,
    enclosing,
    loads,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, conjuncts
from loopxform.transforms.sites import one_loop, trusted


@record
class Pad(Step):
    """Fills the staged tiles of the loop over tiles `loop` with padding that changes nothing, and
    drops the bounds checks inside a tile."""

    loop: str

    verb: ClassVar[str] = "pad"
    usage: ClassVar[str] = "pad LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        found = _plan(fn, site)
        return (found,) if isinstance(found, Obstacle) else ()

    def rewrite(self, fn: Function) -> Function:
        plan = _plan(fn, trusted(one_loop(fn, self.loop)))
        assert isinstance(plan, _Plan)
        pads, chosen = dict(plan.neutral.pads), {c.path for c in plan.checks}
        fn = plan.program
        for path, s in reversed(list(walk(fn.body))):
            if isinstance(s, Copy) and s.target in pads:
                origin, padded = s.origin.then(str(self)), plan.tiles[s.target]
                slices = (
                    replace(x, clamp=False) if n in padded else x for n, x in enumerate(s.slices)
                )
                new = replace(s, slices=tuple(slices), pad=pads[s.target], width=1, origin=origin)
                fn = replace_at(fn, path, (new,))
            elif path in chosen:
                check = at(fn, path)
                assert isinstance(check, If)
                fn = replace_at(fn, path, check.then)
        return fn

    def reason(self, fn: Function) -> str:
        plan = _plan(fn, trusted(one_loop(fn, self.loop)))
        assert isinstance(plan, _Plan)
        ends = " and ".join(dict.fromkeys(expr_text(c.condition.right) for c in plan.checks))
        pads = ", ".join(f"{name} is {expr_text(e)}" for name, e in plan.neutral.pads)
        return f"past {ends} {pads}: {'; '.join(plan.neutral.rules)}"


@record
class _Check:
    """A condition on the loop `var` inside a tile, all that the `if` at `path` asks; `failing` is
    a program in which the statements under it run exactly where it fails."""

    path: Path
    condition: Bin
    var: str
    failing: Function

    def covers(self, path: Path) -> bool:
        return path[: len(self.path)] == self.path


@record
class _Plan:
    """The program with the conditions apart, those that go, the tiles that get padding in which
    dimensions, and the padding."""

    program: Function
    checks: tuple[_Check, ...]
    tiles: dict[str, frozenset[int]]
    neutral: Neutral


@record
class _Read:
    """Where a tile is read: per dimension of the array, the first and the last index."""

    path: Path
    spans: tuple[tuple[Expr, Expr], ...]


_asked: list[tuple[Function, Path, _Plan | Obstacle]] = []
"""The last program that was looked at, and what was found."""


def _plan(fn: Function, site: LoopSite) -> _Plan | Obstacle:
    if not (_asked and _asked[0][0] is fn and _asked[0][1] == site.path):
        _asked[:] = [(fn, site.path, _search(fn, site))]
    return _asked[0][2]


def _search(fn: Function, site: LoopSite) -> _Plan | Obstacle:
    fn = _apart(fn, site)
    loop = site.loop
    filled = [s.target for _, s in walk(fn.body) if isinstance(s, Copy)]
    staged = [s for s in loop.body if isinstance(s, Copy) and s.collective]
    copies = {s.target: s for s in staged if filled.count(s.target) == 1}
    found = [(c, p) for c in _checks(fn, site) if (p := _padded(fn, c, copies))]
    checks = [c for c, _ in found]
    tiles = {n: dims for n in copies if (dims := _everywhere(fn, found, copies[n]))}
    if not tiles:
        return _no(site, "no bounds check inside keeps reads within a staged array")
    if not all(_inside(c) for c in checks):
        return _no(site, "without the bounds check a subscript may leave its array")
    local = (writes(loop.body) | set(declared(loop.body))) - set(copies)
    moving = frozenset(local | {c.var for c in checks})
    types = symbols(fn)
    sources = {name: types[copies[name].source] for name in tiles}
    neutral = padding(fn, [_body(fn, c.path) for c in checks], sources, moving)
    if isinstance(neutral, str):
        return _no(site, neutral)
    return _Plan(fn, tuple(checks), tiles, neutral)


def _no(site: LoopSite, why: str) -> Obstacle:
    return Obstacle(
        "LX171",
        f"the tiles of the loop over '{site.loop.var}' cannot be padded: {why}",
        site.loop.origin.loc,
        remedy=f"keep the bounds check for the last tile only: split {site.loop.var} full-tiles",
    )


# ---------------------------------------------------------------- the conditions


def _apart(fn: Function, site: LoopSite) -> Function:
    """`fn` with `if (kk + k < U && c) S` written as `if (kk + k < U) if (c) S`."""
    for path, s in reversed(list(walk(fn.body))):
        if path[: len(site.path)] == site.path and isinstance(s, If) and not s.orelse:
            for c in conjuncts(s.cond):
                rest = [x for x in conjuncts(s.cond) if x is not c]
                if rest and _candidate(fn, site, path, c) is not None:
                    here = at(fn, path)
                    assert isinstance(here, If)
                    inner = replace(here, cond=conjunction(rest))
                    fn = replace_at(fn, path, (replace(here, cond=c, then=(inner,)),))
                    break
    return fn


def _candidate(fn: Function, site: LoopSite, path: Path, c: Expr) -> str | None:
    """The loop inside the tile that `c`, a condition of the `if` at `path`, bounds. Its first
    iteration meets the condition, and comes to it whenever another iteration does."""
    if not isinstance(c, Bin) or c.op != "<" or site.loop.var not in names(c) or any(loads(c)):
        return None
    around = list(enumerate(enclosing(fn, path)))[len(site.path) : -1]
    moved = [(n, x) for n, x in around if isinstance(x, For) and x.var in names(c)]
    if len(moved) != 1:
        return None
    depth, loop = moved[0]
    first = substitute(c, {loop.var: loop.lo})
    between = [e for n, x in around if n > depth for e in stmt_exprs(x)]
    changing = writes(site.loop.body)
    moves = any(names(e) & (changing | {loop.var}) for e in between)
    if moves or names(c) & changing or not always(fn, path[: depth + 1], first):
        return None
    return loop.var


def _checks(fn: Function, site: LoopSite) -> Iterator[_Check]:
    for path, s in walk(fn.body):
        if path[: len(site.path)] == site.path and isinstance(s, If) and not s.orelse:
            var = _candidate(fn, site, path, s.cond)
            if var is not None:
                assert isinstance(s.cond, Bin)
                fails = replace(s, cond=Bin(">=", s.cond.left, s.cond.right))
                yield _Check(path, s.cond, var, replace_at(fn, path, (fails,)))


def _body(fn: Function, path: Path) -> tuple[Stmt, ...]:
    s = at(fn, path)
    assert isinstance(s, If)
    return s.then


# ---------------------------------------------------------------- the reads


def _padded(fn: Function, check: _Check, copies: dict[str, Copy]) -> dict[str, frozenset[int]]:
    """The dimensions in which every read under the condition is past the end of the array where
    the condition fails, for each copy that is read there at all."""
    out: dict[str, frozenset[int]] = {}
    for name, copy in copies.items():
        found = [r for r in _reads(fn, copy) if check.covers(r.path)]
        out[name] = frozenset(
            n
            for n, x in enumerate(copy.slices)
            if x.limit is not None
            and x.clamp
            and all(always(check.failing, r.path, Bin(">=", r.spans[n][0], x.limit)) for r in found)
        )
        if not found:
            del out[name]
    return out if any(out.values()) else {}


def _everywhere(
    fn: Function, found: list[tuple[_Check, dict[str, frozenset[int]]]], copy: Copy
) -> frozenset[int]:
    """The dimensions in which all reads under a condition that fails find padding, and no others
    do."""
    dims = [padded[copy.target] for _, padded in found if copy.target in padded]
    common = frozenset.intersection(*dims) if dims else frozenset()
    for read in _reads(fn, copy) if common else ():
        for n in common:
            limit = copy.slices[n].limit
            assert limit is not None
            if not always(fn, read.path, Bin("<", read.spans[n][1], limit)):
                return frozenset()
    return common


def _reads(fn: Function, copy: Copy) -> Iterator[_Read]:
    """Every read of the target of a copy, in subscripts of its source."""
    for path, s in walk(fn.body):
        if isinstance(s, Copy) and s.source == copy.target:
            yield _Read(path, _spans(copy, _ends(s)))
        for x in (x for e in stmt_exprs(s) for x in loads(e) if x.array == copy.target):
            yield _Read(path, _spans(copy, [(i, i) for i in x.index]))


def _ends(s: Copy) -> list[tuple[Expr, Expr]]:
    """The first and the last index that a copy reads, per dimension."""
    lasts = (x.lo if x.size is None else _plus(x.lo, x.size, -1) for x in s.slices)
    return [(x.lo, last) for x, last in zip(s.slices, lasts)]


def _plus(a: Expr, b: Expr, n: int = 0) -> Expr:
    return Bin("+", Bin("+", a, b), Const(n)) if n else Bin("+", a, b)


def _spans(copy: Copy, ends: list[tuple[Expr, Expr]]) -> tuple[tuple[Expr, Expr], ...]:
    within = iter(ends)
    sized = [(Const(0), Const(0)) if s.size is None else next(within) for s in copy.slices]
    return tuple((_plus(s.lo, a), _plus(s.lo, b)) for s, (a, b) in zip(copy.slices, sized))


def _inside(check: _Check) -> bool:
    """Whether local storage is subscripted within its shape where the condition fails. (Other
    arrays are read as the first iteration reads them, see `analysis.neutral`.)"""
    fn = check.failing
    storage = declared(fn.body)
    for path, s in walk(fn.body):
        if not check.covers(path) or path == check.path:
            continue
        used = [(x.array, [(i, i) for i in x.index]) for e in stmt_exprs(s) for x in loads(e)]
        if isinstance(s, Copy):
            used.append((s.source, _ends(s)))
        for array, ends in used:
            shape = storage[array].shape if array in storage else ()
            for (first, last), size in zip(ends, shape):
                fits = Bin("&&", Bin(">=", first, Const(0)), Bin("<", last, size))
                if not always(fn, path, fits):
                    return False
    return True
