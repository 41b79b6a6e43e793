"""Loops of the host whose nests are small: one group runs all steps as one kernel, and computes
what your C does; so do the kernels of each step where nests are large."""

from __future__ import annotations

import copy
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from c_project import assert_file_prints_the_same, require_opencl
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree, simulate_all
from random_host_steps import HEAD, random_steps

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.offload.one_group import ABOUT
from loopxform.offload.program import offload
from loopxform.runtime.schedule import launched, not_known
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEADS = "int n, int m, double A[restrict n][m], double b[restrict n + 1]"
CHOLESKY = (
    "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) "
    "A[i][j] -= A[i][k] * A[j][k]; A[i][j] /= A[j][j] + 3; } for (int k = 0; k < i; k++) "
    "A[i][i] -= A[i][k] * A[i][k]; A[i][i] = sqrt(fabs(A[i][i])) + 1; }"
)
CASES = {
    "cholesky": CHOLESKY,
    "lu": "for (int k = 0; k < n; k++) { for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k] + 2; "
    "for (int i = k + 1; i < n; i++) for (int j = k + 1; j < m; j++) "
    "A[i][j] -= A[i][k] * A[k][j]; }",
    "paths": "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    "A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];",
    "triangular-system": "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) "
    "b[i] -= A[i][j] * b[j]; b[i] /= A[i][i] + 2; }",
    "scalars-in-step": "double s = b[0], w = 1; for (int k = 1; k < n; k++) { double sum = 0; "
    "w = w * 0.5 + s; for (int i = 0; i < m; i++) sum += A[k][i] * A[k - 1][i]; s = sum / (1 + w); "
    "for (int i = 0; i < m; i++) A[k][i] += s * A[k - 1][i] + w; } b[0] = s;",
    "orthogonal": "for (int k = 0; k < n; k++) { double s = 0; for (int j = 0; j < m; j++) "
    "s += A[k][j] * A[k][j]; b[k] = sqrt(s); for (int j = 0; j < m; j++) A[k][j] /= b[k] + 1; "
    "for (int i = k + 1; i < n; i++) { double r = 0; for (int j = 0; j < m; j++) "
    "r += A[k][j] * A[i][j]; for (int j = 0; j < m; j++) A[i][j] -= A[k][j] * r; } }",
}
SIZES = [
    {"n": 9, "m": 9},
    {"n": 1, "m": 1},
    {"n": 0, "m": 0},
    {"n": 13, "m": 15},
    {"n": 40, "m": 40},
]
"""Steps of the last are kernels of their own."""


def mapped(body: str, items: int = 8) -> Plan:
    """A group of `items` work-items runs steps of fewer than 400 iterations."""
    (routine,) = lx.loads(source(body))
    costs = replace(PROFILES["generic"].costs, step_items=items, step_iterations=400)
    done = offload(routine.function, {}, replace(PROFILES["generic"], costs=costs))
    return emit.kernel(done.derivation, fp=SEPARATE)


@cache
def plan(case: str) -> Plan:
    return mapped(CASES[case])


def source(body: str) -> str:
    return "#include <math.h>\n" + c(body, HEADS)


def launches(p: Plan, sizes: dict[str, int]) -> int:
    return len([*launched(p, sizes, not_known)])


@pytest.mark.parametrize("case", CASES)
def test_one_launch_for_small_steps(case: str) -> None:
    assert launches(plan(case), SIZES[0]) == 1
    assert launches(plan(case), {"n": 500, "m": 500}) >= 499


@pytest.mark.parametrize("end", ["(4 - (n & 1 ? 0 : 1))", "600"], ids=["unreadable", "large"])
def test_kernels_for_each_step_alone(end: str) -> None:
    """Where no condition can say how many iterations a step has, or it always has many."""
    loops = f"for (int i = 0; i < {end}; i++)"
    steps = f"{loops} b[i] = A[0][{end} - 1 - i] + t; {loops} A[0][i] = b[i] * 0.5;"
    plan = mapped(f"for (int t = 0; t < n; t++) {{ {steps} }}")
    assert launches(plan, {"n": 700, "m": 700}) == 1400


@pytest.mark.device
@pytest.mark.parametrize("device", [None, "c"])
@pytest.mark.parametrize("case", CASES)
def test_what_your_c_computes(case: str, device: str | None) -> None:
    assert_runs_agree(plan(case), CSource(text=source(CASES[case])), SIZES, 3, device)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["cholesky", "scalars-in-step"])
def test_no_finding_in_the_simulator(case: str) -> None:
    rng = np.random.default_rng(5)
    every = [
        {**s, "A": rng.uniform(1, 2, (s["n"], s["m"])), "b": rng.uniform(1, 2, s["n"] + 1)}
        for s in SIZES[:1]
    ]
    report, _ = simulate_all(plan(case), every)
    assert report.clean, report.log


# ---------------------------------------------------------------- the emitted text


