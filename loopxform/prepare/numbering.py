"""Sequential loops of a nest numbered from 0, in their order, so that tiles can be made of them.

    for (v = y - 2; v <= y + 2; v++) S(v)     -> for (v = 0; v < 5; v++) S(y - 2 + v)
    for (k = n - 1; k >= 0; k--) s += S(k)    -> for (k = 0; k < n; k++) s += S(n - 1 - k)

A window around an iteration is then as long for all of a group, and moves with its iterations.
Tiles are made of loops that count upwards; of those that count down only reductions are worth it.
"""

from __future__ import annotations

from loopxform.analysis.verdict import judge
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For
from loopxform.ir.visit import names, resolve, walk
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.transforms import Derivation, Normalise
from loopxform.transforms.edges.bounds import trips_to


def renumbered(derivation: Derivation, parallel: list[str]) -> Derivation:
    """The sequential loops inside the `parallel` ones, where tiles can be made of them then."""
    (site,) = resolve(derivation.function, parallel[-1])
    inside = [s for _, s in walk(site.loop.body) if isinstance(s, For) and not s.live_out]
    wanted = {s.var for s in inside if _is_window(s, parallel)}
    down = {s.var for s in inside if _counts_down(s)}
    for v in judge(derivation.function, inlined=True, at=site.path) if down else ():
        wanted |= {v.var} & down if v.parallel == "reduction" else set()
    for step in (Normalise(s.var) for s in inside if s.var in wanted):
        if not step.check(derivation.function):
            derivation = derivation.then(step)
    return derivation


def _is_window(loop: For, parallel: list[str]) -> bool:
    """Whether it starts elsewhere in each iteration of a parallel loop, and always has as many
    iterations, known in advance."""
    trips = trips_to(loop, loop.hi)
    return bool(names(loop.lo) & set(parallel)) and trips is not None and trips.value is not None


def _counts_down(loop: For) -> bool:
    return (value_of(loop.step) or 1) < 0 and not has_few_iterations(loop)
