"""Sums of columns from tiles that are copied ahead of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Dispatch
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

MATRIX = "int n, int m, const {0} a[restrict n][m], {0} s[restrict m]"
PROGRAMS = {
    "columns": (
        MATRIX.format("float"),
        "for (int j = 0; j < m; j++) { s[j] = 1; for (int i = 0; i < n; i++) s[j] += a[i][j]; }",
    ),
    "matrix-transposed-times-vector": (
        "int n, int m, const double a[restrict n][m], const double x[restrict n], "
        "double s[restrict m]",
        "for (int j = 0; j < m; j++) { double t = 0; for (int i = 0; i < n; i++) "
        "t += a[i][j] * x[i]; s[j] -= t; }",
    ),
    "planes": (
        "int n, int m, const float a[restrict 3][n][m], float s[restrict 3][m]",
        "for (int p = 0; p < 3; p++) for (int j = 0; j < m; j++) { float t = 1, u = 0; "
        "for (int i = 0; i < n; i++) { t = t * 0.5f + a[p][i][j]; u -= a[p][i][j] * t; } "
        "s[p][j] = t + u; }",
    ),
    "bytes-from-the-second-row": (
        MATRIX.format("signed char"),
        "for (int j = 1; j < m; j++) { int t = 3; for (int i = 1; i < n; i++) "
        "t ^= a[i][j] * i; s[j] = t; }",
    ),
    "from-the-last-column": (
        MATRIX.format("int"),
        "for (int j = m - 1; j >= 0; j--) { int t = 0; for (int i = 0; i < n; i++) "
        "t = t * 3 + a[i][j]; s[j] = t; }",
    ),
    "every-second-row": (
        MATRIX.format("long"),
        "for (int j = 0; j < m; j++) { long t = 0; for (int i = 0; i < n; i += 2) "
        "t += a[i][j]; s[j] = t; }",
    ),
}
PAIRS = ((0, 0), (1, 1), (3, 31), (64, 32), (65, 33), (256, 4), (257, 36), (330, 7), (700, 40))


@cache
def planned(case: str) -> tuple[str, Plan]:
    params, body = PROGRAMS[case]
    text = f"void f({params}) {{ {body} }}"
    (routine,) = lx.loads(text)
    done = tile(routine.function, {}, "prefetched", limits=PROFILES["h100"])
    assert any(isinstance(s, For) and s.asynchronous for _, s in walk(done.function.body))
    return text, emit.kernel(done.derivation, fp=SEPARATE)


def sizes_of(plan: Plan, n: int, m: int) -> dict[str, int]:
    every = {"n": n, "m": m}
    return {p.name: every[p.name] for p in plan.start.params if not p.array}


@pytest.mark.device
@pytest.mark.parametrize("case", PROGRAMS)
def test_results_have_every_bit_of_the_c_program(case: str, tmp_path: Path) -> None:
    text, plan = planned(case)
    file = tmp_path / "f.c"
    file.write_text(text)
    sizes = (sizes_of(plan, *pair) for pair in PAIRS)
    assert_runs_agree(plan, CSource(str(file)), sizes, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", PROGRAMS)
def test_no_race_in_the_simulator(case: str) -> None:
    _, plan = planned(case)
    given = [arguments(plan.start, sizes_of(plan, *x), 3) for x in ((1, 1), (9, 33), (330, 5))]
    assert_clean_and_right(plan, given)


def versions(case: str, profile: str, **options: bool) -> list[str]:
    """Those of a program on a device."""
    params, body = PROGRAMS[case]
    (routine,) = lx.loads(f"void f({params}) {{ {body} }}")
    done = tile(routine.function, {}, limits=PROFILES[profile], options=Options(**options))
    steps = [r.step for r in done.derivation.records if isinstance(r.step, Dispatch)]
    return list(dict.fromkeys(v.label.split(",")[0] for s in steps for v in s.variants))


def test_few_columns_are_copied_ahead_where_copies_pass_the_registers() -> None:
    assert versions("columns", "h100") == ["prefetched", "items"]
    assert versions("columns", "h100", reassociate=True) == ["chunks", "prefetched", "items"]
    assert versions("matrix-transposed-times-vector", "h100") == ["prefetched", "items"]
    assert versions("columns", "generic") == []
    assert versions("columns", "pocl") == []


@pytest.mark.parametrize("body", ["t += a[j][i];", "t += a[i][2*j];"], ids=["rows", "apart"])
def test_what_is_not_side_by_side_is_not_copied_ahead(body: str) -> None:
    (routine,) = lx.loads(
        "void f(int n, const float a[restrict n][n], float s[restrict n]) { "
        "for (int j = 0; j < n / 2; j++) { float t = 0; for (int i = 0; i < n; i++) "
        f"{body} s[j] = t; }} }}"
    )
    done = tile(routine.function, {}, "prefetched", limits=PROFILES["h100"])
    assert done.recipe == "naive"
