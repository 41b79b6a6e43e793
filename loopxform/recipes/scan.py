"""Running values in the chunks of groups:

    forall ii (a group): { s = part[ii/T]; for i of ii: { s += a[i]; out[i] = s; } }
 -> forall ii (a group): a_loc = a[ii : ii + T]
      forall i3 (a work-item): part2[t] = the sum of its T/Tx elements
      the running values of part2, again in chunks                     barriers between
      forall i3: T/Tx iterations, from part2[t] on, which store into out_own
      forall t: for (i = ii + t; ...; i += Tx): out[i] = out_own[...]  neighbours store neighbours

Fits the chunks that `reduce-then-scan` makes: a loop of fixed length with running values inside
parallel loops. (Kirk and Hwu, "Programming Massively Parallel Processors", section 11.6.)
"""

from __future__ import annotations

from math import isqrt, prod
from typing import ClassVar

from loopxform.analysis.running import Scan, scan_of
from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import poly, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Copy, Decl, For
from loopxform.ir.types import Space
from loopxform.ir.visit import at, bodies, loads, loops, resolve, stmt_exprs, walk
from loopxform.model.choice import Choice
from loopxform.model.footprint import linear
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.base import NO_CHUNKS, ONE_BY_ONE, Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.records import record
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import (
    CopyToLocal,
    LookBack,
    MapTo,
    Parallelise,
    PromoteToLocal,
    ReduceThenScan,
    ReuseStorage,
    RoundRobin,
    SeparateFullTiles,
    StageFilled,
    StageStores,
    UnitLoop,
)
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.restructure.places import place_text


class ScanInGroup:
    name: ClassVar[Recipe] = "scan"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        found = sequential(nest.innermost.body)
        if question.limits.warp == 1 and not question.asked:
            return ONE_BY_ONE
        if len(found) != 1 or fixed_length(found[0]) is None:
            return NO_CHUNKS
        path = next(s.path for s in loops(nest.function) if s.loop is found[0])
        scan = scan_of(nest.function, path)
        if not isinstance(scan, Scan):
            return NO_CHUNKS
        is_chunk = (fixed_length(found[0]) or 0) >= question.costs.scan_terms
        wanted = question.few or question.asked
        wanted = wanted and (len(nest.parallel) == 1 or not scan.only_reduces)
        if not (wanted or (is_chunk and not scan.only_reduces)):
            return NO_CHUNKS
        k = found[0].var
        return Choice(self.name, (), k, group=("Tx",), shared=((k,),))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        (loop,) = sequential(nest.innermost.body)
        stored, read = (along(loop, stored=x) for x in (True, False))
        filled = [array for array, _, _ in nest.innermost.filled]
        staged, start = [*stored, *read, *filled], w.derivation
        while True:
            kept = _Staged(*([a for a in x if a in staged] for x in (stored, read, filled)))
            _in_group(w, nest, kept, options, limits)
            used = local_bytes(w, nest.parallel[-1])
            if used <= limits.local_bytes:
                return Mapped(choice)
            if not staged:
                text = f"a chunk needs {used} bytes, and there is room for {limits.local_bytes}"
                raise TransformError("promote-to-local", (Obstacle("LX169", text),))
            staged.pop()
            w.derivation = start


@record
class _Staged:
    """The arrays that are stored, read, and filled (by a compaction) by way of local memory."""

    stored: list[str]
    read: list[str]
    filled: list[str]


