"""Attention in one kernel: nests of scores, a softmax of each row, and weighted values, where sums
may be in another order.

The step `online-softmax` says when that is legal, `model.attention` which tile fits a device. For
values of more components, and where there are too few tiles, the nests are as they were; so they
are where there is room for the scores: three kernels of tiles take less time.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import For, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loops, perfect_nest, writes
from loopxform.model.attention import AttentionTile, tiles
from loopxform.offload.program_state import Part
from loopxform.recipes.deriving import Work
from loopxform.recipes.version_choice import Version
from loopxform.targets.target import Limits
from loopxform.transforms import Assume, Derivation, Index32, OnlineSoftmax

NESTS = 3
TITLE = "Attention in one kernel"
ABOUT = "attention in one kernel"


def attention_versions(nests: Derivation, limits: Limits) -> list[tuple[Version, Part]]:
    """Versions of a program of three nests that are one kernel, for each width of values, with what
    the host asks for each, and what becomes of the loops; none where the nests are no attention."""
    loops_of = [s for s in nests.function.body if isinstance(s, For)]
    names, out = tuple(s.var for s in loops_of), list[tuple[Version, Part]]()
    for tile in tiles(limits, _bytes(nests.function, loops_of)) if len(names) == NESTS else ():
        step = _step(names, tile, limits)
        if step.check(nests.function):
            return []
        asked = step.asked(nests.function)
        known = {s.loop.var for s in loops(nests.function)}
        w = Work(nests.titled(TITLE), {})
        w.do(*(Assume(condition_text(e)) for e in asked), step)
        outer = next(s.loop for s in loops(w.fn) if s.loop.var not in known)
        w.attempt(Index32(outer.var))
        about = f"{ABOUT}, tiles of {tile.text}"
        inside = tuple(x.var for x in perfect_nest(loops_of[1]))
        part = Part(outer.var, loops_of[0].origin.loc, inside, "kernel", "", about=about)
        out.append((Version(f"one kernel, width {tile.width}", about, w.derivation, asked), part))
    return out


def _step(nests: tuple[str, ...], tile: AttentionTile, limits: Limits) -> OnlineSoftmax:
    """The step, where there are as many tiles as compute units, or as those of any device."""
    groups = str(limits.compute_units or limits.costs.units)
    return OnlineSoftmax(nests, *tile.words, groups, reassociate="reassociate")


def _bytes(fn: Function, nests: Sequence[For]) -> int:
    """Those of an element of the largest type that is stored."""
    kinds = symbols(fn)
    return max((kinds[n].bytes for n in writes(tuple(nests)) if n in kinds), default=4)
