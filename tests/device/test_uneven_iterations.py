"""Loops that data end: work-items stand in rectangles, or go on with their next iteration."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deriving import c
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

IMAGE = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++)"
COUNTS = "int n, int m, int a[restrict n][m]"
EACH = "for (int i = 0; i < n; i++)"
LISTS = "int n, const float x[restrict n], const int m[restrict n], float y[restrict n]"

CASES = {
    "escape": c(
        f"{IMAGE} {{ float u = 3.0f * x / m - 2, v = 2.0f * y / n - 1, p = 0, q = 0; int k = 0; "
        "while (k < 20 && p * p + q * q < 4) { float t = p * p - q * q + u; q = 2 * p * q + v; "
        "p = t; k++; } a[y][x] = k; }",
        COUNTS,
    ),
    "break": c(
        f"{IMAGE} {{ int s = x ^ y, k; for (k = 0; k < 30; k++) {{ if (s == 1) break; "
        "s = s & 1 ? 3 * s + 1 : s / 2; } a[y][x] = k; }",
        COUNTS,
    ),
}
SIZES = tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (8, 8), (17, 33), (5, 70)))

SEVERAL = {
    "collatz": (
        c(
            f"{EACH} {{ long s = i + 1; int k = 0; while (s != 1) {{ "
            "s = s & 1 ? 3 * s + 1 : s / 2; k++; } y[i] = k; }",
            LISTS,
        ),
        True,
    ),
    "lengths": (
        c(
            f"{EACH} {{ float s = x[i]; for (int k = 0; k < (m[i] & 63); k++) s = 0.5f * s + k; "
            "y[i] = s; }",
            LISTS,
        ),
        True,
    ),
    "not-a-number": (
        c(
            f"{EACH} {{ float s = x[i], t = s - s; int k = 0; if (m[i] & 1) t = t / t; "
            "while (!(s * s >= 400) && k < 40) { s = 1.5f * s + t; k++; } y[i] = k; }",
            LISTS,
        ),
        True,
    ),
    "condition": (
        c(
            f"{EACH} {{ y[i] = 0; if (m[i] & 2) {{ float s = x[i]; int k = 0; "
            "do { s = s * s - 1; k++; } while (s < 9 && k < 30); y[i] = k; } }",
            LISTS,
        ),
        True,
    ),
    "break": (CASES["break"], True),
    "escape": (CASES["escape"], False),
}
"""With whether work-items take several iterations without being asked to."""
AROUND = tuple({"n": n} for n in (0, 1, 2, 23, 24, 25, 49, 200))


@pytest.mark.device
@pytest.mark.parametrize("items", [256, 64, 32])
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str, items: int) -> None:
    limits = PROFILES["h100"]
    costs = replace(limits.costs, uneven_items=items, uneven_iterations=1)
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits=replace(limits, costs=costs))
    assert done.tiled.recipe == "naive"
    assert done.tiled.sizes["Ty"] * done.tiled.sizes["Tx"] == items
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert "% 8" in plan.source  # neighbours are 8 columns of 4 rows
    assert_runs_agree(plan, CSource(text=CASES[name]), SIZES, 3)


def test_rows_where_all_take_as_long() -> None:
    text = c(
        f"{IMAGE} {{ int s = 0; for (int k = 0; k < 9; k++) s ^= k * x; a[y][x] = s; }}", COUNTS
    )
    done = lx.loads(text)["f"].tile(limits="h100", recipe="naive")
    assert "% 8" not in emit.kernel(done.derivation).source


def several(text: str, run: int) -> Plan:
    """A work-item for 3 iterations, in groups of 8, asked every so many iterations of the loop."""
    sizes = {"Ry": 3, "Tk": run, "Tx": 8} | ({"Ty": 1} if "[m]" in text else {})
    done = lx.loads(text)["f"].tile(contract=False, recipe="uneven", **sizes)
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("run", [1, 4])
@pytest.mark.parametrize("name", SEVERAL)
def test_several_as_the_c_program(name: str, run: int) -> None:
    text, _ = SEVERAL[name]
    sizes = SIZES if "[m]" in text else AROUND
    assert_runs_agree(several(text, run), CSource(text=text), sizes, 3)


@pytest.mark.oclgrind
def test_several_in_the_simulator() -> None:
    """Without races, and nothing read that was not set, or beyond the end of an array."""
    for name in ("lengths", "condition", "break"):
        p = several(SEVERAL[name][0], 4)
        other = {"m": 3} if name == "break" else {}
        runs = [arguments(p.start, {"n": n, **other}, 5) for n in (1, 7, 25)]
        report, after = simulate_all(p, runs)
        assert report.clean, (name, report.findings[0])
        for args, found in zip(runs, after):
            Program(p.start).run(args)
            assert not compare({n: args[n] for n in found}, found), name


@pytest.mark.device
@pytest.mark.parametrize("name", SEVERAL)
def test_where_the_model_says_so(name: str) -> None:
    """Lengths that have nothing to do with those of neighbours: in two versions, by how many
    iterations there are."""
    text, chosen = SEVERAL[name]
    limits = PROFILES["h100"]
    limits = replace(limits, costs=replace(limits.costs, uneven_iterations=4, uneven_run=4))
    least = {"suff_outer_par_0": 40} if chosen else {}
    done = lx.loads(text)["f"].offload(contract=False, limits=limits, threshold=least)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert len(plan.kernels) == (2 if chosen else 1)
    sizes = SIZES if "[m]" in text else tuple({"n": n} for n in (39, 40, 3000))
    assert_runs_agree(plan, CSource(text=text), sizes, 3)