def _in_group(w: Work, nest: Nest, staged: _Staged, options: Options, limits: Limits) -> None:
    """Maps a chunk to a group. Raises TransformError."""
    allowed = "reassociate" if options.reassociate else ""
    chunks = nest.parallel[-1]
    (loop,) = sequential(nest.innermost.body)
    length, items = fixed_length(loop), w.sizes["Tx"]
    assert length is not None
    known = {s.name for _, s in walk(w.fn.body) if isinstance(s, Decl)}
    before = {site.loop.var for site in loops(w.fn)}
    w.stage("Stores of neighbours by neighbours")
    for array in staged.stored:
        w.attempt(StageStores(array, loop.var))
    shared = [v for v in new_loops(w, before) if w.attempt(Parallelise(v))]
    w.stage("Running values of the chunks of work-items")
    between = in_parts(w, loop.var, -(-length // items), allowed)
    if items > limits.costs.combined_alone:
        between = in_parts(w, between, 1 << (isqrt(items - 1).bit_length()), allowed)
    ends = _looked_back(w, chunks, between, limits, allowed)
    w.do(*(Parallelise(run_once(w, v)) for v in ends))
    w.stage("What the chunks read in local memory")
    for array in staged.read:
        w.attempt(CopyToLocal(array, chunks))
    w.stage("Mapping each chunk to a group")
    for v in shared:
        w.do(RoundRobin(v, w.size("Tx"), fresh(w.fn, f"{v}_t")))
    w.do(*(MapTo(v, "group.x") for v in nest.parallel))
    (site,) = resolve(w.fn, chunks)
    _require_shared(site.loop)
    w.do(*(MapTo(s.var, "thread.x") for s in site.loop.body if isinstance(s, For)))
    made = (s for s in site.loop.body if isinstance(s, Decl) and s.shape and not s.space)
    w.do(*(PromoteToLocal(s.name) for s in made if s.name not in known))
    for array in staged.filled:
        w.attempt(StageFilled(array, chunks, w.size("Tx")))
    w.stage("What is stored in the place of what was read")
    _in_one_place(w, chunks)
    w.attempt(SeparateFullTiles(chunks))


def _in_one_place(w: Work, chunks: str) -> None:
    """Keeps what is stored where what was read was, as far as that can be."""
    body = resolve(w.fn, chunks)[0].loop.body
    tiles = [s.target for s in body if isinstance(s, Copy)]
    local = [s.name for s in body if isinstance(s, Decl) and s.space is Space.LOCAL]
    for array in (name for name in local if name not in tiles):
        done = next((tile for tile in tiles if w.attempt(ReuseStorage(tile, array))), None)
        tiles = [tile for tile in tiles if tile != done]


def _looked_back(
    w: Work, chunks: str, between: str, limits: Limits, allowed: str
) -> tuple[str, ...]:
    """The loops of a chunk that the first work-item runs; of chunks in a chain, those on either
    side of where it looks back."""
    if not resolve(w.fn, chunks)[0].loop.chained:
        return (between,)
    w.do(LookBack(chunks, between, str(limits.costs.look_back), allowed))
    w.derivation = told_apart(w.derivation)
    body = resolve(w.fn, chunks)[0].loop.body
    place = next(n for n, s in enumerate(body) if isinstance(s, For) and s.look_back)
    before, after = (
        next(s for s in part if isinstance(s, For))
        for part in (body[:place][::-1], body[place + 1 :])
    )
    return before.var, after.var


def local_bytes(w: Work, chunks: str) -> int:
    (site,) = resolve(w.fn, chunks)
    local = (s for _, s in walk(site.loop.body) if isinstance(s, Decl) and s.space is Space.LOCAL)
    return sum(s.type.bytes * prod(value_of(e) or 1 for e in s.shape) for s in local)


def fixed_length(loop: For) -> int | None:
    """The most iterations of a loop, where that is a number."""
    fixed = fixed_trips(loop)
    return None if fixed is None else fixed[0].value


def along(loop: For, *, stored: bool, directions: tuple[int, ...] = (1, -1)) -> tuple[str, ...]:
    """The arrays that the loop stores to, or reads, neighbours in neighbouring iterations, upwards
    (1) or downwards (-1)."""
    found: dict[str, bool] = {}
    for _, s in walk(loop.body):
        target = s.target if isinstance(s, Assign) else None
        for e in stmt_exprs(s):
            for x in loads(e):
                if (x is target) == stored:
                    along = linear(poly(x.index[-1]), loop.var) in directions
                    found[x.array] = found.get(x.array, True) and along
    return tuple(a for a, along in found.items() if along)


def run_once(w: Work, var: str) -> str:
    """Puts a loop, and the statements between the loops before and after it, into one of one
    iteration: the first work-item runs them."""
    (site,) = resolve(w.fn, var)
    *around, last = site.path
    body = w.fn.body if not around else bodies(at(w.fn, tuple(around)))[0]
    first = last
    while first > 0 and not isinstance(body[first - 1], For):
        first -= 1
    while last + 1 < len(body) and not isinstance(body[last + 1], For):
        last += 1
    name = fresh(w.fn, "once")
    w.do(UnitLoop(place_text((*around, first)), str(last - first + 1), name))
    return name


def _require_shared(chunks: For) -> None:
    """Raises TransformError where the work-items of a group would all run something."""
    for s in chunks.body:
        if not isinstance(s, Decl | Copy) and not (isinstance(s, For) and s.parallel):
            why = "beside the running values a chunk has statements that work-items cannot share"
            raise TransformError("map", (Obstacle("LX151", why, s.origin.loc),))


def new_loops(w: Work, before: set[str]) -> list[str]:
    return [site.loop.var for site in loops(w.fn) if site.loop.var not in before]


def in_parts(w: Work, var: str, size: int, allowed: str) -> str:
    """Computes running values in chunks; the loop over these."""
    before, whole = {site.loop.var for site in loops(w.fn)}, w.fn
    w.do(ReduceThenScan(var, str(size), allowed))
    w.derivation = told_apart(w.derivation, whole)
    new = [site for site in loops(w.fn) if site.loop.var not in before]
    depth = min(len(s.path) for s in new)
    return next(s.loop.var for s in new if len(s.path) == depth and not s.loop.parallel)
