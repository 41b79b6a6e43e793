"""Loops of the host whose nests are small: one group runs all steps as one kernel, and computes
what your C does; so do the kernels of each step where nests are large."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from deriving import c
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.runtime.schedule import launched, not_known
from loopxform.targets.profile import PROFILES
from loopxform.verify.cref import CSource

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


# ---------------------------------------------------------------- at random


def program(seed: int) -> str:
    """A loop over pivots, with updates of triangles, rows, columns and single elements by the
    pivot's; some carry scalars from step to step."""
    rng = random.Random(seed)
    parts = [
        "A[k][k] = sqrt(fabs(A[k][k])) + 1;",
        "for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k] + 2;",
        "for (int j = k; j < n; j++) A[k][j] = A[k][j] * 0.5 + b[k];",
        "for (int i = k + 1; i < n; i++) for (int j = k + 1; j <= i; j++) "
        "A[i][j] -= A[i][k] * A[j][k];",
        "for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) "
        "A[i][j] -= A[i][k] * A[k][j];",
        "for (int i = 0; i < k; i++) b[i] += A[i][k] * b[k];",
        "for (int i = k + 1; i < n; i++) b[i] -= A[i][k] * b[k];",
        "b[k] /= A[k][k] + 3;",
        "s = s * 0.25 + A[k][k];",
        "b[k] += s;",
    ]
    body = " ".join(rng.sample(parts, rng.randint(2, 6)))
    head = rng.choice(["for (int k = 0; k < n; k++)", "for (int k = 1; k < n - 1; k++)"])
    return f"double s = 1; {head} {{ {body} }} b[0] += s;"


@pytest.mark.device
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 24, 3))]
)
def test_random_pivots(first: int) -> None:
    sizes = [{"n": n, "m": n} for n in (8, 2, 0, 21)]
    for seed in range(first, first + 3):
        body = program(seed)
        p = mapped(body, random.Random(seed).choice([4, 8, 64]))
        assert_runs_agree(p, CSource(text=source(body)), sizes, seed, None)
