"""Programs that read a copy of an array in another layout: what the user's C computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from c_project import (
    Compared,
    assert_all_same,
    assert_same,
    caller_of,
    project_of,
    require_opencl,
    run_app,
)
from deriving import start
from harness import arrays_after, assert_runs_agree, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.transforms import Derivation, step
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program


@dataclass(frozen=True)
class Case:
    """A program, the arrays in another layout, and the steps that map what reads them."""

    text: str
    layouts: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]


ONE = ("parallelise i", "stripmine i 4", "map ii group.x", "map i thread.x")
TWO = (
    *("parallelise i", "parallelise j", "stripmine i 2", "stripmine j 4", "interchange i jj"),
    *("map ii group.y", "map jj group.x", "map i thread.y", "map j thread.x"),
)
ROWS = """\
void rows(int n, int m, int l, const float a[restrict n][m], float b[restrict n])
{
  for (int i = 0; i < n; i++) {
    float s = l;
    for (int k = 0; k < m; k++)
      s += a[i][k] * k;
    b[i] = s;
  }
}
"""
PRODUCT = """\
void product(int n, int m, int l, const double *restrict a, const double b[restrict m][l],
             double c[restrict n][l])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < l; j++) {
      double s = 0;
      for (int k = 0; k < m; k++)
        s += a[i * m + k] * b[k][j];
      c[i][j] = s;
    }
}
"""
CUBE = """\
void cube(unsigned n, unsigned m, unsigned l, const short a[restrict n][m][l],
          short b[restrict n][m])
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++) {
      short s = 0;
      for (unsigned k = 0; k < l; k++)
        s |= a[i][j][k];
      b[i][j] = s;
    }
}
"""
CASES = {
    "rows": Case(ROWS, (("a", "1,0"),), ONE),
    "product": Case(PRODUCT, (("a", "1,0"), ("b", "1,0")), TWO),
    "cube": Case(CUBE, (("a", "2,0,1"),), TWO),
    "cube-keeps-its-columns": Case(CUBE.replace("cube", "turned_twice"), (("a", "1,0,2"),), TWO),
}
PASSES = """\
void passes(int n, int m, int l, const double a[restrict n][m], double b[restrict n])
{
  for (int i = 0; i < n; i++) {
    double s = 1;
    for (int p = 0; p < l; p++)
      for (int k = 0; k < m; k++)
        s = s / 2 + a[i][k];
    b[i] = s;
  }
}
"""
RAGGED = """\
void ragged(int n, int m, int l, const int a[restrict n][m], const int length[restrict n],
            int b[restrict n])
{
  for (int i = 0; i < n; i++) {
    int state = l;
    for (int p = 0; p < 3; p++)
      for (int k = 0; k < length[i]; k++)
        if (a[i][k] != 2)
          state = (state ^ a[i][k]) % 9973 * 31;
    b[i] = state;
  }
}
"""
MIDDLE = """\
void middle(int n, int m, int l, const float a[restrict m][n][l], const float x[restrict n],
            float b[restrict m][n])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float best = 0;
      for (int p = 0; p < 3; p++)
        for (int k = 0; k < l; k++)
          if (best < a[i][j][k] * x[j])
            best = a[i][j][k] * x[j] + best / 2;
      b[i][j] = best;
    }
}
"""
AUTOMATIC = {"passes": PASSES, "ragged": RAGGED, "middle": MIDDLE}
"""Nests that are given copies unasked."""

SIZES = ((1, 1, 1), (13, 6, 9), (8, 16, 4), (33, 35, 1), (5, 0, 3), (0, 4, 4), (3, 4, 0))


def derived(case: str, tile: int = 32) -> Derivation:
    made = CASES[case]
    done = start(made.text)[0]
    for array, order in made.layouts:
        done = mapped_copy(done.then(step(f"relayout {array} {order}")), f"{array}_t", tile)
    return done.run(tuple(map(step, made.steps)))


def sizes_of(n: int, m: int, l: int) -> dict[str, int]:  # noqa: E741
    return {"n": n, "m": m, "l": l}


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tile", [8, 32])
def test_bit_identical_to_the_c_program(case: str, tile: int, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(CASES[case].text)
    plan = emit.kernel(derived(case, tile), fp=SEPARATE)
    assert_runs_agree(plan, CSource(str(file)), (sizes_of(*sizes) for sizes in SIZES), 5)


def automatic(case: str) -> Derivation:
    done = lx.loads(AUTOMATIC[case]).routine().tile(contract=False)
    assert done.tiled.copied == (("a", "a_t"),)
    return done.derivation


@pytest.mark.device
@pytest.mark.parametrize("case", AUTOMATIC)
def test_copies_that_nobody_asked_for_change_no_bit(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(AUTOMATIC[case])
    plan = emit.kernel(automatic(case), fp=SEPARATE)
    assert_runs_agree(plan, CSource(str(file)), (sizes_of(*sizes) for sizes in SIZES), 5)


@pytest.mark.device
def test_nothing_is_read_of_an_array_that_is_not_touched() -> None:
    """The caller may pass an array of no elements where the program has no columns to compute."""
    plan = emit.kernel(derived("product"))
    args = arguments(plan.start, sizes_of(9, 5, 0), 1)
    args["a"] = args["a"][:0]
    CompiledKernel(plan, choose())(**args)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", [*CASES, *AUTOMATIC])
def test_no_finding_in_the_simulator(case: str) -> None:
    made = derived(case, 8) if case in CASES else automatic(case)
    plan = emit.kernel(made, fp=SEPARATE)
    args = arguments(plan.start, sizes_of(9, 10, 5), 3)
    report = simulate(plan, args)
    assert report.clean, report.findings
    found = arrays_after(plan, report)
    Program(plan.start).run(args)
    assert not compare({k: args[k] for k in found}, found)


@pytest.mark.slow
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    programs = []
    for case in (*CASES, "passes", "middle"):
        text = CASES[case].text if case in CASES else AUTOMATIC[case]
        done = derived(case) if case in CASES else automatic(case)
        every = tuple(arguments(done.start, sizes_of(*s), 1) for s in SIZES if 0 not in s)
        programs.append(Compared(done, text, every))
    assert_all_same(tmp_path, programs)


def test_sizes_of_zero(tmp_path: Path) -> None:
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(ROWS)
    done = derived("rows")
    every = [arguments(done.start, sizes_of(*s), 1) for s in SIZES if 0 in s]
    assert_same(run_app(project_of(tmp_path, done, file).build(caller_of(done.start, *every))))
