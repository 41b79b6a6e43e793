"""Softmax of rows that are too long for registers: a group reads each row twice, not three times.

The largest element and the sum of exponentials less that are found in one pass (step `online-sum`),
where sums may be in any order and the model says that it takes less time.
"""

from __future__ import annotations

from math import prod

from loopxform.errors import LoopxformError
from loopxform.ir.visit import resolve
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.grouped_nest import Grouped
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.versions import REFUSALS, time_of
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import OnlineSum, possible
from loopxform.transforms.reductions.softmax_rows import softmax_loops


def in_one_pass(nest: Nest, found: Grouped, limits: Limits, options: Options) -> Tiled | None:
    """The nest with a group for each row, as large as the `found` ones; None where that is no
    softmax, or would not be quicker."""
    pair = softmax_loops(nest.innermost.body)
    if pair is None or not options.reassociate or found.alone:
        return None
    if any(len(resolve(nest.function, var)) != 1 for var in pair):
        return None
    items = prod(found.tiled.sizes[n] for n in found.tiled.choice.group)
    w = Work(nest.derivation.titled("One pass over rows"), {})
    if not w.attempt(OnlineSum(*pair, str(items), "reassociate")):
        return None
    once = nest.of(w.derivation)
    sizes = {n: found.tiled.sizes[n] for n in found.tiled.choice.group}
    done = possible(lambda: one_nest(once, sizes, "group", limits, options, strict=True), *REFUSALS)
    if isinstance(done, LoopxformError):
        return None
    return done if time_of(done, limits) < time_of(found.tiled, limits) else None
