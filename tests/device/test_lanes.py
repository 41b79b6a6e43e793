"""Sums in the lanes of vectors, and columns, as devices run them that run work-items in turn."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

MATRIX = "int n, int m, const {0} a[restrict n][m], {0} s[restrict {1}]"
PROGRAMS = {
    "rows": (
        "lanes",
        MATRIX.format("long", "n"),
        "for (int i = 0; i < n; i++) { s[i] = 0; for (int j = 0; j < m; j++) s[i] += a[i][j]; }",
    ),
    "real-rows": (
        "lanes",
        "int n, int m, const signed char a[restrict n][m], float s[restrict n]",
        "for (int i = 0; i < n; i++) { float t = 1; "
        "for (int j = 0; j < m; j++) t += a[i][j]; s[i] = t; }",
    ),
    "conditions": (
        "lanes",
        MATRIX.format("short", "n"),
        "for (int i = 0; i < n; i++) { int t = 5, all = 1; for (int j = 1; j < m; j += 2) "
        "{ if (a[i][j] > 3) t -= a[i][j]; all = a[i][j] < 9000 && all; } s[i] = all ? t : -t; }",
    ),
    "extrema": (
        "lanes",
        MATRIX.format("int", "n"),
        "for (int i = 0; i < n; i++) { int low = a[i][0], high = a[i][0]; "
        "for (int j = 1; j < m; j++) { if (a[i][j] < low) low = a[i][j]; "
        "high = a[i][j] > high ? a[i][j] : high; } s[i] = high - low; }",
    ),
    "triangle": (
        "lanes",
        MATRIX.format("unsigned", "n"),
        "for (int i = 0; i < n; i++) { unsigned t = 0; "
        "for (int j = i; j < m; j++) t ^= a[i][j] + i; s[i] = t; }",
    ),
    "several-loops": (
        "lanes",
        "int n, int m, const signed char a[restrict n][m], double s[restrict n], "
        "double y[restrict n][m]",
        "for (int i = 0; i < n; i++) { double t = 0, u = 0; for (int j = 0; j < m; j++) "
        "t += a[i][j]; for (int j = 0; j < m; j++) u += (a[i][j] - t) * 2; s[i] = u; "
        "for (int j = 0; j < m; j++) y[i][j] = a[i][j] - t; }",
    ),
    "one-result": (
        "lanes",
        "int n, int m, const long a[restrict n], long s[restrict 1]",
        "for (int i = 0; i < n; i++) s[0] += a[i] * m;",
    ),
    "columns": (
        "columns",
        MATRIX.format("float", "m"),
        "for (int j = 0; j < m; j++) { s[j] = 0; for (int i = 0; i < n; i++) s[j] += a[i][j]; }",
    ),
    "columns-of-planes": (
        "columns",
        "int n, int m, const float a[restrict 5][n][m], float s[restrict 5][m], int k",
        "for (int p = 0; p < 5; p++) for (int j = 0; j < m; j++) { float t = 1, u = k; "
        "for (int i = 0; i < n; i++) { t = t * 0.5f + a[p][i][j]; u -= a[p][i][j] * t; } "
        "s[p][j] = t + u; }",
    ),
    "columns-twice": (
        "columns",
        "int n, int m, const int a[restrict n][3][m], int s[restrict m]",
        "for (int j = 0; j < m; j++) { int t = 0; for (int i = 0; i < n; i++) { int u = i; "
        "for (int p = 0; p < 3; p++) u ^= a[i][p][j]; t += u; } s[j] = t; }",
    ),
}


@cache
def planned(case: str) -> tuple[str, Plan]:
    recipe, params, body = PROGRAMS[case]
    text = f"void f({params}) {{ {body} }}"
    (routine,) = lx.loads(text)
    options = Options(reassociate=recipe == "lanes")
    done = tile(routine.function, {}, limits=PROFILES["pocl"], options=options)
    assert recipe in [done.recipe, *(x.recipe for x in done.rest)]
    return text, emit.kernel(done.derivation, fp=SEPARATE)


def sizes_of(plan: Plan, n: int, m: int) -> dict[str, int]:
    every = {"n": n, "m": m, "k": 3}
    return {p.name: every[p.name] for p in plan.start.params if not p.array}


@pytest.mark.parametrize(("rows", "unrolled"), [(8, True), (3, True), (1, False)])
def test_rows_of_columns_that_are_read_together(rows: int, unrolled: bool) -> None:
    """As many as are asked for, of loops that are not known to have fewer."""
    _, params, body = PROGRAMS["columns"]
    for inside, several in ((body, unrolled), (body.replace("i < n", "i < 2"), False)):
        (routine,) = lx.loads(f"void f({params}) {{ {inside} }}")
        done = tile(routine.function, {"Ry": rows}, "columns", PROFILES["pocl"])
        steps = [str(r.step) for r in done.derivation.records]
        assert (f"unroll i {rows}" in steps) == several, steps


@pytest.mark.device
@pytest.mark.parametrize("case", PROGRAMS)
def test_results_are_those_of_the_c_program(case: str, tmp_path: Path) -> None:
    """Of whole numbers, whose sums have every bit in any order."""
    text, plan = planned(case)
    file = tmp_path / "f.c"
    file.write_text(text)
    few, many = ((0, 0), (1, 1), (3, 31), (9, 32), (8, 257)), ((2, 513), (300, 65), (40, 70000))
    pairs = (*few, (7, 255), (17, 256), (70, 33), *many)
    sizes = (sizes_of(plan, *pair) for pair in (pairs[:-1] if "triangle" in case else pairs))
    assert_runs_agree(plan, CSource(str(file)), sizes, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", PROGRAMS)
def test_no_race_in_the_simulator(case: str) -> None:
    _, plan = planned(case)
    pairs = ((1, 1), (5, 37), (9, 3))
    given = [arguments(plan.start, sizes_of(plan, *x), 3) for x in pairs]
    assert_clean_and_right(plan, given)


@pytest.mark.device
@pytest.mark.optimised
@pytest.mark.parametrize("case", ["real-rows", "columns"])
def test_optimised_vectors(case: str) -> None:
    text, plan = planned(case)
    assert "LX_SIMD_32" in plan.source
    sizes = (sizes_of(plan, *pair) for pair in ((37, 129), (300, 1025)))
    assert_runs_agree(plan, CSource(text=text), sizes, 4)
