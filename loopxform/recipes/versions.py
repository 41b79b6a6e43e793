"""Versions of a nest with parallelism inside parallelism: of its results, and of the terms that
each of them sums up.

    forall i < n: { s = 0; for k < m: s += e; y[i] = s; }
      n >= suff_outer_par_0         items    a work-item computes a result, in order
      m < suff_intra_par_1          items
        n >= suff_group_par_2       groups   a group computes a result, its work-items parts of it
          m >= suff_inner_par_3     chunks   several groups compute a result, a second kernel
                                             combines what they found
          else                      groups

Where data say how many terms each result has (rows of a sparse matrix), the mean does: as many
as an array has that the terms are read along, over the results.

      nnz >= n * suff_intra_par           a group computes a result: of as many work-items as run in
                                          lockstep, or more where there are few results
      else                         items

Where neighbours read neighbours, and results are few, each is summed up from tiles that are copied
ahead (`prefetched`).

The guards of the versions are these comparisons, each version's with all above it, so that they are
a tree. Thresholds say how much parallelism is enough; their defaults are what fills the device
(`model.saturation`). (Rotendahl and Larsen, sections 2.4 and 2.5: `items` is V0 of incremental
flattening, `groups` V1, `chunks` what is flattened further.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.affine import poly, value_of
from loopxform.ir.condition_text import is_readable
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If, Select, Var
from loopxform.ir.types import INT_MAX
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    loads,
    names,
    perfect_nest,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.model.coalescing import Estimate
from loopxform.model.cost import Cost, cost, microseconds
from loopxform.model.saturation import busy_items, filling_groups, filling_items, in_turn
from loopxform.prepare.parallel_band import Nest, sequential, with_guards_inside
from loopxform.recipes.chunks import in_chunks
from loopxform.recipes.other_tiles import prefetched, short_rows
from loopxform.recipes.registry import choices
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.updated_rows import in_any_order
from loopxform.recipes.version_choice import Thresholds, Version, choice, taken_at_all
from loopxform.records import record
from loopxform.schedule.params import KINDS, Options
from loopxform.targets.target import Limits
from loopxform.transforms import Rfactor, possible, thresholds_of
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.sites import ascending

LAZY = ("&&", "||")
LOCAL_SHARE = 12
"""Bytes of the local memory of a group for each term of rows: of one of 8, and parts of sums."""
REFUSALS = (TransformError, LimitError, UnsupportedC)


@record
class Parallelism:
    """How many results a nest has, and how many terms each of them sums up (None: the host cannot
    tell)."""

    results: Expr
    terms: Expr | None


def in_versions(
    nest: Nest, plain: Tiled, given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """The nest as it is tiled (`plain`, with the sizes that are `given`), or a choice between that
    and versions with more parallelism. Raises TransformError."""
    found = parallelism(nest)
    split = options.Rk is not None or plain.choice.has("register tile")
    if limits.vector or split or found is None:
        return plain
    named = Thresholds(len(thresholds_of(nest.derivation)), nest.taken, dict(options.threshold))
    rows = _versions(nest, plain, found, given, limits, options, named)
    versions = taken_at_all([v for v, _ in rows])
    mapped = {v.label: tiled for v, tiled in rows}
    if not versions:
        return plain
    if len(versions) == 1:
        only = mapped[versions[0].label]
        if _is_like(only, plain) and only.sizes == plain.sizes:
            return plain
        return replace(only, derivation=nest.derivation.extended(only.derivation), nest=nest)
    step = choice(nest.parallel[0], versions, named)
    derivation = nest.derivation.titled("Versions").then(step)
    taken = [mapped[v.label] for v in versions]
    alike = sorted((x for x in taken if _is_like(x, plain)), key=lambda x: x.sizes != plain.sizes)
    shown = alike[0] if alike else taken[-1]
    return replace(shown, derivation=derivation, nest=nest)


def _is_like(done: Tiled, plain: Tiled) -> bool:
    """Whether a nest is mapped in the same way."""
    return done.recipe == plain.recipe and done.sizes.keys() == plain.sizes.keys()


# ---------------------------------------------------------------- how much parallelism there is


def parallelism(nest: Nest) -> Parallelism | None:
    """None where there is not one sequential loop inside the parallel ones, or others under
    conditions, or the host cannot count the results."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    inside = sequential(nest.innermost.body)
    beside = (s for s in nest.innermost.body if isinstance(s, If))
    held = any(isinstance(x, For) for s in beside for _, x in walk((s,)))
    if len(inside) != 1 or held or not all(is_counted(nest.function, x) for x in chain):
        return None
    results = reduce(times, map(trip_count, chain))
    return Parallelism(
        results, trip_count(inside[0]) if is_counted(nest.function, inside[0]) else None
    )


