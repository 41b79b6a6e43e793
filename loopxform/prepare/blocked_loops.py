"""Loops that were blocked by hand, as the loops that they block: tiles are chosen for the device.

    for ii: for jj: for i in tile ii: for j in tile jj: S  ->  for i: for j: S

A loop over one tile moves outwards, past loops that it may change places with, until it is directly
in the loop over its tiles; scalars that are computed on its way are computed inside. What is
blocked for another purpose, with other statements between the loops, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, loops, names, resolve
from loopxform.prepare.perfect_nest import is_parallel, moved_in, told_apart
from loopxform.transforms import Derivation, Interchange, Unstripmine, possible
from loopxform.transforms.restructure.unstripmine import whole_range


def unblocked(derivation: Derivation) -> Derivation:
    """Each loop over tiles and the loop over one of them as one loop, as far as steps allow it."""
    if not any(_tiles(derivation.function)):
        return derivation
    before = done = told_apart(derivation.titled("Loops over tiles and the loops in them joined"))
    while True:
        found = next(filter(None, (_joined(done, chain) for chain in _tiles(done.function))), None)
        if found is None:
            return derivation if done is before else done
        done = found


def _tiles(fn: Function) -> Iterator[tuple[str, ...]]:
    """For each loop that runs over a tile of a loop around it: these two, and those between."""
    for site in loops(fn):
        chain = _only_loops(site.loop)
        for n, loop in enumerate(chain[1:], 1):
            if site.loop.var in names(loop.lo) and _is_tile(fn, site, loop):
                yield tuple(x.var for x in chain[: n + 1])


def _only_loops(loop: For) -> list[For]:
    """The loop, the only loop directly in it, the only one in that, ..."""
    chain = [loop]
    while len(inside := [s for s in chain[-1].body if isinstance(s, For)]) == 1:
        chain += inside
    return chain


def _is_tile(fn: Function, site: LoopSite, loop: For) -> bool:
    return not isinstance(whole_range(fn, site, loop), Obstacle)


def _joined(derivation: Derivation, chain: tuple[str, ...]) -> Derivation | None:
    """The first loop of the chain and the last as one, where steps allow it, and it is parallel if
    the tiles were."""
    made = possible(lambda: _moved_out(derivation, chain), TransformError)
    if not isinstance(made, Derivation):
        return None
    worse = is_parallel(derivation.function, chain[0]) and not is_parallel(made.function, chain[-1])
    return None if worse else made


def _moved_out(derivation: Derivation, chain: tuple[str, ...]) -> Derivation:
    """Raises TransformError."""
    for outer, inner in pairwise(chain):
        (site,) = resolve(derivation.function, outer)
        if len(site.loop.body) > 1:
            derivation = moved_in(derivation, outer, inner)
    tiles, *between, tile = chain
    swaps = (Interchange(v, tile) for v in reversed(between))
    return derivation.run((*swaps, Unstripmine(tiles, tile)))
