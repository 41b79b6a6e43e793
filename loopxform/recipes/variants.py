"""A nest tiled in several shapes, where nobody knows the sizes: large tiles for many of them,
smaller ones where large tiles would leave compute units of the device without work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.ir.nodes import For
from loopxform.ir.visit import Path, at, perfect_nest
from loopxform.model.waves import Tiling
from loopxform.prepare.parallel_band import Nest
from loopxform.transforms import Derivation, Few


def in_shapes(
    nest: Nest,
    found: list[Tiling],
    units: int,
    tiled: Callable[[Nest, Tiling], Derivation],
) -> Derivation:
    """The derivation with a version of the nest for each shape, the largest first, if there are
    several: `tiled` maps one of them. Raises what that raises, and TransformError."""
    if len(found) == 1:
        return tiled(nest, found[0])
    texts = tuple(str(t.shape) for t in found)
    step = Few(nest.parallel[0], str(units), texts)
    derivation = nest.derivation.titled("Many tiles, or few").then(step)
    for n, t in enumerate(found):
        derivation = tiled(_version(nest, derivation, _path(nest.path, n, len(found))), t)
    return derivation


def _path(path: Path, n: int, count: int) -> Path:
    """Where the step `few` puts the version for a shape."""
    above = (-1,) * (count - 1 - n)
    return (*path, *above, 0) if n else (*path, *above)


def _version(nest: Nest, derivation: Derivation, path: Path) -> Nest:
    loop = at(derivation.function, path)
    assert isinstance(loop, For)
    loops = perfect_nest(loop)[: len(nest.parallel)]
    return replace(nest, derivation=derivation, parallel=tuple(x.var for x in loops), path=path)
