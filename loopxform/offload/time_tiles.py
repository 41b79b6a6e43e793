"""Loops over steps of time around stencils: several steps in a pass over the arrays.

    for t (the host): { forall i, j: B = f(A);  forall i, j: A = f(B) }
      ->  for t_pass (the host): { a kernel: 8 steps of A into a copy;  a kernel: 8 steps back }
          for t (the host): what is left over

The step `time-tile` says when that is legal, `model.time_tiles` which tiles are the quickest.
"""

from __future__ import annotations

from math import prod

from loopxform.analysis.host_scalars import computed_by_host, host_scalars
from loopxform.errors import UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Decl, For, Function, If
from loopxform.ir.types import Space
from loopxform.ir.visit import LoopSite, enclosing, loops, names, perfect_nest, resolve, walk
from loopxform.ir.whiles import is_while
from loopxform.model.streams import Tile
from loopxform.model.time_boxes import BoxTile, boxes
from loopxform.model.time_tiles import as_pays, numbers_of_steps, shapes
from loopxform.offload.program_state import Part, Program
from loopxform.recipes.deriving import Work
from loopxform.schedule.offload_options import TIME_TILE, TileChoice
from loopxform.schedule.requests import Wish, Wishes
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    Normalise,
    Reverse,
    SignedCounters,
    Step,
    TimeBoxes,
    TimeTile,
)
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import LEAST_SPACE, stages_of
from loopxform.transforms.restructure.signed_counters import small, unsigned_sizes

TITLE = "Several steps of time in a pass"


def time_tiled(program: Program, limits: Limits, given: Wish, wishes: Wishes) -> None:
    """Gives the loops over time among those of the host passes of several steps. Raises
    AnnotationError where the source asks for a tile of a loop that cannot be had."""
    for var in sorted(program.hosts):
        site = resolve(program.fn, var)[0]
        wish = wishes.of_loop(site.loop)
        asked = given.over(wish).options.time_tile
        if asked == () or is_while(site.loop):
            continue
        refused = _passes(program, site, limits, asked)
        if asked and not refused:
            wishes.meet_loop(site.loop)
        elif asked and asked == wish.options.time_tile and wish is not wishes.common:
            raise wish.unmet(UnsupportedC(refused, loc=site.loop.origin.loc, code="LX062"))
        elif asked:
            why = program.why.get(var)
            program.why[var] = "; ".join(filter(None, (why, f"no time tile: {refused}")))
    if given.options.time_tile is None:
        _require_met(wishes)


def _require_met(wishes: Wishes) -> None:
    """Raises AnnotationError for a time tile of a loop that is none over time."""
    for loc, wish in wishes.left:
        tile = wish.options.time_tile
        if tile and tile != wishes.common.options.time_tile:
            message = "the loop runs no nests in the order of time"
            help = "annotate the loop around the nests"
            raise wish.unmet(UnsupportedC(message, loc=loc, code="LX062", help=help))


def _passes(program: Program, site: LoopSite, limits: Limits, asked: tuple[int, ...] | None) -> str:
    """Adds passes, or says why there are none."""
    w, refused = Work(program.derivation.titled(TITLE), {}), ""
    site = signed(w, counting_up(w, site))
    loop = site.loop
    groups = "" if asked or limits.warp == 1 else str(limits.compute_units or limits.costs.units)
    free = program.allowing(program.options, loop).reassociate
    tiles: list[Tile | BoxTile]
    if asked:
        given = [as_pays(w.fn, site, limits, t, reassociate=free) for t in asked_tiles(asked)]
        tiles = [*asked_boxes(w.fn, site, asked)] or [*given]
    else:
        tiles = [*shapes(w.fn, site, limits, reassociate=free)] or [*boxes(w.fn, site, limits)]
    for tile in tiles:
        steps = tuple(map(str, numbers_of_steps(w.fn, site, tile.steps)))
        known = set(_variables(program))
        before, refusal = w.derivation, w.refusal(_step(loop.var, steps, tile, groups, free=free))
        lacking = too_large(w.fn, limits) if refusal is None else refusal.obstacles[0].message
        if not lacking:
            break
        w.derivation, refused = before, refused or lacking
    else:
        return refused
    new = [s for s in loops(w.fn) if s.loop.var not in known]
    passes, *_ = (s for s in new if s.loop.var.startswith(f"{loop.var}_pass"))
    if not is_asked_by_host(w.fn, passes):
        return DATA_DECIDE
    program.derivation = w.derivation
    first = next(x for x in passes.loop.body if isinstance(x, For))
    inside = [v for x in loop.body if isinstance(x, For) for v in _chain(x)]
    about = f"{tile.steps} steps of time a pass, {tile.text}"
    choice = TileChoice(TIME_TILE.name, tuple(f"{t.steps}x{t.option}" for t in tiles))
    every, loc = (loop.var, *inside), loop.origin.loc
    program.parts.append(Part(first.var, loc, every, "kernel", "", about=about, choice=choice))
    return ""