APARTS = {
    "for (int k = 0; k < n; k++)": True,
    "for (int k = m; k < n; k++)": True,
    "for (int k = 0; k < 7; k++)": False,
}


@pytest.mark.parametrize("loop", APARTS)
def test_something_stands_between_barriers_and_branches(loop: str) -> None:
    """PoCL has one work-item take a branch that follows a barrier for all, where the barrier may
    not be met: behind each of these stands `LX_APART()`."""
    p = mapped(f"{loop} {{ for (int i = 0; i < n; i++) b[i] += 1; b[n] += b[0]; }}")
    group = next(k.text for k in p.kernels if "for (int k" in k.text)
    barriers = re.findall(r"barrier\(.*?\);( LX_APART\(\);)?", group)
    assert len(barriers) > 1
    assert all(bool(apart) == APARTS[loop] for apart in barriers)
    assert ("#define LX_APART" in p.source) == APARTS[loop]


@pytest.mark.device
@pytest.mark.optimised
@pytest.mark.slow
@pytest.mark.parametrize("start", ["0", "n / 100"])
def test_loops_that_compilers_vectorise(start: str) -> None:
    """PoCL 3.1 computed garbage, or crashed, without `LX_APART`."""
    body = (
        f"for (int k = {start}; k < n; k++) {{ A[k][k] = A[0][k] + 2; for (int i = 0; i < m; i++) "
        "b[i] += A[k][k]; for (int j = k + 1; j < n; j++) A[k][j] += 1; "
        "for (int j = k + 1; j < n; j++) b[j] -= A[k][j]; }"
    )
    assert_runs_agree(mapped(body, 64), CSource(text=source(body)), [{"n": 19, "m": 19}], 3)


# ---------------------------------------------------------------- host code


CALLER = """
int main(void)
{
  static double A[30 * 30], b[31];
  for (int n = 0; n < 31; n += n < 3 ? 1 : 13) {
    for (int i = 0; i < 900; i++) A[i] = 1 + (i * 7 % 31) * 0.125;
    for (int i = 0; i < 31; i++) b[i] = 1 + i * 0.25;
    f(n, n, (void *)A, b);
    double sum = 0;
    for (int i = 0; i < 900; i++) sum = sum * 0.5 + A[i];
    for (int i = 0; i < 31; i++) sum += b[i];
    printf("%d %a\\n", n, sum);
  }
}
"""


@pytest.mark.opencl_sdk
@pytest.mark.slow
@pytest.mark.parametrize("case", ["cholesky", "scalars-in-step"])
def test_written_host_code(case: str, tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "s.c").write_text(f"#include <stdio.h>\n{source(CASES[case])}{CALLER}")
    done = lx.load(tmp_path / "s.c").offload(fp="strict")
    assert ABOUT in "".join(done.files.values()) or "suff_step_par" in "".join(done.files.values())
    assert_file_prints_the_same(tmp_path / "s.c", done, sanitized=True)


# ---------------------------------------------------------------- at random


def random_plan(seed: int) -> Plan | None:
    """Of the random loops of the host with this seed; None where no group runs all steps."""
    rng = random.Random(seed)
    items, repeating = rng.choice([4, 8, 64]), rng.choice([4, 64])
    profile = PROFILES[rng.choice(["generic", "pocl", "h100"])]
    more = {"step_items": items, "repeating_items": repeating, "step_iterations": 10**6}
    limits = replace(profile, costs=replace(profile.costs, **more))
    try:
        (routine,) = lx.loads(random_source(seed))
        done = offload(routine.function, {}, limits)
        plan = emit.kernel(done.derivation, fp=SEPARATE)
    except LoopxformError:
        return None
    return plan if any(ABOUT in x.about for x in done.parts) else None


def random_source(seed: int) -> str:
    return "#include <math.h>\n" + c(random_steps(seed), HEAD)


def sizes(*numbers: int) -> list[dict[str, int]]:
    return [{"n": n, "m": n, "p": min(n, 1)} for n in numbers]


@pytest.mark.device
@pytest.mark.parametrize(
    "seed", [2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 7, 8, 10, 16, 18, 20))]
)
def test_random_steps(seed: int) -> None:
    """On a device, and in the executor of groups, which finds races."""
    p = random_plan(seed)
    assert p is not None
    assert_runs_agree(p, CSource(text=random_source(seed)), sizes(0, 1, 2, 8, 9, 67), seed, None)
    for size in sizes(0, 2, 7):
        args = arguments(p.start, size, seed)
        expected = copy.deepcopy(args)
        Program(p.start).run(expected)
        execute(p, args, seed=seed)
        assert not compare({k: expected[k] for k in args}, args), size


@pytest.mark.oclgrind
@pytest.mark.slow
def test_random_steps_in_the_simulator() -> None:
    """One after another, in groups that are larger and smaller than the nests."""
    for seed in (2, 7):
        p = random_plan(seed)
        assert p is not None
        assert_clean_and_right(p, [arguments(p.start, s, seed) for s in sizes(1, 6)])
