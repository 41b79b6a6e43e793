"""Rows that are summed up in order, and longer than local memory:

    forall i < n: { for j < m: s += e(i, j);  ... }
 -> forall i < n (a group of a warp): { for (jj = 0; jj < m; jj += C) {
      e_term[C] in local memory;  forall j < C: e_term[j] = e(i, jj + j)
      for j < C (in step): s += e_term[j] };  the rest alike;  ... }

The work-items of a group compute the terms of a chunk, neighbours next to each other; then all of
them add these up, as `in_step` has it. What waits for memory hides behind other groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from loopxform.errors import LoopxformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import Bin, Const, Expr, For
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import declared, resolve
from loopxform.ir.visit import loops as every_loop
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.deriving import Work
from loopxform.recipes.grouped_nest import IN_CHUNKS, Grouped, counted
from loopxform.recipes.in_step import in_local_memory, left_loops, takes_long, unroll_in_parts
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import Version
from loopxform.recipes.versions import REFUSALS, time_text
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    BoundExtent,
    Distribute,
    Expand,
    NameTerms,
    Normalise,
    Split,
    Stripmine,
    possible,
)


def in_summed_chunks(nest: Nest, limits: Limits, options: Options) -> Grouped | None:
    """A nest with a group of a warp for each iteration, whose sums are taken in chunks; None where
    something else of an iteration would be left to a single work-item."""
    whole = _of_a_warp(nest, limits, options)
    found = None if whole is None else counted(nest, whole)
    if whole is None or found is None:
        return None
    combining = {x.var for x in _left(whole, limits)} - {
        x.loop.var for x in every_loop(nest.function)
    }
    in_order = [x.var for x in _left(whole, limits) if x.var not in combining]
    chunked = _with_chunks(nest, in_order, limits)
    mapped = None if chunked is None else _of_a_warp(chunked, limits, options)
    if mapped is None:
        return None
    sums = [x for x in _left(mapped, limits) if x.var not in combining]
    if takes_long(mapped.function, sums) or not in_local_memory(mapped.function, sums):
        return None
    w = Work(mapped.derivation, {})
    count = limits.costs.in_step_unrolled
    unroll_in_parts(w, [x.var for x in sums], count)
    done = replace(mapped, derivation=w.derivation)
    return replace(found, tiled=done, busy=found.items * count)


def of_summed_chunks(found: Grouped, guard: Sequence[Expr], limits: Limits) -> Version:
    """The version for rows of any length that keeps a group busy."""
    long = Bin(">=", found.inner, Const(found.busy))
    about = f"a group for each iteration, where {expr_text(long)}"
    cost = time_text(found.tiled, limits)
    return Version(IN_CHUNKS, about, found.tiled.derivation, (*guard, long), cost)


def _of_a_warp(nest: Nest, limits: Limits, options: Options) -> Tiled | None:
    sizes = {"Ty": 1, "Tx": limits.warp}
    derive = partial(one_nest, nest, sizes, "group", limits, options, strict=True)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _left(tiled: Tiled, limits: Limits) -> list[For]:
    """The long loops of an iteration that no work-items share."""
    mapped = resolve(tiled.function, tiled.nest.parallel[-1])[0].loop
    return list(left_loops(mapped.body, limits.costs.short_loop))


def _with_chunks(nest: Nest, loops: Sequence[str], limits: Limits) -> Nest | None:
    """The nest with chunks of the sums that loops take, and what is left of them apart; None where
    one of them is no sum."""
    w = Work(nest.derivation.titled("Sums in chunks"), {})
    size = limits.costs.in_step_chunk
    for var in loops:
        sites = resolve(w.fn, var)
        if len(sites) != 1 or value_of(sites[0].loop.lo) != 0:
            return None
        whole = f"{size}*(({expr_text(sites[0].loop.hi)})/{size})"
        known = {x.loop.var for x in every_loop(w.fn)}
        if not w.attempt(Split(var, whole)):
            return None
        w.derivation = told_apart(w.derivation)
        rest = [x.loop.var for x in every_loop(w.fn) if x.loop.var not in known]
        if len(rest) != 1 or not (_chunked(w, var, size) and _staged(w, rest[0], size)):
            return None
        w.derivation = told_apart(w.derivation)
    return nest.of(w.derivation) if loops else None


def _chunked(w: Work, var: str, size: int) -> bool:
    """Makes chunks of a loop that has a multiple of so many iterations."""
    if not w.attempt(NameTerms(var)):
        return False
    terms = declared(resolve(w.fn, var)[0].loop.body)
    chunks = Stripmine(var, str(size), outer_name(w.fn, var))
    apart = (*(Expand(t, (var,)) for t in terms), Distribute((var,), ()))
    return w.attempt(chunks, *apart, Normalise(f"{var}*", "body"))


def _staged(w: Work, var: str, size: int) -> bool:
    """Makes a chunk of a loop of fewer iterations."""
    if not w.attempt(Normalise(var), NameTerms(var)):
        return False
    terms = declared(resolve(w.fn, var)[0].loop.body)
    bounded = (BoundExtent(t, (str(size),)) for t in terms)
    return w.attempt(*(Expand(t, (var,)) for t in terms), *bounded, Distribute((var,), ()))
