"""Scans and integral images in the styles of many programs: none is left to one work-item."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

IMAGE = "int m, int n, const int a[restrict m][n], int x[restrict m][n]"
FLAT = "int m, int n, const unsigned char *restrict a, unsigned *restrict x"
BOTH = f"{FLAT}, unsigned long *restrict z"
WALK = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)"
IMAGES = {
    "choices-of-flat": (
        f"{WALK} x[i*n+j] = a[i*n+j] + (j ? x[i*n+j-1] : 0) + (i ? x[(i-1)*n+j] : 0) "
        "- (i && j ? x[(i-1)*n+j-1] : 0);", FLAT),
    "updates-under-conditions": (
        f"{WALK} {{ x[i][j] = a[i][j]; if (i > 0) x[i][j] += x[i-1][j]; "
        "if (j > 0) x[i][j] += x[i][j-1]; if (i > 0 && j > 0) x[i][j] -= x[i-1][j-1]; }", IMAGE),
    "four-cases": (
        f"{WALK} {{ if (i == 0 && j == 0) x[i][j] = a[i][j]; "
        "else if (i == 0) x[i][j] = a[i][j] + x[i][j-1]; "
        "else if (j == 0) x[i][j] = a[i][j] + x[i-1][j]; "
        "else x[i][j] = a[i][j] + x[i-1][j] + x[i][j-1] - x[i-1][j-1]; }", IMAGE),
    "sum-of-the-row-then-above": (
        "for (int i = 0; i < m; i++) { unsigned s = 0; for (int j = 0; j < n; j++) { "
        "s += a[i*n+j]; if (i > 0) x[i*n+j] = x[(i-1)*n+j] + s; else x[i*n+j] = s; } }", FLAT),
    "two-tables": (
        "for (int i = 0; i < m; i++) { unsigned s = 0; unsigned long q = 0; "
        "for (int j = 0; j < n; j++) { unsigned v = a[i*n+j]; s += v; q += v * v; "
        "if (i == 0) { x[j] = s; z[j] = q; } "
        "else { x[i*n+j] = x[(i-1)*n+j] + s; z[i*n+j] = z[(i-1)*n+j] + q; } } }", BOTH),
    "in-a-scalar": (
        f"{WALK} {{ int v = a[i][j]; if (j > 0) v += x[i][j-1]; if (i > 0) v += x[i-1][j]; "
        "if (j > 0 && i > 0) v -= x[i-1][j-1]; x[i][j] = v; }", IMAGE),
    "in-four-scalars": (
        "for (int i = 1; i < m; i++) for (int j = 1; j < n; j++) { "
        "int up = x[i-1][j], left = x[i][j-1], both = x[i-1][j-1]; "
        "x[i][j] = up + left - both + a[i][j]; }", IMAGE),
    "sums-of-columns": (
        f"{WALK} if (i == 0) x[i][j] = a[i][j]; else x[i][j] = x[i-1][j] + a[i][j];", IMAGE),
}  # fmt: skip
LINE = "int n, const int a[restrict n], int y[restrict n], int b[restrict n]"
LINES = {
    "previous-and-current": (
        "int i = 0, last = 0; while (i < n) { int now = last + a[i]; y[i] = now; last = now; "
        "i++; }",
        LINE),
    "in-place": (
        "int last = 3; for (int i = 0; i < n; i++) { int now = last + b[i]; b[i] = now; "
        "last = now; }", LINE),
    "first-apart": (
        "for (int i = 0; i < n; i++) { if (i == 0) y[i] = a[i]; else y[i] = y[i-1] + a[i]; }",
        LINE),
    "first-is-another": (
        "for (int i = 0; i < n; i++) { if (!i) y[0] = a[0] * 2; "
        "else y[i] = a[i] < y[i-1] ? a[i] : y[i-1]; }", LINE),
    "recurrence": (
        "for (int i = 0; i < n; i++) y[i] = i == 0 ? a[i] : 3u * y[i-1] + a[i];",
        LINE.replace("int a", "unsigned a").replace("int y", "unsigned y")),
    "with-a-loop-inside": (
        "for (int i = 0; i < n; i++) { int t = 0; for (int j = 0; j < 4; j++) t += a[i] >> j; "
        "if (i == 0) y[i] = 7; else y[i] = y[i-1] > t ? y[i-1] : t; }", LINE),
    "segments-of-keys": (
        "for (int i = 0; i < n; i++) y[i] = (i > 0 && a[i] == a[i-1]) ? y[i-1] + b[i] : b[i];",
        LINE),
    "run-lengths": (
        "int r = 0; for (int i = 0; i < n; i++) { r = i && a[i] == a[i-1] ? r + 1 : 1; y[i] = r; }",
        LINE),
    "what-was-set-last": (
        "int s = -1; for (int i = 0; i < n; i++) { s = a[i] > 3 ? a[i] : s; y[i] = s; }", LINE),
    "counted-by-choice": (
        "int s = 2; for (int i = 0; i < n; i++) { s = a[i] > 3 ? s : s + b[i]; y[i] = s; }", LINE),
    "by-way-of-a-scalar": (
        "int t; for (int i = 1; i < n; i++) { int old = y[i-1]; t = old * 2; y[i] = old + a[i]; "
        "b[i] = t; }", LINE),
    "beyond-the-room": (
        "int k = 0; for (int i = 0; i < n; i++) if (a[i] > 1) { if (k < 5) y[k] = a[i]; k++; } "
        "b[0] = k;", LINE.replace("b[restrict n]", "b[restrict n + 1]")),
    "from-the-end": (
        "for (int i = n - 1; i >= 0; i--) { if (i == n - 1) y[i] = a[i]; "
        "else y[i] = y[i+1] ^ a[i]; }", LINE),
}  # fmt: skip


def few_items(profile: str) -> Limits:
    """A device of which a few rows need every version, and a few iterations several chunks."""
    costs = replace(PROFILES[profile].costs, scan_terms=6, combined_alone=2, scan_item_terms=3)
    costs = replace(costs, chained_terms=6, look_back=3)
    return replace(PROFILES[profile], group_size=8, warp=4, costs=costs)


@cache
def offloaded(body: str, params: str, limits: Limits) -> lx.OffloadedRoutine:
    return lx.loads(f"void f({params}) {{ {body} }}")["f"].offload(contract=False, limits=limits)


@pytest.mark.parametrize("name", [*IMAGES, *LINES])
def test_is_parallel(name: str) -> None:
    """And computes the same in the executor of groups; one work-item has a statement or two."""
    body, params = (IMAGES | LINES)[name]
    done = offloaded(body, params, few_items("generic"))
    alone = [p.why for p in done.parts if p.kind != "kernel"]
    short = ("statements between the nests", "passes running values of i")
    assert all(any(x in why for x in short) for why in alone), alone
    recipes = {p.tiled.recipe for p in done.parts if p.tiled}
    assert "scan" in recipes or name in IMAGES
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    shapes = ((0, 1), (1, 0), (1, 1), (2, 5), (7, 7), (3, 13), (13, 3))
    for m, n in shapes if name in IMAGES else ((1, n) for n in (0, 1, 2, 6, 7, 50)):
        args = arguments(plan.start, {"m": m, "n": n} if name in IMAGES else {"n": n}, 3)
        expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
        Program(plan.start).run(expected)
        execute(plan, args, seed=m)
        assert not compare(expected, args), (m, n)


@pytest.mark.device
@pytest.mark.parametrize("name", ["choices-of-flat", "two-tables", "first-is-another"])
def test_as_the_c_program(name: str) -> None:
    body, params = (IMAGES | LINES)[name]
    plan = emit.kernel(offloaded(body, params, PROFILES["h100"]).derivation, fp=SEPARATE)
    pairs = ((1, 1), (3, 2305), (70, 130), (300, 7))
    sizes = [{"m": m, "n": n} for m, n in pairs] if name in IMAGES else [{"n": n} for _, n in pairs]
    assert_runs_agree(plan, CSource(text=f"void f({params}) {{ {body} }}\n"), tuple(sizes), 3)


UNSIGNED = "unsigned n, const int a[restrict n], int y[restrict n], int b[restrict n]"
COUNTED = {
    "of-the-caller": "b[0] = 0; for (unsigned i = 0; i < n; i++) if (a[i] > 3) y[b[0]++] = a[i];",
    "a-prefix-sum": "for (unsigned i = 1; i < n; i++) y[i] = y[i-1] + a[i];",
    "the-greatest": "b[0] = a[0]; for (unsigned i = 1; i < n; i++) if (a[i] > b[0]) b[0] = a[i];",
}


@pytest.mark.device
@pytest.mark.parametrize("name", COUNTED)
def test_counts_without_a_sign(name: str) -> None:
    done = offloaded(COUNTED[name], UNSIGNED, PROFILES["h100"])
    assert any(p.kind == "kernel" for p in done.parts)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    text = f"void f({UNSIGNED}) {{ {COUNTED[name]} }}\n"
    assert_runs_agree(plan, CSource(text=text), [{"n": n} for n in (1, 2, 257, 2305, 7000)], 3)


REAL = "int n, const float a[restrict n], float y[restrict 1], int k[restrict 1]"
EXTREMA = {
    "greatest": "float m = -5; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; y[0] = m;",
    "least-or-equal": "float m = 5; for (int i = 0; i < n; i++) m = a[i] <= m ? a[i] : m; "
    "y[0] = m;",
    "first-place": "float m = -5; int at = -1; for (int i = 0; i < n; i++) "
    "if (a[i] > m) { m = a[i]; at = i; } y[0] = m; k[0] = at;",
}


@pytest.mark.parametrize("name", EXTREMA)
def test_extrema_that_stay_in_order(name: str) -> None:
    """The first of equal values, no NaN: chunks of chunks, until a few are left for one item."""
    limits = few_items("generic")
    limits = replace(limits, costs=replace(limits.costs, item_terms=4))
    done = offloaded(EXTREMA[name], REAL, limits)
    assert [p.kind for p in done.parts].count("kernel") == 2, [p.why for p in done.parts]
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    rng = np.random.default_rng(4)
    values = np.array([-0.0, 0.0, np.nan, -1, -np.inf, *([3.0] if name == "first-place" else [])])
    for n in (0, 1, 2, 6, 7, 16, 36, 37, 100):
        args = arguments(plan.start, {"n": n}, 3)
        args["a"] = rng.choice(values, n).astype(np.float32)
        expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
        Program(plan.start).run(expected)
        execute(plan, args, seed=n)
        assert args["y"].tobytes() == expected["y"].tobytes(), n
        assert args["k"].tobytes() == expected["k"].tobytes(), n
