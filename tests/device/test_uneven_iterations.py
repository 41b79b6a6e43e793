"""Loops that data end, in work-items that stand in rectangles: escape times, marches, steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deriving import c
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.cref import CSource

IMAGE = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++)"
COUNTS = "int n, int m, int a[restrict n][m]"

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


@pytest.mark.device
@pytest.mark.parametrize("items", [256, 64, 32])
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str, items: int) -> None:
    limits = PROFILES["h100"]
    limits = replace(limits, costs=replace(limits.costs, uneven_items=items))
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits=limits)
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
