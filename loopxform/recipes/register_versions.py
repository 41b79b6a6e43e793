"""Versions of a nest with a group for each iteration that keeps its rows in registers: one for each
size of groups and number of registers that the profile names (`row_registers`), where rows fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Function
from loopxform.ir.visit import declared
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.bounded_arrays import bounded_arrays
from loopxform.recipes.grouped_nest import Grouped, counted
from loopxform.recipes.row_registers import REGISTER, from_zero
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.versions import REFUSALS
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import possible


def in_registers(nest: Nest, limits: Limits, options: Options) -> Iterator[Grouped]:
    """The nest for rows of growing lengths; none where an array of an iteration is not kept so."""
    for text in limits.row_registers:
        items, words = map(int, text.split("x"))
        found = _in_groups_of(items, words, nest, limits, options)
        if found is not None:
            yield found
            if not found.fits:
                return


def _in_groups_of(
    items: int, words: int, nest: Nest, limits: Limits, options: Options
) -> Grouped | None:
    """With so many work-items for each iteration, and so many words of rows in each of them."""
    room = items * words * REGISTER
    bounded = bounded_arrays(nest, room, rows=True, multiple=items, least=REGISTER)
    if bounded is None or not bounded.buffers:
        return None
    sizes = {"Ty": 1, "Tx": items, "Rx": words}
    aligned = from_zero(bounded.nest)
    derive = partial(one_nest, aligned, sizes, "group", limits, options, strict=True)
    tiled = possible(derive, *REFUSALS)
    if isinstance(tiled, LoopxformError) or not _are_kept(tiled.function, bounded.buffers):
        return None
    found = counted(aligned, tiled)
    return None if found is None else replace(found, fits=bounded.fits, words=words)


def _are_kept(fn: Function, arrays: frozenset[str]) -> bool:
    """Whether work-items keep arrays in registers."""
    own = declared(fn.body)
    return all(own[name].space is None and len(own[name].shape) == 2 for name in arrays)
