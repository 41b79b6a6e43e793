"""Versions of a loop whose iterations hold parallel loops:

    forall i < n: { for j < m: A(i, j);  for j < m: B(i, j) }
      n >= suff_outer_par_0               items    a work-item runs an iteration, in order
      n * min(m, Tx) >= suff_intra_par_1  groups   a group of Tx work-items runs an iteration, they
                                                   share the loops inside
      else                                flat     forall i, j: A;  forall i, j: B

Arrays of an iteration lie in the local memory of its group where they fit, which the host asks. All
of an iteration must be shared: what a single work-item of a group would run alone, a work-item each
runs for many iterations at once. (Rotendahl and Larsen, section 2.4: V0, V1, and what is flattened
further.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from loopxform.errors import LoopxformError, TransformError, UnsupportedC
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import Path, declared, resolve
from loopxform.prepare.only_nest import only_nest
from loopxform.prepare.parallel_band import Nest, prepare_at, sequential, with_own_elements
from loopxform.recipes.bounded_arrays import bounded_arrays, longest
from loopxform.recipes.coalesced import coalesced
from loopxform.recipes.deriving import Work
from loopxform.recipes.group_versions import versions_of
from loopxform.recipes.grouped_nest import IN_LOCAL_MEMORY, IN_STEP, Grouped, counted
from loopxform.recipes.in_step import (
    in_local_memory,
    left_loops,
    quick_loops,
    takes_long,
    unroll_in_parts,
    with_terms_apart,
)
from loopxform.recipes.loops_apart import in_nests
from loopxform.recipes.neighbouring_reads import along_terms
from loopxform.recipes.one_pass import in_one_pass
from loopxform.recipes.register_versions import in_registers
from loopxform.recipes.row_tiles import in_row_tiles
from loopxform.recipes.summed_chunks import in_summed_chunks
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import choice
from loopxform.recipes.versions import REFUSALS
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, possible, thresholds_of

ONE_ITEM_EACH = ("naive", "elementwise", "vectors", "1-d")
"""Recipes in which a work-item runs an iteration, in order, or several."""

ON_CPUS = ("lanes", "columns", "cache-block")
WITHOUT_REUSE = (*ONE_ITEM_EACH, *ON_CPUS, "transposition", "exchange", "reduce")
"""Recipes that groups for iterations compete with: others read data once for many work-items."""


PARTS = 8
"""Where arrays take all of the local memory, partial results take one part of so many."""


def grouped(
    fn: Function,
    path: Path,
    limits: Limits,
    options: Options,
    *,
    whole: bool = True,
    in_one: bool = False,
) -> Grouped | None:
    """The loop at `path` with a group for each iteration, in a derivation that begins with `fn`;
    with those perfectly nested in it `in_one`, if asked for. None where that is not legal, or,
    where the `whole` iteration is to be shared, leaves work-items without work. A nest of one sum
    has versions of its own (`versions`)."""
    if limits.vector or _in_turn(fn, path, limits, options) is not None:
        return None
    nest = possible(partial(prepare_at, Derivation(fn), path, apart=False), *REFUSALS)
    if isinstance(nest, LoopxformError):
        return None
    whole_nest = coalesced(nest) if in_one else nest
    return None if whole_nest is None else _grouped(whole_nest, limits, options, whole)


def _in_turn(fn: Function, path: Path, limits: Limits, options: Options) -> Tiled | None:
    """A work-item for each iteration, on a device that runs those of a group in turn, where its
    loops read what follows one another: sharing them would only tear that apart."""
    items = items_alone(fn, path, limits, options) if limits.warp == 1 else None
    along = items is not None and any(along_terms(items.nest))
    return items if along and items and items.recipe in (*ONE_ITEM_EACH, "lanes") else None


def _grouped(nest: Nest, limits: Limits, options: Options, whole: bool) -> Grouped | None:
    found = _of_groups(nest, limits, options, whole)
    if found is None:
        return None
    tiles = in_row_tiles(nest, limits, options, found.least_in_registers)
    once = in_one_pass(nest, found, limits, options)
    return replace(found, tiles=tuple(tiles), once=once)


def _of_groups(nest: Nest, limits: Limits, options: Options, whole: bool) -> Grouped | None:
    tiled = possible(partial(one_nest, nest, {}, "group", limits, options, strict=True), *REFUSALS)
    if isinstance(tiled, LoopxformError):
        return _in_step(nest, limits, options) if whole else None
    if _is_one_sum(nest, tiled):
        return None
    found = counted(nest, tiled)
    if found is None:
        return None
    if whole and _left(found.tiled, max(found.items, limits.costs.short_loop)):
        return _in_step(nest, limits, options)
    return _with_local_memory(found, nest, limits, options)


def _left(tiled: Tiled, most: int) -> list[For]:
    """The long loops of an iteration that no work-items share."""
    mapped = resolve(tiled.function, tiled.nest.parallel[-1])[0].loop
    return list(left_loops(mapped.body, most))


def _is_one_sum(nest: Nest, tiled: Tiled) -> bool:
    """Whether all that is shared is the one loop in the body."""
    inside = sequential(nest.innermost.body)
    return len(inside) == 1 and tiled.choice.shared == ((inside[0].var,),)


# ---------------------------------------------------------------- tiled nests


def with_groups(fn: Function, plain: Tiled, limits: Limits, options: Options) -> Tiled:
    """The only nest of a function as it is tiled (`plain`, in a derivation that begins with `fn`),
    or a choice between that and versions with a group for each iteration."""
    several = bool(plain.rest)
    versioned = plain.copied or thresholds_of(plain.derivation)
    site = possible(partial(only_nest, fn), UnsupportedC)
    reused = any(x.recipe not in WITHOUT_REUSE for x in (plain, *plain.rest))
    if isinstance(site, UnsupportedC) or reused:
        return plain
    if not several and (versioned or plain.recipe not in ONE_ITEM_EACH):
        return plain
    items = _in_turn(fn, site.path, limits, options) if several else None
    found = grouped(fn, site.path, limits, options) if items is None else None
    if items is None and (
        found is None or (not several and plain.nest.parallel != found.tiled.nest.parallel)
    ):
        return plain
    if items is None:
        items = items_alone(fn, site.path, limits, options) if several else plain
    flat = plain.derivation if several else None
    versions, named = versions_of(fn, site.loop, found, flat, items, limits, options)
    if len(versions) == 1:
        return plain if found is None else found.kinds.get(versions[0].label, plain)
    start = Derivation(fn).titled("Versions").tried(choice(site.loop.var, versions, named))
    return plain if isinstance(start, TransformError) else replace(plain, derivation=start)


def nest_with_groups(nest: Nest, plain: Tiled, limits: Limits, options: Options) -> Tiled:
    """One of the nests of a function as it is tiled (`plain`), or a choice between that and
    versions with a group for each iteration."""
    if limits.vector or plain.recipe not in ONE_ITEM_EACH:
        return plain
    alone, earlier = nest.alone(), len(thresholds_of(nest.derivation))
    found = _grouped(alone, limits, options, whole=True)
    if found is None:
        return plain
    fn, loop = alone.function, alone.outermost
    items = one_nest(alone, {}, None, limits, options, strict=False)
    versions, named = versions_of(fn, loop, found, None, items, limits, options, earlier)
    if len(versions) == 1:
        return plain
    step = choice(loop.var, versions, named)
    derived = nest.derivation.titled("Versions").tried(step)
    return plain if isinstance(derived, TransformError) else replace(plain, derivation=derived)


def items_alone(fn: Function, path: Path, limits: Limits, options: Options) -> Tiled | None:
    """A work-item for each iteration, where that is possible."""
    nest = possible(partial(prepare_at, Derivation(fn), path), *REFUSALS)
    if isinstance(nest, LoopxformError):
        return None
    nest = with_own_elements(nest)
    derive = partial(one_nest, nest, {}, None, limits, options, strict=False)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


# ---------------------------------------------------------------- local memory


def _with_local_memory(found: Grouped, nest: Nest, limits: Limits, options: Options) -> Grouped:
    """With slices that an iteration uses again in registers or in local memory, where that has room
    for longer ones, and arrays of an iteration."""
    found = replace(found, rows=tuple(in_registers(nest, limits, options)))
    bounded = bounded_arrays(nest, limits.local_bytes // limits.costs.resident_groups, rows=False)
    if bounded is None:
        return found
    derive = partial(one_nest, bounded.nest, {}, "group", limits, options, strict=True)
    local = possible(derive, *REFUSALS)
    if isinstance(local, LoopxformError) or _beside(local) - _beside(found.tiled):
        return found
    if found.rows and longest(found.rows[-1].fits) >= longest(bounded.fits):
        return found
    return replace(found, local=local, fits=bounded.fits)


def _beside(mapped: Tiled) -> set[str]:
    """Arrays of an iteration that have found no room in a group."""
    return {s.name for s in mapped.function.body if isinstance(s, Decl) and s.shape}


def _in_step(nest: Nest, limits: Limits, options: Options) -> Grouped | None:
    """The same where sums must be in order: the work-items of a warp run these loops in step, from
    local memory, which has room for several such groups, and for more where arrays are small."""
    costs, found = limits.costs, None
    counts = (costs.in_step_groups_at_least, costs.in_step_groups, costs.in_step_groups_at_most)
    rooms = {
        count: what
        for count, what in zip(counts, IN_STEP)
        if count >= costs.in_step_groups_at_least
    }
    for count in sorted(rooms, reverse=True):
        made = _of_a_warp(nest, count, limits, options) if limits.warp > 1 else None
        if made is not None:
            label = f"groups, {rooms[count]} in local memory"
            found = replace(made, label=label if made.fits else IN_LOCAL_MEMORY, little=found)
            if not made.fits:
                break
    if found is None or not found.fits:
        return found
    longer = in_summed_chunks(nest, limits, options)
    return replace(found, chunked=longer, apart=in_nests(nest, limits, options))


def _of_a_warp(nest: Nest, groups: int, limits: Limits, options: Options) -> Grouped | None:
    """With arrays that leave room for so many groups, and for parts of reductions beside them."""
    room = limits.local_bytes // groups
    for most in (room, room - room // PARTS):
        found = _in_room(nest, most, limits, options)
        if found and not _beside(found.tiled) - declared(nest.function.body).keys():
            return found
    return None


def _in_room(nest: Nest, room: int, limits: Limits, options: Options) -> Grouped | None:
    """With arrays of so many bytes."""
    found = _in_a_warp(nest, room, limits, options)
    left = [] if found is None else _left(found.tiled, limits.costs.short_loop)
    if found is not None and takes_long(found.tiled.function, left):
        apart = with_terms_apart(nest, [x.var for x in left])
        found = _in_a_warp(apart, room, limits, options)
        left = [] if found is None else _left(found.tiled, limits.costs.short_loop)
    if found is None or takes_long(found.tiled.function, left):
        return None
    if not in_local_memory(found.tiled.function, left):
        return None
    w = Work(found.tiled.derivation, {})
    count, shared = limits.costs.in_step_unrolled, found.tiled.choice.shared
    unroll_in_parts(w, (*(x.var for x in left), *quick_loops(w.fn, shared)), count)
    local = replace(found.tiled, derivation=w.derivation)
    return replace(found, tiled=local, local=local, busy=found.items * count, alone=True)


def _in_a_warp(nest: Nest, room: int, limits: Limits, options: Options) -> Grouped | None:
    """A group of a warp for each iteration, with slices that it uses again in so much of local
    memory, in bytes."""
    bounded = bounded_arrays(nest, room, rows=True)
    if bounded is None or not bounded.buffers:
        return None
    sizes = {"Ty": 1, "Tx": limits.warp}
    derive = partial(one_nest, bounded.nest, sizes, "group", limits, options, strict=True)
    tiled = possible(derive, *REFUSALS)
    found = None if isinstance(tiled, LoopxformError) else counted(bounded.nest, tiled)
    return None if found is None else replace(found, fits=bounded.fits)
