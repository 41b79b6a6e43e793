"""Running values of rows, columns and segments, in every version: on a device, in the simulator."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import thresholds_of
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

MATRIX = "int m, int n, const int a[restrict m][n], int y[restrict m][n], int z[restrict m]"
CASES = {
    "rows": (
        "for (int r = 0; r < m; r++) { int s = 0; "
        "for (int j = 0; j < n; j++) { s += a[r][j]; y[r][j] = s; } z[r] = s; }",
        MATRIX,
    ),
    "first-and-last": (
        "for (int r = 0; r < m; r++) { int s = a[r][0], most = a[r][0]; y[r][0] = s; "
        "for (int j = 1; j < n; j++) { int v = a[r][j] * 3; s += v; if (v > most) most = v; "
        "y[r][j] = s - most; } z[r] = s + y[r][0]; }",
        MATRIX,
    ),
    "compaction": (
        "for (int r = 0; r < m; r++) { int s = 0; "
        "for (int j = n - 1; j >= 0; j--) if (a[r][j] > 3) y[r][s++] = j; z[r] = s; }",
        MATRIX,
    ),
    "columns": (
        "for (int i = 1; i < m; i++) for (int j = 0; j < n; j++) y[i][j] = y[i - 1][j] + a[i][j];",
        MATRIX,
    ),
    "integral-image": (
        "for (int i = 1; i < m; i++) for (int j = 1; j < n; j++) "
        "y[i][j] = a[i][j] + y[i - 1][j] + y[i][j - 1] - y[i - 1][j - 1];",
        MATRIX,
    ),
    "in-order": (
        "for (int r = 0; r < m; r++) { float s = 0; "
        "for (int j = 0; j < n; j++) { s = s * 0.5f + a[r][j]; y[r][j] = s; } z[r] = s; }",
        MATRIX.replace("int a", "float a").replace("int y", "float y").replace("int z", "float z"),
    ),
}
NUMBERS = (
    {},
    {"suff_group_par": 10**6, "suff_outer_par": 10**6, "suff_inner_par": 1},
    {"suff_group_par": 0, "suff_outer_par": 10**6, "suff_intra_par": 1},
    {"suff_group_par": 0, "suff_outer_par": 10**6, "suff_intra_par": 1, "suff_intra_par_2": 10**6},
    {"suff_group_par": 0, "suff_outer_par": 0, "suff_intra_par": 1, "suff_intra_par_2": 10**6},
)
"""Thresholds by kind, or by name: as the model has them; chunks; groups; lanes; tiles."""


def plan_of(case: str, numbers: dict[str, int], limits: Limits) -> Plan:
    body, params = CASES[case]
    f = lx.loads(f"void f({params}) {{ {body} }}\n")["f"]
    known = thresholds_of(f.offload(limits=limits, contract=False).derivation)
    kinds = {name: name.rpartition("_")[0] for name in known}
    asked = {n: numbers.get(n, numbers.get(kind, known[n])) for n, kind in kinds.items()}
    done = f.offload(limits=limits, contract=False, threshold=asked)
    return emit.kernel(done.derivation, fp=SEPARATE)


TILES = (("rows", 4), ("in-order", 4), ("first-and-last", 4))
QUICK = (("rows", 1), ("rows", 2), ("compaction", 3), ("columns", 1), ("in-order", 3), *TILES)
SIMULATED = (("compaction", 2), ("integral-image", 1))


def each(cases: Iterable[str], quick: tuple[tuple[str, int], ...]) -> list[Any]:
    """Every case with all thresholds: those that are not among the quick ones are slow."""
    every = itertools.product(cases, range(len(NUMBERS)))
    return [x if x in quick else pytest.param(*x, marks=pytest.mark.slow) for x in every]


@pytest.mark.device
@pytest.mark.parametrize(("case", "number"), each(CASES, QUICK))
def test_as_the_c_program(case: str, number: int) -> None:
    body, params = CASES[case]
    plan = plan_of(case, NUMBERS[number], PROFILES["h100"])
    sizes = tuple({"m": m, "n": n} for m, n in ((1, 1), (3, 2305), (70, 130), (300, 7), (2, 9000)))
    assert_runs_agree(plan, CSource(text=f"void f({params}) {{ {body} }}\n"), sizes, 3)


IN_TURN = replace(
    PROFILES["pocl"],
    compute_units=2,
    costs=replace(PROFILES["pocl"].costs, scan_item_terms=32),
)
"""A CPU on which chunks are short."""


@pytest.mark.device
@pytest.mark.parametrize(
    "case",
    [c if c in ("rows", "columns") else pytest.param(c, marks=pytest.mark.slow) for c in CASES],
)
def test_by_work_items_that_run_in_turn(case: str) -> None:
    """Rows and chunks of few rows have a work-item each, and no groups that work together."""
    body, params = CASES[case]
    plan = plan_of(case, {}, IN_TURN)
    assert "barrier" not in plan.source
    sizes = tuple({"m": m, "n": n} for m, n in ((1, 1), (3, 67), (2, 3000), (130, 33)))
    assert_runs_agree(plan, CSource(text=f"void f({params}) {{ {body} }}\n"), sizes, 3)


@pytest.mark.device
@pytest.mark.parametrize(
    "body",
    [
        "{ s += a[i]; y[i] = s; }",
        "{ if (a[i] > s) s = a[i]; y[i] = s; }",
        "if (a[i] > 3) y[s++] = i;",
    ],
)
def test_whole_arrays_in_chunks_of_work_items(body: str) -> None:
    head = "int n, const int a[restrict n], int y[restrict n]"
    text = f"void f({head}) {{ int s = 0; for (int i = 0; i < n; i++) {body} }}\n"
    done = lx.loads(text)["f"].offload(limits="pocl", contract=False)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert "barrier" not in plan.source
    assert_runs_agree(plan, CSource(text=text), ({"n": n} for n in (1, 2303, 2305, 30001)), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("case", "number"), each(("compaction", "integral-image", "in-order"), SIMULATED)
)
def test_without_races(case: str, number: int) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    costs = replace(PROFILES["generic"].costs, scan_terms=12, combined_alone=2, scan_item_terms=4)
    limits = replace(PROFILES["generic"], costs=costs, group_size=8, warp=4)
    plan = plan_of(case, NUMBERS[number], limits)
    given = [
        arguments(plan.start, {"m": m, "n": n}, 5) for m, n in ((0, 1), (1, 1), (3, 13), (2, 30))
    ]
    assert_clean_and_right(plan, given)


SEGMENTS = """
void f(int m, int n, const int p[restrict m + 1], const int a[restrict n], int y[restrict n])
{ for (int r = 0; r < m; r++) { int s = 0;
    for (int k = p[r]; k < p[r + 1]; k++) { s += a[k]; y[k] = s; } } }
