"""Random functions of images of h x w elements, as they are and with stages in one kernel: the same
in the interpreter, and on a device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import Comparison
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

Shapes = Iterable[tuple[int, int]]


def assert_mean_the_same(fn: Function, after: Function, shapes: Shapes, seed: int) -> None:
    """In the interpreter, with foralls in a random order."""
    before, program = Program(fn), Program(after)
    for h, w in shapes:
        one = _filled(fn, h, w, seed)
        other = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in one.items()}
        before.run(one)
        program.run(other, order_seed=seed)
        read = one.keys() - {*fn.scratch}
        assert all(np.array_equal(one[k], other[k]) for k in read), (seed, h, w)


def assert_kernels_agree(text: str, shapes: Shapes, seed: int, **tile: tuple[int, ...]) -> None:
    """On a device, with what the C does, to the last bit."""
    done = lx.loads(text)["f"].offload(contract=False, **tile)  # type: ignore[arg-type]
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    both = Comparison(plan, CSource(text=text), choose(None))
    every = [both.run({"h": h, "w": w}, seed) for h, w in shapes]
    assert all(x.ok for x in every), (seed, [x.mismatches for x in every])
    assert sum(x.elements for x in every)


def _filled(fn: Function, h: int, w: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {"h": h, "w": w}
    for p in fn.params:
        if p.shape:
            shape = tuple(evaluate(e, {"h": h, "w": w}) for e in p.shape if e is not None)
            given[p.name] = rng.integers(0, 9, shape).astype(p.type.numpy)
    return given
