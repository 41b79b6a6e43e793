"""Sums of several rows at a time, each in order: on PoCL, to the last bit of the C program, and in
the simulator."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

POCL = PROFILES["pocl"]
MATRIX = (
    "int n, int m, const float a[restrict n][m], const float x[restrict m], float y[restrict n]"
)
ROW = "for (int i = 0; i < n; i++) { float s = 1; for (int j = 0; j < m; j++) %s y[i] = s; }"
PROGRAMS = {
    "sums": (MATRIX, ROW % "s += a[i][j];"),
    "matrix-times-vector": (MATRIX, ROW % "s += a[i][j] * x[j];"),
    "element": (
        MATRIX,
        "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < m; j++) y[i] += a[i][j]; }",
    ),
    "two-sums": (
        MATRIX.replace("float", "double"),
        "for (int i = 0; i < n; i++) { double s = 0, t = 0; "
        "for (int j = 0; j < m; j++) { s += a[i][j]; t = t * 0.5 + a[i][j] * x[j]; } "
        "for (int j = m - 1; j >= 0; j--) s -= a[i][j] * t; y[i] = s - t; }",
    ),
    "conditions": (MATRIX, ROW % "if (a[i][j] > 0) s += a[i][j]; else s *= 0.5f;"),
    "triangle": (
        MATRIX.replace("[m]", "[n + m]", 1),
        (ROW % "s += a[i][j] * 3;").replace("j < m", "j <= i"),
    ),
    "planes": (
        "int n, int m, const float a[restrict 3][n][m], float y[restrict 3][n]",
        "for (int p = 0; p < 3; p++) for (int i = 0; i < n; i++) { float s = p; "
        "for (int j = 0; j < m; j++) s += a[p][i][j]; y[p][i] = s; }",
    ),
    "scaled": (
        MATRIX.replace("y[restrict n]", "y[restrict n][m]"),
        "for (int i = 0; i < n; i++) { float s = 1, t = 0; "
        "for (int j = 0; j < m; j++) s += a[i][j]; "
        "float mean = s / m; for (int j = 0; j < m; j++) t += (a[i][j] - mean) * x[j]; "
        "for (int j = 0; j < m; j++) y[i][j] = (a[i][j] - mean) * t; }",
    ),
    "in-place": (
        MATRIX.replace("const float a", "float a"),
        "for (int i = 0; i < n; i++) { float s = 0, t = 0; "
        "for (int j = 0; j < m; j++) s += a[i][j]; "
        "for (int j = 0; j < m; j++) a[i][j] -= s; "
        "for (int j = m - 1; j >= 0; j--) t += a[i][j] * x[j]; y[i] = t; }",
    ),
}
OTHERS = {
    "stores": ROW % "{ s += a[i][j]; y[i] = s; }",
    "short": (ROW % "s += a[i][j];").replace("j < m", "j < 3"),
}


def plan_of(params: str, body: str, limits: Limits) -> Plan:
    done = lx.loads(f"void f({params}) {{ {body} }}\n")["f"].tile(limits=limits, contract=False)
    assert done.tiled.recipe == "lanes"
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_as_the_c_program(name: str) -> None:
    params, body = PROGRAMS[name]
    plan = plan_of(params, body, POCL)
    sizes = tuple(
        {"n": n, "m": m} for n, m in ((1, 1), (15, 3), (16, 17), (127, 8), (128, 33), (257, 5))
    )
    assert_runs_agree(plan, CSource(text=f"void f({params}) {{ {body} }}\n"), sizes, 3)


@pytest.mark.device
@pytest.mark.optimised
def test_optimised_rows() -> None:
    params, body = PROGRAMS["matrix-times-vector"]
    source = CSource(text=f"void f({params}) {{ {body} }}\n")
    assert_runs_agree(plan_of(params, body, POCL), source, ({"n": 300, "m": 131},), 4)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["matrix-times-vector", "two-sums", "in-place"])
def test_rows_without_races(name: str) -> None:
    limits = replace(POCL, costs=replace(POCL.costs, joint_rows=2))
    plan = plan_of(*PROGRAMS[name], limits)
    given = [arguments(plan.start, {"n": n, "m": m}, 5) for n, m in ((1, 2), (17, 3), (32, 1))]
    assert_clean_and_right(plan, given)


def test_kernel(golden: Golden) -> None:
    golden.check(plan_of(*PROGRAMS["matrix-times-vector"], POCL).source)


@pytest.mark.parametrize("name", OTHERS)
def test_rows_that_are_summed_up_one_at_a_time(name: str) -> None:
    """Sums that are stored for each term, or of few terms."""
    done = lx.loads(f"void f({MATRIX}) {{ {OTHERS[name]} }}\n")["f"].tile(limits=POCL)
    assert "for (int i = i_v" not in emit.kernel(done.derivation).source
