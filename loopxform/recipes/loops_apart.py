"""Rows that are summed up in order, in nests of their own:

    forall i < n: { for j: s += e(i, j);  for j: y[i, j] = f(s, x[i, j]) }
 -> s[n];  forall i: for j: s[i] += e(i, j);  forall i, j: y[i, j] = f(s[i], x[i, j])

A work-item sums up a row, from tiles that its group copies ahead, and each of those of a warp does
so at the same time: work-items that sum up the same row in step (`in_step`) take as many times
longer as a warp has of them. What a group would keep of a row is read again, and computed again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from loopxform.analysis.verdict import judge
from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Assign, For, Load
from loopxform.ir.visit import loops, perfect_nest, resolve, walk, writes
from loopxform.prepare.parallel_band import Nest, prepare_at, sequential
from loopxform.prepare.perfect_nest import in_parts
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.versions import REFUSALS
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, Scalarise, possible


def in_nests(nest: Nest, limits: Limits, options: Options) -> Tiled | None:
    """The nest with a nest for each loop of an iteration, which take tiles of rows that are copied
    ahead, or are parallel; None where one of them is neither."""
    inside = tuple(s.var for s in nest.innermost.body if isinstance(s, For))
    if len(inside) < 2 or not _store_alone(nest, inside):
        return None
    done = possible(partial(_tiled, nest, inside, limits, options), *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _store_alone(nest: Nest, inside: tuple[str, ...]) -> bool:
    """Whether loops that are not parallel store nothing in arrays."""
    verdicts = judge(nest.function, inlined=True, at=nest.path)
    parallel = {v.var for v in verdicts if v.parallel == "yes"}
    summing = (s for s in nest.innermost.body if isinstance(s, For) and s.var not in parallel)
    stored = (x for s in summing for _, x in walk(s.body) if isinstance(x, Assign))
    return parallel < {*inside, *nest.parallel} and not any(
        isinstance(x.target, Load) for x in stored
    )


def _tiled(nest: Nest, inside: tuple[str, ...], limits: Limits, options: Options) -> Tiled | None:
    """Raises UnsupportedC, TransformError, LimitError."""
    known = {s.loop.var for s in loops(nest.function)} - {*nest.parallel}
    apart = in_parts(nest.derivation.titled("A nest for each loop"), nest.parallel, inside)
    if apart is None:
        return None
    beside = (s for s in loops(apart.function) if s.path[:-1] == nest.path[:-1])
    done = list[Tiled]()
    for var in [s.loop.var for s in beside if s.loop.var not in known]:
        derivation = done[-1].derivation if done else apart
        derivation = _in_registers(derivation, var, len(nest.parallel))
        one = prepare_at(derivation, resolve(derivation.function, var)[0].path)
        done.append(one_nest(one, {}, None, limits, options, strict=False))
        if sequential(one.innermost.body) and not done[-1].staged:
            return None
    shown = next(x for x in done if x.staged)
    rest = tuple(x for x in done if x is not shown)
    return replace(shown, derivation=done[-1].derivation, rest=rest)


def _in_registers(derivation: Derivation, outermost: str, depth: int) -> Derivation:
    """Has the work-items of a nest compute in scalars what they sum up."""
    (site,) = resolve(derivation.function, outermost)
    around = perfect_nest(site.loop)[depth - 1]
    for name in sorted(writes(tuple(s for s in around.body if isinstance(s, For)))):
        step = Scalarise(name, around.var)
        derivation = derivation if step.check(derivation.function) else derivation.then(step)
    return derivation
