"""Random contractions: the steps that lead to one product mean the same as the nest, and so do the
kernels. Every failure names its seed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from random_contractions import contraction

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.ir.visit import reads
from loopxform.recipes.tile import tile
from loopxform.runtime.schedule import launched, not_known
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, Dispatch, Record, Unfold
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

H100 = PROFILES["h100"]
TINY = replace(
    H100,
    compute_units=1,
    group_size=16,
    registers=40,
    warp=4,
    warp_tile=(2, 2),
    smaller_tiles=(),
    packed_tiles=(),
    costs=replace(H100.costs, launch=0),
)
"""Groups of 4 x 4 work-items, of which one fills the device: one product pays for small sizes."""

QUICK = 2
"""Seeds of every run; the slow sweep has those up to MANY."""

MANY = 42


def unfolding(derivation: Derivation) -> list[Record]:
    """The steps to one product, of the first variant that has them; none where no variant has."""
    for r in derivation.records:
        if isinstance(r.step, Dispatch) and (first := r.step.variants[0].derivation) is not None:
            return unfolding(first)
    made = any(isinstance(r.step, Unfold) for r in derivation.records)
    wanted = "One product of matrices"
    return [r for r in derivation.records if r.stage == wanted] if made else []


def same(seed: int, expected: dict[str, Any], fn: Function, args: dict[str, Any]) -> None:
    """`fn` computes what is expected, with foralls in order and in another."""
    for order in (None, seed):
        found = copy.deepcopy(args)
        Program(fn).run(found, order_seed=order)
        assert not compare(expected, found), f"seed {seed}"


def holds(fn: Function, sizes: dict[str, int]) -> bool:
    return all(evaluate(e, sizes) for e in fn.assumes)


def check(seed: int) -> Iterator[str]:
    """What was seen."""
    drawn = contraction(Random(seed))
    (fn,) = parse_file("f.c", text=drawn.text).unit.functions
    derivation = tile(fn, {}, None, TINY).derivation
    args = dict(arguments(fn, drawn.sizes, seed))
    expected = copy.deepcopy(args)
    Library(CSource(text=drawn.text), [fn]).run("f", expected)
    for r in unfolding(derivation):
        yield "steps"
        if holds(r.result, drawn.sizes):
            yield "meant the same"
            same(seed, expected, r.result, args)
    plan = emit.kernel(derivation, fp=SEPARATE)
    found = copy.deepcopy(args)
    execute(plan, found, seed=seed)
    assert not compare(expected, found), f"seed {seed}:\n{drawn.text}"
    numbers = [n for n, _ in launched(plan, drawn.sizes, not_known)]
    if any(x.endswith("_m") for n in numbers for x in reads(plan.kernels[n].function.body)):
        yield "run as one product"


@pytest.mark.parametrize("seeds", [
    range(QUICK),
    *(pytest.param(range(n, n + 10), marks=pytest.mark.slow) for n in range(QUICK, MANY, 10)),
], ids=str)  # fmt: skip
def test_the_results_are_those_of_the_c_program(seeds: range) -> None:
    seen = {what for seed in seeds for what in check(seed)}
    assert seen == {"steps", "meant the same", "run as one product"}
