"""Random pipelines of images of different scales, with clamps and borders: what the step
`tile-stages` accepts means the same in the interpreter, and as a kernel on a device.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random

import pytest
from images import assert_kernels_agree, assert_mean_the_same
from random_pyramids import pyramid

import loopxform as lx
from loopxform.errors import TransformError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function, If
from loopxform.ir.visit import loops, walk
from loopxform.prepare.perfect_nest import told_apart
from loopxform.transforms import Derivation, TileStages

SHAPES = ((1, 1), (3, 2), (2, 9), (5, 11), (16, 8), (19, 23))

BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8)))
"""Twenty programs each, of the first some."""


def tiled(fn: Function, stages: int, rng: random.Random) -> Function | None:
    """With some of its last stages in tiles; None where that is refused."""
    start = told_apart(Derivation(fn))
    nests = [s.loop.var for s in loops(start.function) if len(s.path) == 1][-stages:]
    last = rng.choice((len(nests), len(nests), rng.randint(1, len(nests))))
    sizes = (str(rng.randint(1, 9)), str(rng.randint(1, 9)))
    for first in range(max(0, last - rng.randint(2, 6)), last - 1):
        step = TileStages(tuple(nests[first:last]), sizes, str(rng.randint(1, 24)))
        try:
            return start.then(step).function
        except TransformError:
            continue
    return None


def stands_in(fn: Function, h: int, w: int) -> bool:
    """Whether the kernel runs."""
    (asked,) = ([s.cond for _, s in walk(fn.body) if isinstance(s, If)][:1],)
    return all(evaluate(e, {"h": h, "w": w}) for e in asked)


@pytest.mark.parametrize("block", BLOCKS)
def test_tiled_stages_mean_the_same(block: int) -> None:
    accepted, ran = 0, 0
    for seed in range(block * 20, block * 20 + (20 if block else 4)):
        text, stages = pyramid(seed)
        fn = lx.loads(text)["f"].function
        after = tiled(fn, stages, random.Random(seed + 1))
        if after is None:
            continue
        accepted += 1
        assert_mean_the_same(fn, after, SHAPES, seed)
        ran += sum(stands_in(after, h, w) for h, w in SHAPES)
    assert accepted >= (8 if block else 1)
    assert ran >= (20 if block else 2)


SEEDS = (1, 4, 9, *(pytest.param(n, marks=pytest.mark.slow) for n in range(20, 32)))


@pytest.mark.device
@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_of_pyramids(seed: int) -> None:
    text, _ = pyramid(seed)
    rng = random.Random(seed)
    tile = (rng.randint(2, 9), rng.randint(4, 16), rng.choice((8, 16, 32)))
    assert_kernels_agree(text, SHAPES, seed, tile_stages=tile)