def is_counted(fn: Function, loop: For) -> bool:
    """Whether the iterations of a loop are a number that the caller's integers say, and guards
    can ask for."""
    if ascending(LoopSite((), loop)) or value_of(loop.step) is None:
        return False
    if not is_readable(trip_count(loop)):
        return False
    types, used = symbols(fn), names(trip_count(loop))
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    return used <= fixed and all(types[n].is_integer for n in used)


def times(a: Expr, b: Expr) -> Expr:
    """A product that 64 bits hold, of factors that an int holds: no threshold is larger, and
    loops that run backwards have no iterations."""
    if isinstance(a, Bin) and a.op == "*":
        a = Bin("max", Bin("min", a, Const(INT_MAX)), Const(0))
    return Bin("*", a, b)


# ---------------------------------------------------------------- the versions


def _versions(
    nest: Nest,
    plain: Tiled,
    found: Parallelism,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    named: Thresholds,
) -> list[tuple[Version, Tiled]]:
    """Those that are legal, in the order in which they are asked for; none where there is but
    one."""
    alone = nest.alone()
    if found.terms is None and _is_of_data(nest):
        return _by_mean(alone, found.results, given, limits, options, named)
    items = one_nest(alone, given, None, limits, options, strict=False)
    in_lanes = items.recipe == "lanes"
    groups = None if in_lanes else _by_groups(alone, limits, options)
    long_chunks = groups is not None or in_lanes
    chunks = None if found.terms is None else _by_chunks(alone, limits, options, long_chunks)
    short = None if found.terms is None or given else short_rows(alone, plain, limits, options)
    updates = None if long_chunks else in_any_order(alone, limits, options)
    alike = given or long_chunks or found.terms is None
    ahead = None if alike else prefetched(alone, items, limits, options)
    if all(v is None for v in (groups, chunks, short, updates, ahead)):
        return []
    guard, versions = list[Expr](), list[tuple[Version, Tiled]]()
    if groups is not None or chunks is not None:
        full = in_turn(limits, items.sizes["Tx"]) if in_lanes else filling(items, groups, limits)
        guard.append(Bin("<", found.results, named("suff_outer_par", full)))
    if groups is not None:
        if found.terms is not None:
            intra = named("suff_intra_par", limits.costs.short_loop)
            guard.append(Bin(">=", found.terms, intra))
        versions.append(_version("groups", "a group for each result", groups, guard, limits))
    if chunks is not None and found.terms is not None:
        beside = groups or ahead
        if beside is not None:
            enough = named("suff_group_par", filling_groups(limits, beside.sizes["Tx"]))
            guard.append(Bin("<", found.results, enough))
        least = limits.costs.several_chunks * chunks.sizes["Tk"] * chunks.sizes["Rk"]
        guard.append(Bin(">=", found.terms, named("suff_inner_par", least)))
        about = "several groups for each result, and a kernel that combines their parts"
        versions.insert(0, _version("chunks", about, chunks, guard, limits))
    if updates is not None and found.terms is not None:
        few = _few(found, items, limits, named)
        long = Bin(">=", found.terms, named("suff_intra_par", limits.costs.short_loop))
        about = "a work-item for each update, which is atomic"
        versions.append(_version("updates", about, updates, (few, long), limits))
    if ahead is not None and found.terms is not None:
        few = guard[0] if guard else _few(found, items, limits, named)
        tiles = KINDS[ahead.recipe].buffers * ahead.sizes["Tk"]
        long = Bin(">=", found.terms, named("suff_intra_par", tiles))
        about = "a work-item for each result, in order, of terms that are copied ahead"
        versions.append(_version("prefetched", about, ahead, (few, long), limits))
    order = "in the lanes of vectors" if in_lanes else "in order"
    about = f"a work-item for each result, {order}"
    if short is not None and found.terms is not None:
        few = Bin("<", found.terms, named("suff_intra_par", items.sizes["Tk"] // 2))
        versions.append(_version("short rows", about, short, (few,), limits))
    return [*versions, _version("items", about, items, (), limits)]


def _few(found: Parallelism, items: Tiled, limits: Limits, named: Thresholds) -> Expr:
    """Whether a work-item for each result leaves much of the device without work."""
    return Bin("<", found.results, named("suff_outer_par", filling(items, None, limits)))


def _version(
    label: str, about: str, done: Tiled, guard: Sequence[Expr], limits: Limits
) -> tuple[Version, Tiled]:
    return Version(label, about, done.derivation, tuple(guard), time_text(done, limits)), done


def filling(items: Tiled, groups: Tiled | None, limits: Limits) -> int:
    """The results from which on a work-item for each takes no longer than a group for each: those
    that fill the device where both ask as much of it, in proportion where they do not. Fewer are
    enough for arithmetic without branches, of which several iterations overlap."""
    total = filling_items(limits)
    if groups is None or limits.warp < 2:
        return total
    one, other = _terms(items, limits), _terms(groups, limits).work
    memory = one["global memory"] + one["copies"]
    busy = busy_items(limits) if _is_straight(items.nest) else total
    filling = memory * total + (one.work - memory) * busy
    return max(1, min(INT_MAX, round(filling / other))) if other else total


def _is_straight(nest: Nest) -> bool:
    """Whether iterations of sequential loops have no branches."""
    inside = [s for loop in sequential(nest.innermost.body) for _, s in walk(loop.body)]
    parts = (e for s in inside for x in stmt_exprs(s) for e in walk_expr(x))
    choosing = any(
        isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||")) for e in parts
    )
    return not choosing and not any(isinstance(s, If) for s in inside)


def _is_of_data(nest: Nest) -> bool:
    """Whether more than the caller's sizes and the parallel loops says how often the sequential
    loop runs."""
    (loop,) = sequential(nest.innermost.body)
    known = {*nest.parallel, *_sizes(nest)}
    return any(not names(e) <= known for e in (loop.lo, loop.hi))


def _sizes(nest: Nest) -> set[str]:
    """Scalars of the caller's that keep their value."""
    scalars = {p.name for p in nest.function.objects if not p.array}
    return scalars - writes(nest.function.body)


def _by_mean(
    nest: Nest,
    results: Expr,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    named: Thresholds,
) -> list[tuple[Version, Tiled]]:
    """Those for results of as many terms as data say; none where nothing tells the mean."""
    terms, found = all_terms(nest), list[tuple[Version, Tiled]]()
    if terms is None or limits.warp < 2:
        return []

    def mean(least: int) -> Expr:
        return Bin(">=", terms, Bin("*", results, named("suff_intra_par", least)))

    groups = _by_groups(nest, limits, options)
    if groups is not None:
        few = Bin("<", results, named("suff_outer_par", filling_groups(limits, groups.sizes["Tx"])))
        about = "a group for each result, of many terms"
        found.append(_version("groups", about, groups, (few, mean(groups.sizes["Tx"])), limits))
    tiles = _by_tiles_of_rows(nest, limits, options)
    for least, tile in tiles:
        about = "a group for a tile of results, which has their terms in local memory"
        label = f"stream, {tile.sizes['Ty']} results"
        found.append((Version(label, about, tile.derivation, (mean(least),)), tile))
    lanes = None if tiles or groups is None else _by_groups(nest, limits, options, limits.warp)
    if lanes is not None:
        about = "a group for each result, of the work-items that run in lockstep"
        found.append(_version("lanes", about, lanes, (mean(limits.costs.lane_terms),), limits))
    if not found:
        return []
    items = one_nest(nest, given, None, limits, options, strict=False)
    return [*found, _version("items", "a work-item for each result, in order", items, (), limits)]


def _by_tiles_of_rows(nest: Nest, limits: Limits, options: Options) -> list[tuple[int, Tiled]]:
    """A group for a tile of results, of fewer where each has many terms, where that is legal; from
    how many terms on average on."""
    costs, usual = limits.costs, KINDS["csr-stream"].tiles
    group = min(usual.Ty * usual.Tx, limits.group_size)
    most = min(usual.Tk, 1 << (limits.local_bytes // LOCAL_SHARE).bit_length() - 1)
    wide = {"Ty": max(1, group // usual.Tx), "Tx": usual.Tx, "Tk": most}
    items = min(usual.Tx * 4, group)
    long = {"Ty": max(1, group // 2 // items), "Tx": items, "Tk": max(1, most // 2)}
    found = list[tuple[int, Tiled]]()
    for least, sizes in ((costs.long_rows, long), (costs.stream_terms, wide)):
        derive = partial(one_nest, nest, sizes, "csr-stream", limits, options, strict=True)
        done = possible(derive, *REFUSALS)
        if isinstance(done, LoopxformError):
            return []
        found.append((least, done))
    return found


def all_terms(nest: Nest) -> Expr | None:
    """How many terms all results have together at most: what an array has that these are read
    along, one after the other; None where no size of the caller's says so."""
    (loop,) = sequential(nest.innermost.body)
    shapes = {p.name: p.shape for p in nest.function.objects if len(p.shape) == 1}
    sizes = _sizes(nest)
    for _, s in walk(loop.body):
        for x in (x for e in stmt_exprs(s) for x in loads(e) if x.array in shapes):
            extent = shapes[x.array][0]
            along = poly(x.index[0]) == poly(Var(loop.var))
            if along and extent is not None and is_readable(extent) and names(extent) <= sizes:
                return extent
    return None


def _by_groups(nest: Nest, limits: Limits, options: Options, items: int = 0) -> Tiled | None:
    """A group for each result, of so many work-items, where that is legal, and neighbours in the
    group read neighbours in memory."""
    given = {"Tx": items} if items else {}
    if _refused(nest, str(items or KINDS["reduce"].tiles.Tx), options, "strided"):
        return None
    inside = with_guards_inside(nest)
    if not choices(inside, None, limits, kept=False, few=True, automatic=())[0]:
        return None
    derive = partial(one_nest, nest, given, "reduce", limits, options, strict=True)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _by_chunks(nest: Nest, limits: Limits, options: Options, long: bool) -> Tiled | None:
    """A nest of chunks, and one that combines their results: of `long` chunks where groups compute
    a result each, or work-items in the lanes of vectors."""
    costs, terms = limits.costs, KINDS["reduce" if long else "1-d"].tiles.Tk
    if _refused(nest, str(costs.item_terms), options):
        return None
    split = replace(options, Rk=costs.chunk_tiles if long else -(-costs.item_terms // terms))
    derive = partial(in_chunks, nest, {}, None, limits, split, strict=False)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _refused(nest: Nest, size: str, options: Options, strided: str = "") -> bool:
    """Whether the sequential loop cannot be reduced in parts."""
    allowed = "reassociate" if options.reassociate else ""
    (loop,) = sequential(nest.innermost.body)
    return bool(Rfactor(loop.var, size, allowed, strided).check(nest.function))


def time_text(done: Tiled, limits: Limits) -> str:
    """What the model says of a nest: in microseconds, or in segments that caches serve; nothing is
    known where a reduction is split."""
    if "Rk" in done.sizes or limits.warp < 2:
        return ""
    time, scale = time_of(done, limits), microseconds(limits)
    return f"{float(time):.4g} segments" if scale is None else f"{float(time) * scale:.4g} us"


def time_of(done: Tiled, limits: Limits) -> Fraction:
    """What the model says of the time of a nest, in segments."""
    return _terms(done, limits).time


def _terms(done: Tiled, limits: Limits) -> Cost:
    """What the model says of the nest."""
    sizes = {**KINDS[done.recipe].tiles.numbers, **done.sizes}
    return cost(Estimate(done.nest, done.choice, sizes, limits, done.staged))
