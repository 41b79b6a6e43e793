"""Software pipelining: for kk: { copy tile kk; compute } -> copy tile 0; for kk: { fetch tile kk+1
into registers; compute; store it into the other buffer }.

The group has two buffers for every tile. While it computes with one, the elements of the next tile
are on their way, and one barrier an iteration is enough in place of two. Legal where nothing the
kernel writes is copied, where the body changes neither the bounds of the loop nor the part that is
copied, and where nobody reads the tile but after a copy of its own: then the next tile is the same
one iteration earlier. With `async`, hardware copies the tiles on its own, past the registers of the
work-items: into BUFFERS buffers, those of the next BUFFERS - 1 iterations while the group computes
with one. Devices without such copies make them at once, each work-item its share. The listing keeps
the order of the program; the loop is marked. (Lam, "Software pipelining", PLDI 1988; CUTLASS,
"Efficient GEMM in CUDA", multistage pipelines; NVIDIA, PTX ISA, `cp.async`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Bin, Copy, Decl, Expr, For, Function, Stmt, Var
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    loads,
    loops_around,
    names,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import ascending, fixed_header, one_loop, trusted
from loopxform.written import MOST_BUFFERS


@record
class Pipeline(Step):
    """Fetches the tiles that `loop` copies into local memory ahead, into so many `buffers` (two
    where no number is given). `asynchronous` (the word async) copies them past the registers, which
    more than two buffers need."""

    loop: str
    buffers: str = ""
    asynchronous: str = ""

    verb: ClassVar[str] = "pipeline"
    usage: ClassVar[str] = "pipeline LOOP [BUFFERS] [async]"
    merged: ClassVar[Mapping[str, Mapping[str, str]]] = {"async": {"asynchronous": "async"}}
    flags: ClassVar[Mapping[str, str]] = {"async": "asynchronous"}
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        wrong = self._wrong()
        if wrong:
            text = f"the loop over '{site.loop.var}' cannot be pipelined: {wrong}"
            remedy = f"pipeline {self.loop} 3 async"
            return (Obstacle("LX159", text, site.loop.origin.loc, remedy=remedy),)
        return obstacles(fn, site)

    def _wrong(self) -> str:
        """What is wrong with the parameters; nothing where they make sense."""
        if self.asynchronous not in ("", "async"):
            return f"'{self.asynchronous}' says nothing about its copies"
        if not self._number:
            return f"'{self.buffers}' is not a number of buffers from 2 to {MOST_BUFFERS}"
        if self._number > 2 and not self.asynchronous:
            return f"{self._number} buffers need asynchronous copies"
        return ""

    @property
    def _number(self) -> int:
        """The buffers; 0 where they make no sense."""
        text = self.buffers or "2"
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0
        return number if 2 <= number <= MOST_BUFFERS else 0

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin, ahead = site.loop.origin.then(str(self)), bool(self.asynchronous)
        marked = replace(site.loop, stages=self._number, asynchronous=ahead, origin=origin)
        return replace_at(fn, site.path, (marked,))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        tiles = " and ".join(c.target for c in split(site.loop)[0])
        times = "iteration" if self._number == 2 else f"{self._number - 1} iterations"
        return f"{tiles} of the next {times} can be fetched while this one computes"


def split(loop: For) -> tuple[tuple[Copy, ...], tuple[Stmt, ...]]:
    """The collective copies that a body begins with, and what follows them."""
    head = list(takewhile(lambda s: _is_tile(s) or isinstance(s, Decl), loop.body))
    copies = tuple(s for s in head if isinstance(s, Copy))
    return copies, (*(s for s in head if isinstance(s, Decl)), *loop.body[len(head) :])


def obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Why the tiles of a loop cannot be fetched ahead."""
    shape = (*ascending(site), *fixed_header(site))
    found = shape[:1] or tuple(_problems(fn, site))[:1]
    return tuple(o if isinstance(o, Obstacle) else _no(site, *o) for o in found)


def _problems(fn: Function, site: LoopSite) -> Iterator[tuple[str, str]]:
    loop, stage = site.loop, "stage an array in it first: copy-to-local ARRAY LOOP"
    copies, rest = split(loop)
    tiles = [c.target for c in copies]
    if loop.level is not None:
        yield f"it is mapped to {loop.level}", "name a loop that the group runs in step"
    elif not copies:
        yield "it does not begin with copies into local memory", stage
    if any(_is_tile(s) for _, s in walk(rest)) or len(set(tiles)) < len(tiles):
        yield "it copies into local memory in other places too", "distribute it"
    kernel = writes(((*loops_around(fn, site.path), loop)[0],))
    for c in copies:
        if c.source in kernel:
            yield f"'{c.source}', from which it copies, is written in the nest", "keep the order"
        if c.target in writes(rest):
            yield f"its tile '{c.target}' is written", "keep the order"
        changed = {n for e in _place(c) for n in names(e)} & writes(loop.body)
        if changed:
            yield f"the part that is copied depends on '{min(changed)}'", "hoist what does not vary"
        if not all(_copied_before(fn, p, c.target, site.path) for p in _readers(fn, c, site.path)):
            yield f"'{c.target}' is read after the loop", "copy it anew there"
    if always(fn, (*site.path, 0), Bin(">=", Bin("+", Var(loop.var), loop.step), loop.hi)):
        yield "it has one iteration at most", "pipeline the loop over whole tiles"


def _no(site: LoopSite, why: str, remedy: str) -> Obstacle:
    text = f"no tile of the loop over '{site.loop.var}' can be fetched ahead: {why}"
    return Obstacle("LX179", text, site.loop.origin.loc, remedy=remedy)


def _is_tile(s: Stmt) -> bool:
    return isinstance(s, Copy) and s.collective


def _place(c: Copy) -> Iterator[Expr]:
    """What says which part is copied."""
    for x in c.slices:
        yield from x.places


def _readers(fn: Function, copy: Copy, loop: Path) -> Iterator[Path]:
    """Where the tile is read outside of the loop."""
    for path, s in walk(fn.body):
        if path[: len(loop)] != loop:
            read = {x.array for e in stmt_exprs(s) for x in loads(e)}
            if copy.target in read or (isinstance(s, Copy) and s.source == copy.target):
                yield path


def _copied_before(fn: Function, reader: Path, tile: str, loop: Path) -> bool:
    """Whether a copy fills the tile earlier in a body around the reader, outside of the loop."""
    for depth in range(len(reader)):
        for n in range(reader[depth]):
            path = (*reader[:depth], n)
            s = at(fn, path)
            if isinstance(s, Copy) and s.target == tile and path[: len(loop)] != loop:
                return True
    return False