"""


@pytest.mark.device
@pytest.mark.parametrize("least", [0, 1000, 10**6])
def test_segments(least: int) -> None:
    """Groups, lanes and items; where the starts do not ascend, as the program does."""
    f = lx.loads(SEGMENTS)["f"]
    numbers = {"suff_intra_par_0": least, "suff_intra_par_1": 0 if least == 1000 else least}
    call = f.offload(limits="h100", threshold=numbers).compile()
    rng = np.random.default_rng(least)
    for m, n in ((1, 5), (3, 7000), (200, 900)):
        for ascend in (True, False):
            p = rng.integers(0, n + 1, m + 1).astype(np.int32)
            args = {"m": m, "n": n, "p": np.sort(p) if ascend else p}
            args |= {"a": rng.integers(0, 9, n).astype(np.int32), "y": np.zeros(n, np.int32)}
            expected = copy.deepcopy(args)
            Program(f.function).run(expected)
            call(**args)
            assert np.array_equal(args["y"], expected["y"]), (m, n, ascend)


CELLS = """
void f(int m, int n, const int c[restrict m], const int t[restrict m], const double x[restrict n],
       double y[restrict n])
{ for (int r = 0; r < m; r++) { long own = c[r];
    for (int k = 0; k < t[r]; k++) { long other = c[(r + k) % m];
      for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) y[own + i] += x[own + i] * x[other + j]; } } }
"""


@pytest.mark.device
def test_cells() -> None:
    """Rows of one length: a nest of cells and their elements; where they overlap, cells in turn."""
    f = lx.loads(CELLS)["f"]
    done = f.offload(limits="pocl")
    assert {("r", "i"), ("i_2",)} <= {p.loops for p in done.parts}
    call = done.compile()
    rng = np.random.default_rng(7)
    m, n = 12, 130
    for last in (119, 110, -1):
        c = (10 * np.arange(m) + rng.integers(0, 2, m)).astype(np.int32)
        c[-1] = c[3] - 8 if last < 0 else last
        args = {"m": m, "n": n, "c": c, "t": rng.integers(0, 4, m).astype(np.int32)}
        args |= {name: rng.integers(0, 9, n).astype(np.float64) for name in "xy"}
        expected = copy.deepcopy(args)
        Program(f.function).run(expected)
        call(**args)
        assert np.array_equal(args["y"], expected["y"]), last
