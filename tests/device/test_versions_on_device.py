"""Versions of nests on a device: what your C computes, whichever the host takes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from c_project import Compared, assert_all_same
from harness import assert_runs_agree
from versioned import CASES, SMALL, options, versioned

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.runtime.schedule import launched, not_known
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

EXACT = ("rows", "columns", "total", "place", "place-alone")
"""Those whose results do not depend on the order."""


def sizes(plan: Plan, rng: random.Random) -> Iterator[dict[str, int]]:
    """On both sides of each threshold (9 and 3 results, 70 terms), and what no tile divides."""
    names = [p.name for p in plan.start.objects if not p.array]
    near = (0, 1, 2, 3, 8, 9, 69, 70, 71)
    for _ in range(24):
        yield {n: rng.choice((*near, rng.randint(0, 300))) for n in names}


@pytest.mark.device
@pytest.mark.parametrize("whole", [False, True], ids=["tile", "offload"])
@pytest.mark.parametrize("case", EXACT)
def test_bit_identical_whichever_is_taken(case: str, whole: bool, tmp_path: Path) -> None:
    text, labels = CASES[case]
    file = tmp_path / "f.c"
    file.write_text(text)
    done = versioned(text).derivation
    if whole:
        (routine,) = lx.loads(text)
        done = offload(routine.function, {}, limits=SMALL, options=options()).derivation
    plan = emit.kernel(done, fp=SEPARATE)
    seed = 20251125
    every = list(sizes(plan, random.Random(seed)))
    print("seed", seed)
    assert_runs_agree(plan, CSource(str(file)), every, seed)
    taken = {number for now in every for number, _ in launched(plan, now, not_known)}
    assert taken == set(range(len(plan.kernels))), labels


@pytest.mark.slow
def test_the_host_in_c_takes_them_too(tmp_path: Path) -> None:
    """Silent although verbose: the device did it all."""
    programs = []
    for case in EXACT:
        text = CASES[case][0].replace(" f(", f" {case.replace('-', '_')}(")
        done = versioned(text).derivation
        plan = emit.kernel(done, fp=SEPARATE)
        every = [s for s in sizes(plan, random.Random(7)) if 0 not in s.values()]
        args = tuple(arguments(plan.start, s, 5) for s in every)
        programs.append(Compared(done, text, args))
    assert_all_same(tmp_path, programs, LOOPXFORM_HOST="never")
