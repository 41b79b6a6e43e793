"""Random pipelines of images of different scales, with clamps and borders: what the step
`tile-stages` accepts means the same in the interpreter, and as a kernel on a device.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from random_pyramids import pyramid

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import TransformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function, If
from loopxform.ir.visit import loops, walk
from loopxform.prepare.perfect_nest import told_apart
from loopxform.runtime.selection import choose
from loopxform.transforms import Derivation, TileStages
from loopxform.verify.check_run import Comparison
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

SHAPES = ((1, 1), (3, 2), (2, 9), (5, 11), (16, 8), (19, 23))

BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8)))
"""Twenty programs each."""


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


def filled(fn: Function, h: int, w: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    arrays = {
        p.name: rng.integers(
            0, 9, tuple(evaluate(e, {"h": h, "w": w}) for e in p.shape if e is not None)
        ).astype(p.type.numpy)
        for p in fn.params
        if p.shape
    }
    return {"h": h, "w": w, **arrays}


def stands_in(fn: Function, h: int, w: int) -> bool:
    """Whether the kernel runs."""
    (asked,) = ([s.cond for _, s in walk(fn.body) if isinstance(s, If)][:1],)
    return all(evaluate(e, {"h": h, "w": w}) for e in asked)


@pytest.mark.parametrize("block", BLOCKS)
def test_tiled_stages_mean_the_same(block: int) -> None:
    accepted, ran = 0, 0
    for seed in range(block * 20, block * 20 + 20):
        text, stages = pyramid(seed)
        fn = lx.loads(text)["f"].function
        after = tiled(fn, stages, random.Random(seed + 1))
        if after is None:
            continue
        accepted += 1
        before, program = Program(fn), Program(after)
        for h, w in SHAPES:
            one = filled(fn, h, w, seed)
            other = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in one.items()}
            before.run(one)
            program.run(other, order_seed=seed)
            ran += stands_in(after, h, w)
            assert all(np.array_equal(one[k], other[k]) for k in one), (seed, h, w, text)
    assert accepted >= 8
    assert ran >= 20


SEEDS = (1, 4, 9, *(pytest.param(n, marks=pytest.mark.slow) for n in range(20, 60)))


@pytest.mark.device
@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_of_pyramids(seed: int) -> None:
    text, _ = pyramid(seed)
    rng = random.Random(seed)
    tile = (rng.randint(2, 9), rng.randint(4, 16), rng.choice((8, 16, 32)))
    done = lx.loads(text)["f"].offload(contract=False, tile_stages=tile)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    both = Comparison(plan, CSource(text=text), choose(None))
    found = [both.run({"h": h, "w": w}, seed) for h, w in SHAPES]
    assert all(x.ok for x in found), [x.mismatches for x in found]
    assert sum(x.elements for x in found)
