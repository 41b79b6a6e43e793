"""Register pipeline: for k: { A_reg = A_loc[k]; compute } -> A_reg = A_loc[0]; for k: { A_next =
A_loc[k+1]; compute; A_reg = A_next }.

What work-items read of the tiles for an iteration, they read while they compute the one before, the
first iteration of the next tile included: nobody waits for local memory. There are two of each of
these registers. `register-pipeline k 3` reads 3 iterations ahead, where one of them takes less time
than a read; there are four of each then. Legal for the innermost loop of one whose tiles are
fetched ahead, where all that is computed with the tiles is computed with these registers, and what
is read depends on the iteration alone. With `interleaved`, the group also stores the next tile and
fetches the one after it bit by bit between these iterations, while both are complete, and not
behind the last of them: legal where tiles pass through registers, and a loop of ints from 0 runs
over them. The listing keeps the order of the program; the loop is marked. (CUTLASS, "Efficient GEMM
in CUDA", software pipelining of warp tiles.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Copy, Decl, For, Function, Stmt
from loopxform.ir.types import INT, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    loads,
    names,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.latency.pipeline import split
from loopxform.transforms.sites import one_loop, trusted

MOST_AHEAD = 3
"""Iterations: there are four of each register at most."""


@record
class RegisterPipeline(Step):
    """Reads what the unrolled `loop` copies from local tiles so many iterations `ahead` (one where
    no number is given). `interleaved` (the word) stores and fetches tiles between its iterations.
    """

    loop: str
    ahead: str = ""
    interleaved: str = ""

    verb: ClassVar[str] = "register-pipeline"
    former: ClassVar[tuple[str, ...]] = ("preload",)
    usage: ClassVar[str] = "register-pipeline LOOP [AHEAD] [interleaved]"
    flags: ClassVar[Mapping[str, str]] = {"interleaved": "interleaved"}
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.interleaved not in ("", "interleaved"):
            why = f"'{self.interleaved}' says nothing about the copies of tiles"
            return (_no(site, why, f"register-pipeline {self.loop} interleaved"),)
        if not self._number:
            why = f"'{self.ahead}' is not a number of iterations from 1 to {MOST_AHEAD}"
            return (_no(site, why, f"register-pipeline {self.loop} {MOST_AHEAD}"),)
        return obstacles(fn, replace(site, loop=self._marked(site.loop)))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(self._marked(site.loop), origin=origin),))

    def _marked(self, loop: For) -> For:
        return replace(loop, preloaded=self._number, interleaved=bool(self.interleaved))

    @property
    def _number(self) -> int:
        """The iterations; 0 where they make no sense."""
        text = self.ahead or "1"
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0
        return number if number <= MOST_AHEAD else 0

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        read = " and ".join(c.target for c in parts(site.loop)[1])
        later = "the next iteration"
        if self._number > 1:
            later = f"the next {self._number} iterations"
        return f"{read} of {later} can be read while this one computes"


def sets(ahead: int) -> int:
    """How many of each register there are where so many iterations are read ahead."""
    return 2 if ahead == 1 else 4


def parts(loop: For) -> tuple[tuple[Decl, ...], tuple[Copy, ...], tuple[Stmt, ...]]:
    """The registers that a body begins by declaring and copying, and what follows."""
    head = list(takewhile(lambda s: _is_read(s) or isinstance(s, Decl), loop.body))
    own = tuple(s for s in head if isinstance(s, Decl))
    return own, tuple(s for s in head if isinstance(s, Copy)), loop.body[len(head) :]


def computed(loop: For) -> tuple[Stmt, ...]:
    """What a loop does with the tiles that it copies."""
    return tuple(s for s in split(loop)[1] if not (isinstance(s, Decl) and s.space is Space.LOCAL))


def obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Why what a loop reads cannot be read ahead."""
    return tuple(_no(site, *o) for o in _problems(fn, site))[:1]


