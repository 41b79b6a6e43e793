"""Block-cyclic distribution: which elements of a tile a work-item has.

    0 0 0 0 1 1 1 1          0 0 1 1 0 0 1 1
                       ->                         2 work-items of 4 elements, WIDTH = 2

In place of neighbouring ones, each work-item gets WIDTH neighbours, then the next work-item, and so
on until all have some; then the first one again. Work-items that run in lockstep touch neighbouring
elements, in vectors of WIDTH: reads of local memory meet no bank twice, and what is written to
global memory lies together. Legal where the loop over work-items and the loop over the elements of
one are used by their sum alone, apart from the registers of a work-item, so that it does not matter
who has an element; and where nothing past the end is touched by those that have elements there. The
listing keeps the order of the program; the loops are marked. (High Performance Fortran, CYCLIC(n);
Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import Space
from loopxform.ir.visit import (
    LoopSite,
    Path,
    along,
    declared,
    enclosing,
    loads,
    loops,
    map_body,
    map_expr,
    names,
    stmt_exprs,
    substitute,
    walk,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjuncts, fixed_trips, iteration_number
from loopxform.transforms.sites import rewrite_loops, some_loops


@record
class BlockCyclic(Step):
    """Gives the work-items of `loop` the elements of the loops over `item` inside it `width` at a
    time."""

    loop: str
    item: str
    width: str

    verb: ClassVar[str] = "block-cyclic"
    former: ClassVar[tuple[str, ...]] = ("cyclic",)
    usage: ClassVar[str] = "block-cyclic LOOP ITEM WIDTH   (LOOP* for every loop of that name)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        width = int(self.width) if self.width.isascii() and self.width.isdecimal() else 0
        found = (_no(s, self.item, p) for s in sites for p in problems(fn, s, self.item, width))
        first = next(found, None)
        if first is None:
            paths = {s.path for s in sites}
            first = next((_other(o) for s in sites for o in _beside(fn, s, paths)), None)
        return () if first is None else (first,)

    def rewrite(self, fn: Function) -> Function:
        def dealt(loop: For) -> For:
            assert loop.level is not None

            def marked(s: Stmt) -> tuple[Stmt, ...]:
                own = isinstance(s, For) and s.var == self.item and s.level is None
                return (replace(s, dealt=loop.var) if own and isinstance(s, For) else s,)

            level = replace(loop.level, cyclic=int(self.width))
            origin = loop.origin.then(str(self))
            return replace(loop, level=level, body=map_body(loop.body, marked), origin=origin)

        return rewrite_loops(fn, self.loop, dealt)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"only the sum of {self.loop.rstrip('*')} and {self.item} says which element it is"


def stale(fn: Function) -> Iterator[Obstacle]:
    """What later steps made of loops that were dealt out, where that cannot be any more."""
    sites = [s for s in loops(fn) if s.loop.level and s.loop.level.cyclic]
    for s in sites:
        inside = [x for _, x in walk(s.loop.body) if isinstance(x, For) and x.level is None]
        items = {x.var for x in inside if x.dealt == s.loop.var}
        width = s.loop.level.cyclic if s.loop.level else 0
        if len(items) != 1 or any(x.dealt != s.loop.var for x in inside if x.var in items):
            yield _changed(s)
            continue
        (item,) = items
        yield from (_no(s, item, why) for why in problems(fn, s, item, width))
        yield from map(_other, _beside(fn, s, {x.path for x in sites}))
    dealt = {s.loop.var for s in sites}
    for s in loops(fn):
        if s.loop.dealt and s.loop.dealt not in dealt:
            yield _changed(s)


def problems(fn: Function, site: LoopSite, item: str, width: int) -> Iterator[str]:
    """Why the elements of a loop over work-items cannot be dealt out."""
    loop = site.loop
    fixed = fixed_trips(loop)
    if loop.level is None or loop.level.kind != "group" or fixed is None:
        yield "it is not mapped to work-items"
        return
    rows = value_of(loop.step) or 1
    if not 0 < width <= rows or rows % width:
        yield f"{width} is no part of its {rows} elements"
        return
    inside = list(walk(loop.body))
    items = [s for _, s in inside if isinstance(s, For) and s.var == item]
    if not items:
        yield f"there is no loop over '{item}' in it"
    if any(not _covers(s, loop) for s in items):
        yield f"the loop over '{item}' does not run over the {rows} elements of a work-item"
    shared = (Space.LOCAL, Space.GLOBAL)
    private = {d.name for d in _inside_loops(fn) if d.space not in shared and d.shape}
    tiles = {n for n, d in declared(fn.body).items() if d.space is Space.LOCAL}
    paths = ((*site.path, *p) for p, s in inside if isinstance(s, For) and s.var == item)
    if any(reverse_obstacles(fn, p) for p in paths):
        yield f"the loop over '{item}' carries a dependence"
    yield from _registers(fn, loop, item, private)
    own = frozenset(private)
    for path, s in inside:
        around = along(loop.body, path)[:-1]
        within = any(isinstance(x, For) and x.var == item for x in around)
        if isinstance(s, Copy):
            yield from _copied(s, loop, tiles, cut=bool(fixed[1]))
        elif isinstance(s, For) and s.var in (item, loop.var):
            continue
        elif any(not _by_sum(e, loop.var, item if within else "", own) for e in stmt_exprs(s)):
            yield f"'{loop.var}' and '{item}' are used in other ways than by their sum"
        known = private | tiles
        if any(x.array not in known for e in stmt_exprs(s) for x in loads(e)):
            tests = [c for cond in _holding(around, path) for c in conjuncts(cond)]
            if not all(_tested(c, tests, loop, item) for c in fixed[1]):
                yield f"memory is touched where '{loop.var} + {item}' may be past the end"


def _inside_loops(fn: Function) -> Iterator[Decl]:
    """What is declared inside loops: other arrays belong to all work-items."""
    for path, s in walk(fn.body):
        if isinstance(s, Decl) and any(isinstance(x, For) for x in enclosing(fn, path)):
            yield s


def _holding(around: tuple[Stmt, ...], path: Path) -> Iterator[Expr]:
    """The conditions that hold at `path`, below `around`: an else branch tells nothing."""
    for s, branch in zip(around, path[1:]):
        if isinstance(s, If) and branch >= 0:
            yield s.cond


def _covers(s: For, loop: For) -> bool:
    """Whether a loop runs over the numbers of the elements of a work-item."""
    fixed = fixed_trips(s)
    same = fixed is not None and fixed[0].value == value_of(loop.step) and not fixed[1]
    return same and s.level is None and value_of(s.lo) == 0 and value_of(s.step) == 1


def _registers(fn: Function, loop: For, item: str, private: set[str]) -> Iterator[str]:
    """Storage of a work-item in which an element does not stand at its own number."""
    used: dict[tuple[str, int], list[Expr]] = {}
    for _, s in walk(fn.body):
        exprs = (e for e in stmt_exprs(s) if names(e) & private)
        for x in (x for e in exprs for x in loads(e) if x.array in private):
            for n, e in enumerate(x.index):
                used.setdefault((x.array, n), []).append(e)
        if isinstance(s, Copy) and s.target in private:
            sized = [part for part in s.slices if part.size is not None]
            for n, part in enumerate(sized):
                if loop.var in names(part.lo):
                    used.setdefault((s.target, n), []).append(Var(item))
    number = poly(iteration_number(loop))
    for (array, _), found in used.items():
        own = any(item in names(e) for e in found)
        others = [e for e in found if e != Var(item)] if own else []
        if others or any(loop.var in names(e) and poly(e) != number for e in found):
            yield f"'{array}' is used for other elements too"


def _copied(s: Copy, loop: For, tiles: set[str], *, cut: bool) -> Iterator[str]:
    """A work-item copies what its elements need, or the same for all."""
    for x in s.slices:
        if loop.var not in names(x.lo):
            continue
        rest = poly(x.lo) - poly(Var(loop.var))
        whole = x.size is not None and value_of(x.size) == value_of(loop.step)
        if not whole or rest.mentions(loop.var):
            yield f"a work-item reads more of '{s.source}' than its elements"
        if cut and s.source not in tiles and not (x.limit is not None and x.clamp):
            yield f"'{s.source}' may be read past its end"


@remembered(4096)
def _by_sum(e: Expr, loop: str, item: str, private: frozenset[str]) -> bool:
    """Whether an expression mentions the loop and the number of an element by their sum alone,
    registers apart."""

    def known(x: Expr) -> Expr:
        return Const(0) if isinstance(x, Load) and x.array in private else x

    bare = map_expr(e, known)
    if item:
        bare = substitute(bare, {item: Bin("-", Var(item), Var(loop))})
    return loop not in names(map_expr(bare, simplify))


def _tested(cut: Expr, tests: list[Expr], loop: For, item: str) -> bool:
    """Whether one of the conditions around a statement is that its element is before the end."""
    place = poly(Var(loop.var)) + poly(Var(item))
    return any(
        isinstance(t, Bin) and t.op == "<" and place - poly(t.left) == poly(cut) - poly(t.right)
        for t in tests
    )


def _beside(fn: Function, site: LoopSite, paths: set[tuple[int, ...]]) -> Iterator[LoopSite]:
    """Loops over the work-items of the same groups that are not dealt out, or have other elements:
    who has an element is the same everywhere in a kernel."""
    around = (x.path for x in loops(fn) if x.loop.level and x.path == site.path[: len(x.path)])
    kernel = min(around, key=len)
    for other in loops(fn):
        same = other.loop.level == site.loop.level and other.path[: len(kernel)] == kernel
        if same and (other.path not in paths or _elements(other.loop) != _elements(site.loop)):
            yield other


def _elements(loop: For) -> tuple[object, ...]:
    """Which elements a loop over work-items hands out, where no bound cuts it short."""
    fixed = fixed_trips(loop)
    return poly(loop.lo), value_of(loop.step), fixed and fixed[0].value


def _other(site: LoopSite) -> Obstacle:
    text = (
        f"another loop over the same work-items, '{site.loop.var}', keeps its order, or has others"
    )
    remedy = f"name all of them, over the same elements: block-cyclic {site.loop.var}* ..."
    return Obstacle("LX198", text, site.loop.origin.loc, remedy=remedy)


def _changed(site: LoopSite) -> Obstacle:
    text = f"the elements of '{site.loop.var}' were dealt out before a later step changed them"
    remedy = "take block-cyclic as the last step"
    return Obstacle("LX198", text, site.loop.origin.loc, remedy=remedy)


def _no(site: LoopSite, item: str, why: str) -> Obstacle:
    text = f"the elements of '{site.loop.var}' cannot be dealt out by '{item}': {why}"
    return Obstacle("LX198", text, site.loop.origin.loc, remedy="keep neighbours together")
