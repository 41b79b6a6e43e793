"""Rows whose elements data name, with their updates in parallel too:

    forall r: for j: h[r][a[r][j]] += 1   ->   forall r: forall j: atomic h[r][a[r][j]] += 1

Few long rows leave most of a device idle where a work-item runs each in order.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.errors import LoopxformError
from loopxform.ir.visit import perfect_nest
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import AtomicUpdates, Parallelise, possible


def in_any_order(nest: Nest, limits: Limits, options: Options) -> Tiled | None:
    """The nest with its sequential loop in parallel, which does nothing but update elements; None
    where there is none such."""
    (loop,) = sequential(nest.innermost.body)
    if loop.var not in {x.var for x in perfect_nest(nest.outermost)}:
        return None
    order = "reassociate" if options.reassociate else ""
    after, refusal = nest.derivation.optional(AtomicUpdates(loop.var, order), Parallelise(loop.var))
    if refusal is not None:
        return None
    whole = replace(nest, derivation=after, parallel=(*nest.parallel, loop.var))
    done = possible(
        lambda: one_nest(whole, {}, None, limits, options, strict=False), LoopxformError
    )
    return done if isinstance(done, Tiled) else None
