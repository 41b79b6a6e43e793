"""What is computed at the edge of a tile: conditions and divisions there, in every recipe, on the
device and under Oclgrind (no access out of bounds, no unset value)."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from harness import arrays_after, assert_runs_agree, simulate
from tilings import tile

from loopxform import load, loads
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.schedule.params import Recipe, Tiles
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

NEST = """
void f(int M, int U, int N, {t} A[M][U], {t} B[U][N], {t} W[M][N], {t} C[M][N])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      {before}
      {t} acc = 0;
      for (int k = 0; k < U; k++) {{ {body} }}
      {after}
    }}
}}
"""
STORE = "C[i][j] = acc;"

PROGRAMS = {
    "not the last column": ("", "acc += A[i][k]*B[k][j]; if (j != N-1) acc += W[i][j+1];", STORE),
    "not the first row": ("", "acc += A[i][k]*B[k][j]; if (i > 0) acc += W[i-1][j];", STORE),
    "odd rows": ("", "if (i % 2) acc += A[i][k]*B[k][j] + W[i-1][j];", STORE),
    "an arm of ?:": ("", "acc += A[i][k]*(j + 1 < N ? B[k][j+1] : 1);", STORE),
    "behind &&": ("", "if (j + 1 < N && W[i][j+1] > 0) acc += A[i][k]*B[k][j+1];", STORE),
    "behind a scalar": ("int l = j == N-1;", "acc += A[i][k]*(l ? 1 : B[k][j+1]);", STORE),
    "through a scalar": ("int l = j - (j > 0);", "acc += A[i][k]*B[k][l];", STORE),
    "first of a sum": (
        "",
        "if (k) acc += A[i][k]*B[k][j]; else acc = A[i][k]*B[k][j];",
        STORE,
    ),
    "added to the result": ("", "acc += A[i][k]*B[k][j];", "C[i][j] += acc;"),
    "only where positive": ("", "if (A[i][k] > 0) acc += B[k][j];", "if (acc > 0) C[i][j] = acc;"),
}
DIVISIONS = {
    "from the edge": ("", "acc += A[i][k]*3/(M-i) + B[k][j]%(N-j);", STORE),
    "by a scalar from the edge": ("int d = N - j;", "acc += A[i][k]*B[k][j]/d;", STORE),
    "by a product of scalars": (
        "int d = N - j, e = d*(M - i);",
        "acc += A[i][k]*B[k][j]/e;",
        STORE,
    ),
    "by an element": ("", "acc += A[i][k]/B[k][j];", STORE),
}
CASES = {
    **{name: ("float", *parts) for name, parts in PROGRAMS.items()},
    **{name: ("int", *parts) for name, parts in DIVISIONS.items()},
}
TILES = (Tiles(4, 3, 5, 2, 2), Tiles(5, 1, 5, 1, 1))
SIZES = ({"M": 9, "U": 7, "N": 10}, {"M": 1, "U": 5, "N": 1})


def _plan(case: str, recipe: Recipe, tiles: Tiles, folder: Path) -> tuple[Plan, CSource]:
    t, before, body, after = CASES[case]
    file = folder / "f.c"
    file.write_text(NEST.format(t=t, before=before, body=body, after=after))
    fn = load(str(file))["f"].function
    return emit.kernel(tile(fn, tiles, recipe).derivation, fp=SEPARATE), CSource(str(file))


@pytest.mark.device
@pytest.mark.parametrize(
    ("recipe", "tiles"),
    [("naive", TILES[0]), ("block", TILES[0]), *(("register", t) for t in TILES)],
)
@pytest.mark.parametrize("case", CASES)
def test_runs_like_the_c_program(case: str, recipe: Recipe, tiles: Tiles, tmp_path: Path) -> None:
    plan, source = _plan(case, recipe, tiles, tmp_path)
    assert_runs_agree(plan, source, SIZES, 7)


@pytest.mark.oclgrind
@pytest.mark.parametrize("recipe", ["block", "register"])
@pytest.mark.parametrize("case", CASES)
def test_touches_only_what_the_c_program_touches(case: str, recipe: Recipe, tmp_path: Path) -> None:
    plan, source = _plan(case, recipe, TILES[0], tmp_path)
    args = arguments(plan.start, {"M": 5, "U": 5, "N": 4}, 7)
    expected = copy.deepcopy(args)
    Library(source, [plan.start]).run("f", expected)
    report = simulate(plan, args)
    assert report.clean, report.findings[0]
    after = arrays_after(plan, report)
    assert not compare({n: expected[n] for n in after}, after)


EVERY_OTHER = ("i = 0; i < m; i += 2", "i = 1; i < m; i += 3", "i = m - 2; i >= 1; i -= 3")


@pytest.mark.parametrize("header", EVERY_OTHER)
def test_no_element_is_read_that_no_iteration_reads(header: str) -> None:
    """The last one of an even number is not there, say."""
    text = """void f(int m, int n, const int a[restrict m][n], int x[restrict m][n],
      int z[restrict m])
    { for (int HEADER) { int s = z[i];
        for (int j = i; j < n; j++) { s ^= a[i][j]; x[i][j] = s; } } }""".replace("HEADER", header)
    plan = emit.kernel(loads(text)["f"].offload().derivation)
    for m in (1, 4, 5, 6, 7):
        args = arguments(plan.start, {"m": m, "n": 9}, 1)
        expected = copy.deepcopy(args)
        Program(plan.start).run(expected)
        execute(plan, args, seed=1)
        assert not compare(expected, args)