def _step(
    var: str, steps: tuple[str, ...], tile: Tile | BoxTile, groups: str, *, free: bool
) -> Step:
    if isinstance(tile, BoxTile):
        return TimeBoxes(var, steps, tuple(map(str, tile.sizes)), str(tile.items), groups)
    words = "reassociate" if free else "", "in-step" if tile.in_step else ""
    return TimeTile(var, steps, *tile.words, groups, *words)


DATA_DECIDE = "data of other kernels decide whether one can be used"


def too_large(fn: Function, limits: Limits) -> str:
    """What the group of a kernel needs that the device does not have; "" where all fit."""
    for _, s in walk(fn.body):
        if isinstance(s, For) and s.level is not None and s.level.kind == "grid":
            inside = [x for _, x in walk(s.body)]
            tiles = [x for x in inside if isinstance(x, Decl) and x.space is Space.LOCAL]
            size = sum(prod(value_of(e) or 0 for e in x.shape) * x.type.bytes for x in tiles)
            if size > limits.local_bytes:
                has = f"a group has {limits.local_bytes} of local memory"
                return f"its tile needs {size} bytes, {has}"
            items = [(x.level, x.hi) for x in inside if isinstance(x, For) and x.level is not None]
            group = {level: value_of(hi) or 1 for level, hi in items if level.kind == "group"}
            count = prod(group.values())
            if count > limits.group_size:
                return f"its group has {count} work-items, at most {limits.group_size} are possible"
    return ""


def asked_tiles(asked: tuple[int, ...]) -> list[Tile]:
    """What numbers may mean: with the elements of a work-item in front of the work-items, or
    without."""
    steps, rows, *items = asked
    plain = [Tile(rows, tuple(items), 1, steps)]
    return plain if len(items) < 2 else [*plain, Tile(rows, tuple(items[1:]), items[0], steps)]


def asked_boxes(fn: Function, site: LoopSite, asked: tuple[int, ...]) -> list[BoxTile]:
    """What numbers mean for arrays of one dimension."""
    try:
        flat = all(len(t.loops) < LEAST_SPACE for t in stages_of(fn, site))
    except NotStages:
        return []
    steps, size, items, *more = asked
    return [BoxTile((size,), items, steps)] if flat and not more else []


def counting_up(w: Work, site: LoopSite) -> LoopSite:
    """The loop with steps of 1, and the loops in it, as far as they can be turned round."""
    loop = site.loop
    if value_of(loop.step) != 1:
        w.attempt(Normalise(loop.var))
    for x in (x for _, x in walk(loop.body) if isinstance(x, For)):
        if value_of(x.step) == -1:
            w.attempt(Reverse(x.var))
    return resolve(w.fn, loop.var)[0]


def signed(w: Work, site: LoopSite) -> LoopSite:
    """The loops with ints for unsigned counters, where these are small."""
    asked = [Assume(condition_text(small(n))) for n in sorted(unsigned_sizes(w.fn, site))]
    w.attempt(*asked, SignedCounters(site.loop.var))
    return resolve(w.fn, site.loop.var)[0]


def is_asked_by_host(fn: Function, passes: LoopSite) -> bool:
    """Whether the host can tell if kernels may stand for loops, without data of other kernels."""
    *around, _ = enclosing(fn, passes.path)
    told = host_scalars(fn) | {x.var for x in around if isinstance(x, For)}
    asked = [x.cond for x in around[-1:] if isinstance(x, If)]
    return all(computed_by_host(cond) and names(cond) <= told for cond in asked)


def _chain(x: For) -> list[str]:
    return [y.var for y in perfect_nest(x)]


def _variables(program: Program) -> list[str]:
    return [s.loop.var for s in loops(program.fn)]
