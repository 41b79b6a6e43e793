"""A nest tiled in two shapes, where nobody knows the sizes: large tiles for many of them, small
ones where large tiles would leave compute units of the device without work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.nodes import For
from loopxform.ir.visit import Path, at, perfect_nest
from loopxform.recipes.extents import amount
from loopxform.recipes.limits import Limits
from loopxform.recipes.nest import Nest
from loopxform.recipes.one_nest import Tiled, one_nest, trips
from loopxform.recipes.rounds import at_once, smaller
from loopxform.recipes.sizes import NAMES, Options
from loopxform.transforms import Derivation, Few


def in_two_shapes(done: Tiled, given: Mapping[str, int], limits: Limits, options: Options) -> Tiled:
    """The nest of `done`, which is tiled, with a version in smaller tiles for sizes that have few
    large ones; as it is where it needs none, or cannot have it."""
    nest, sizes = done.nest, done.sizes
    if None not in trips(nest).values() or not (limits.compute_units and done.fitted):
        return done
    small = smaller(done.choice, done.fitted.needs, sizes, limits)
    if small is None or set(given) & {*NAMES}:
        return done
    tiles = {d.loop: amount(d.factors, sizes) for d in done.choice.dims}
    step = Few(
        nest.parallel[0],
        ",".join(str(tiles.get(v, 1)) for v in nest.parallel),
        str(at_once(done.fitted.needs, sizes, limits)),
    )
    try:
        both = nest.derivation.titled("Few tiles, or many").then(step)
        large = one_nest(_branch(nest, both, -1), given, "register", limits, options, strict=True)
        few = _branch(nest, large.derivation, 0)
        other = one_nest(few, small, "register", limits, options, strict=True)
    except (TransformError, LimitError, UnsupportedC):
        return done
    return replace(large, derivation=other.derivation, reason=done.reason)


def _branch(nest: Nest, derivation: Derivation, branch: int) -> Nest:
    """The nest of a branch of the condition."""
    path: Path = (*nest.path, branch)
    loop = at(derivation.function, path)
    assert isinstance(loop, For)
    loops = perfect_nest(loop)[: len(nest.parallel)]
    return Nest(derivation, tuple(x.var for x in loops), path)
