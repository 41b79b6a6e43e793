"""Marks that steps leave on loops for the text of kernels: whether they still fit, after the steps
that came later."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import loops
from loopxform.transforms.latency import (
    pipeline,
    register_pipeline,
    speculate,
    store_vectors,
    turn_tile,
)
from loopxform.transforms.latency.serpentine import Serpentine
from loopxform.transforms.mapping import block_cyclic, look_back, simd, tensorise


def stale(fn: Function) -> Iterator[Obstacle]:
    """Why loops of `fn` cannot be what they are marked as (steps `pipeline`, `register-pipeline`,
    `speculate`, `store-vectors`, `turn-tile`, `simd`, `serpentine`, `look-back`, `block-cyclic` and
    `tensorise`)."""
    for site in loops(fn):
        if site.loop.chained and site.loop.level is not None:
            yield from look_back.obstacles(site)
        if site.loop.stages > 1:
            yield from pipeline.obstacles(fn, site)
        if site.loop.preloaded:
            yield from register_pipeline.obstacles(fn, site)
        if site.loop.speculated:
            yield from speculate.obstacles(fn, site)
        if site.loop.stores:
            yield from store_vectors.obstacles(fn, site)
        if site.loop.turned:
            yield from turn_tile.obstacles(fn, site)
        if site.loop.simd:
            yield from simd.obstacles(fn, site)
        if site.loop.tensor:
            yield from tensorise.obstacles(fn, site, site.loop.tensor)
        if site.loop.serpentine:
            yield from Serpentine(site.loop.var, str(site.loop.serpentine)).stale(site)
    yield from block_cyclic.stale(fn)