def _problems(fn: Function, site: LoopSite) -> Iterator[tuple[str, str]]:
    loop, tiles = site.loop, _tiled_loop(fn, site)
    fixed = fixed_trips(loop)
    count = None if fixed is None or fixed[1] else fixed[0].value
    own, copies, _ = parts(loop)
    if loop.level is not None:
        yield f"it is mapped to {loop.level}", "name a loop that a work-item runs"
    elif not loop.unroll:
        yield "it is not unrolled", f"unroll {loop.var}"
    elif value_of(loop.lo) != 0 or value_of(loop.step) != 1:
        yield "it does not count from 0 by 1", f"normalise {loop.var} body"
    elif count is None or count % 2:
        yield "it does not have an even number of iterations", "strip-mine it by an even number"
    elif count % sets(loop.preloaded):
        yield "its iterations are no multiple of 4", "strip-mine it by such a number"
    elif loop.preloaded > 1 and any(isinstance(s, For) and s.tensor for _, s in walk((loop,))):
        yield "tensor units compute it", f"register-pipeline {loop.var}"
    elif not copies or {c.target for c in copies} != {d.name for d in own}:
        yield "it does not begin with copies into private memory", "copy-to-private ARRAY LOOP"
    elif tiles is None:
        remedy = "pipeline the loop over tiles, with nothing else in it"
        yield "it is not all that a loop does whose tiles are fetched ahead", remedy
    else:
        yield from _dependences(fn, site, tiles)
        yield from _apart(fn, tiles) if loop.interleaved else ()


def _dependences(fn: Function, site: LoopSite, tiles: For) -> Iterator[tuple[str, str]]:
    own, copies, rest = parts(site.loop)
    targets, staged = {d.name for d in own}, {c.target for c in split(tiles)[0]}
    changed = writes(tiles.body) | {tiles.var}
    for c in copies:
        moving = {n for x in c.slices for n in names(x.lo)} & changed
        if c.source not in staged:
            yield f"'{c.source}' is not a tile of the loop over '{tiles.var}'", "keep the order"
        if c.target in writes(rest):
            yield f"'{c.target}' is written", "keep the order"
        if moving:
            yield f"what is read depends on '{min(moving)}'", "keep the order"
    for s in (s for _, s in walk(rest)):
        read = {x.array for e in stmt_exprs(s) for x in loads(e)}
        if isinstance(s, Copy | Decl) or read & staged:
            yield "not all that it reads of the tiles is copied first", "copy-to-private the rest"
    arrays = {p.name for p in fn.objects if p.array} - targets
    if arrays & {x.array for _, s in walk(rest) for e in stmt_exprs(s) for x in loads(e)}:
        yield "it touches global memory", "keep the order"
    if arrays & writes(rest):
        yield "it touches global memory", "keep the order"


def _tiled_loop(fn: Function, site: LoopSite) -> For | None:
    """The loop whose tiles are fetched ahead, where all that it does besides is this loop, in every
    work-item."""
    loop = None
    for depth in range(len(site.path) - 1, 0, -1):
        loop = at(fn, site.path[:depth])
        if not isinstance(loop, For):
            return None
        if loop.stages > 1:
            return loop if len(computed(loop)) == 1 else None
        if loop.level is None or loop.level.kind != "group" or len(loop.body) != 1:
            return None
    return None


def _apart(fn: Function, tiles: For) -> Iterator[tuple[str, str]]:
    """Why tiles cannot be stored and fetched between the iterations."""
    signed = tiles.type == INT and not type_of(tiles.hi, symbols(fn)).is_unsigned
    if tiles.asynchronous:
        why = f"the tiles of the loop over '{tiles.var}' do not pass through registers"
        yield why, "pipeline it without async"
    elif not signed or value_of(tiles.lo) != 0:
        why = (
            f"the loop over '{tiles.var}', which stores tiles in between, is no loop of ints from 0"
        )
        yield why, "leave the word interleaved out"


def _is_read(s: Stmt) -> bool:
    return isinstance(s, Copy) and not s.collective


def _no(site: LoopSite, why: str, remedy: str) -> Obstacle:
    text = f"what the loop over '{site.loop.var}' reads of tiles cannot be read ahead: {why}"
    return Obstacle("LX187", text, site.loop.origin.loc, remedy=remedy)
