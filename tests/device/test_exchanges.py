"""What is read and written in both directions, in place or not, through tiles in local memory."""

from __future__ import annotations

import copy

import pytest
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

SQUARE = "int n, float a[restrict n][n]"
ABOVE = "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++)"
BELOW = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)"
ALL = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
FLAT = "int n, double *a"

CASES = {
    "in-place": c(f"{ABOVE} {{ float t = a[i][j]; a[i][j] = a[j][i]; a[j][i] = t; }}", SQUARE),
    "other-order": c(f"{ABOVE} {{ float t = a[j][i]; a[j][i] = a[i][j]; a[i][j] = t; }}", SQUARE),
    "flat": c(f"{BELOW} {{ double t = a[i*n+j]; a[i*n+j] = a[j*n+i]; a[j*n+i] = t; }}", FLAT),
    "symmetric": c(
        f"{BELOW} {{ double s = (a[i*n+j] + a[j*n+i]) / 2; a[i*n+j] = s; a[j*n+i] = s; }}", FLAT
    ),
    "mirrored": c(f"{BELOW} a[j][i] = a[i][j];", SQUARE),
    "two-results": c(
        f"{ALL} {{ short t = a[i][j] * 2; b[j][i] = t; d[i][j] = t + 1; }}",
        "int n, int m, const short a[restrict n][m], short b[restrict m][n], int d[restrict n][m]",
    ),
    "batch": c(
        f"for (int k = 0; k < m; k++) {ABOVE} "
        "{ int t = a[k][i][j]; a[k][i][j] = a[k][j][i]; a[k][j][i] = t; }",
        "int n, int m, int a[restrict m][n][n]",
    ),
}


def sizes(text: str) -> tuple[dict[str, int], ...]:
    if " m," not in text:
        return tuple({"n": n} for n in (0, 1, 2, 32, 33, 64, 97))
    return tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (33, 2), (64, 31), (7, 70)))


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    done = lx.loads(CASES[name])["f"].tile(contract=False)
    assert done.tiled.recipe == "exchange"
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=CASES[name]), sizes(CASES[name]), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["in-place", "two-results"])
def test_without_races(name: str) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    done = lx.loads(CASES[name])["f"].tile(contract=False, Ty=2, Tx=4, Ry=2)
    plan = emit.kernel(done.derivation)
    given = [arguments(plan.start, {k: min(v, 9) for k, v in s.items()}, 5)
             for s in sizes(CASES[name])]  # fmt: skip
    assert_clean_and_right(plan, given)


@pytest.mark.parametrize("name", CASES)
def test_in_the_executor_of_groups(name: str) -> None:
    plan = emit.kernel(lx.loads(CASES[name])["f"].tile(Ty=2, Tx=4, Ry=2).derivation)
    args = arguments(plan.start, dict.fromkeys(sizes(CASES[name])[0], 7), 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


OTHERS = {
    "transposition": c(f"{ALL} b[j][i] = a[i][j];", "int n, int m, float a[n][m], float b[m][n]"),
    "rows": c(f"{ALL} b[i][j] = a[i][j];", "int n, int m, float a[n][m], float b[n][m]"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_other_recipes_do(name: str) -> None:
    assert lx.loads(OTHERS[name])["f"].tile(limits="h100").tiled.recipe != "exchange"
