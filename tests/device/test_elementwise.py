"""Several elements for each work-item: what is chosen, and that it does what the C does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Golden
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.printer import listing
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

ROW = "int n, const float a[restrict n], float b[restrict n]"
MATRIX = "int n, int m, const int a[restrict n][m], const int c[restrict m], int b[restrict n][m]"
CUBE = "int n, int m, const int a[restrict n][3][m], int b[restrict n][3][m]"

CASES = {
    "row": c("for (int i = 0; i < n; i++) b[i] = 2 * a[i] + 1;", ROW),
    "updates": c("for (int i = 1; i < n; i++) b[i] += a[i];", ROW),
    "condition": c("for (int i = 0; i < n; i++) { float t = a[i]; if (t > 3) b[i] = t; }", ROW),
    "backwards": c("for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];", ROW),
    "matrix": c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = a[i][j] + c[j];", MATRIX
    ),
    "cube": c(
        "for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) for (int j = 0; j < m; j++) "
        "b[i][k][j] = a[i][k][j] * 3;",
        CUBE,
    ),
}
OTHERS = {
    "neighbours": c("for (int i = 1; i < n; i++) b[i] = a[i] + a[i - 1];", ROW),
    "strides": c("for (int i = 0; i < n / 2; i++) b[i] = a[2 * i];", ROW),
    "columns": c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = a[i][j] + c[i % m];",
        MATRIX.replace("[n][m]", "[m][n]").replace("b[restrict m][n]", "b[restrict n][m]"),
    ).replace("a[i][j]", "a[j][i]"),
    "a-sum": c(
        "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
        "b[i][0] = s; }",
        MATRIX,
    ),
}


def sizes(text: str) -> tuple[dict[str, int], ...]:
    if " m," not in text:
        return tuple({"n": n} for n in (0, 1, 5, 1024, 1025, 5000))
    return tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (9, 129), (16, 256), (33, 5)))


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits="h100")
    assert done.tiled.recipe == "elementwise"
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=CASES[name]), sizes(CASES[name]), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["row", "condition", "cube"])
def test_without_races(name: str) -> None:
    """In the simulator: no race, nothing out of bounds."""
    small = {"Tx": 4, "Rx": 3} if name != "cube" else {"Ty": 2, "Tx": 4, "Ry": 3}
    done = lx.loads(CASES[name])["f"].tile(recipe="elementwise", **small)
    plan = emit.kernel(done.derivation)
    given = [arguments(plan.start, {k: min(v, 30) for k, v in s.items()}, 5)
             for s in sizes(CASES[name])]  # fmt: skip
    assert_clean_and_right(plan, given)


@pytest.mark.parametrize("name", ["row", "matrix"])
def test_listing(name: str, golden: Golden) -> None:
    golden.check(listing(lx.loads(CASES[name])["f"].tile(limits="h100").tiled.function))


@pytest.mark.parametrize("name", OTHERS)
def test_where_it_does_not_fit(name: str) -> None:
    f = lx.loads(OTHERS[name])["f"]
    assert f.tile(limits="h100").tiled.recipe != "elementwise"
    with pytest.raises(lx.UnsupportedC, match="far apart"):
        f.tile(recipe="elementwise")


def test_devices_that_need_it_say_so() -> None:
    f = lx.loads(CASES["row"])["f"]
    assert f.tile().tiled.recipe == "naive"
    generic = PROFILES["generic"]
    four = replace(generic, costs=replace(generic.costs, elements=4))
    assert f.tile(limits=four).tiled.recipe == "elementwise"
