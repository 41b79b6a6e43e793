"""Attention in one kernel: nests of scores, a softmax of each row, and weighted values, where sums
may be in another order.

The step `online-softmax` says when that is legal, `model.attention` which tile fits a device. For
values of more components, and where there are too few tiles, the nests are as they were; so they
are where there is room for the scores: three kernels of tiles take less time (docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import For, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loops, perfect_nest, resolve, writes
from loopxform.model.attention import AttentionTile, tiles
from loopxform.offload.fused_stages import runs
from loopxform.offload.program_state import Part, Program
from loopxform.recipes.deriving import Work
from loopxform.recipes.version_choice import Version
from loopxform.targets.target import Limits
from loopxform.transforms import Assume, Derivation, Index32, OnlineSoftmax

NESTS = 3
TITLE = "Attention in one kernel"
ABOUT = "attention in one kernel"


def in_one_kernel(program: Program, limits: Limits) -> None:
    """Gives each three nests that are attention a kernel for each width of values."""
    for nests in [*_triples(program)]:
        if not all(program.allowing(program.options, x).reassociate for x in nests):
            continue
        each = _bytes(program.fn, nests)
        scores = (limits.expanded_mib << 20) // each
        for tile in tiles(limits, each):
            if not _fused(program, tuple(x.var for x in nests), tile, limits, scores):
                break


def attention_versions(nests: Derivation, limits: Limits) -> list[tuple[Version, Part]]:
    """Versions of a program of three nests that are one kernel, for each width of values, with what
    the host asks for each, and what becomes of the loops; none where the nests are no attention."""
    loops_of = [s for s in nests.function.body if isinstance(s, For)]
    names, out = tuple(s.var for s in loops_of), list[tuple[Version, Part]]()
    for tile in tiles(limits, _bytes(nests.function, loops_of)) if len(names) == NESTS else ():
        step = step_of(names, tile, limits)
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


def step_of(
    nests: tuple[str, ...], tile: AttentionTile, limits: Limits, scores: int = 0
) -> OnlineSoftmax:
    """The step, where there are as many tiles as compute units, or as those of any device, and more
    `scores` than so many."""
    groups = str(limits.compute_units or limits.costs.units)
    return OnlineSoftmax(nests, *tile.words, groups, str(scores or ""), "reassociate")


def _triples(program: Program) -> Iterator[tuple[For, ...]]:
    """Three nests that follow one another."""
    for run in runs(program, ()):
        for n in range(len(run) - NESTS + 1):
            nests = tuple(resolve(program.fn, var)[0].loop for var in run[n : n + NESTS])
            if any(isinstance(s, For) for x in nests[1:2] for s in perfect_nest(x)[-1].body):
                yield nests


def _bytes(fn: Function, nests: Sequence[For]) -> int:
    """Those of an element of the largest type that is stored."""
    kinds = symbols(fn)
    return max((kinds[n].bytes for n in writes(tuple(nests)) if n in kinds), default=4)


def _fused(
    program: Program, nests: tuple[str, ...], tile: AttentionTile, limits: Limits, scores: int
) -> bool:
    """Gives nests one kernel, where the host finds that the tile serves; False where it cannot."""
    first = resolve(program.fn, nests[0])[0].loop
    lines = tuple(n for v in nests for n in program.lines(resolve(program.fn, v)[0].loop))
    known = {s.loop.var for s in loops(program.fn)}
    w = Work(program.derivation.titled(TITLE), {})
    if not w.attempt(step_of(nests, tile, limits, scores)):
        return False
    outer = next(s.loop for s in loops(w.fn) if s.loop.var not in known)
    w.attempt(Index32(outer.var))
    inside = [x.var for v in nests for x in perfect_nest(resolve(program.fn, v)[0].loop)]
    program.derivation = w.derivation
    left = {s.loop.var for s in loops(program.fn)}
    program.nests = {var: nest for var, nest in program.nests.items() if var in left}
    about = f"{ABOUT}, tiles of {tile.text}"
    part = Part(outer.var, first.origin.loc, tuple(inside), "kernel", "", about=about, lines=lines)
    program.parts.append(part)
    return True
