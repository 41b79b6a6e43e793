"""Versions of nests with running values: along rows, across them, in order, between row starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from conftest import Golden
from deriving import c

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Function
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, Dispatch, Variant, thresholds_of
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

MATRIX = "int m, int n, const int a[restrict m][n], int y[restrict m][n], int z[restrict m]"
REAL = MATRIX.replace("int a", "float a").replace("int y", "float y")
CUBE = "int l, int m, int n, const int a[restrict l][m][n], int y[restrict l][m][n]"
STARTS = "int m, int n, const int p[restrict m + 1], const int a[restrict n], int y[restrict n]"


def rows(body: str, header: str = "int j = 0; j < n; j++", kind: str = "int") -> str:
    return f"for (int r = 0; r < m; r++) {{ {kind} s = 0; for ({header}) {{ {body} }} z[r] = s; }}"


SUM = "s += a[r][j]; y[r][j] = s;"
ALL = "chunks, groups, tiles, lanes, items"
CASES: dict[str, tuple[str, str, str]] = {
    "rows": (rows(SUM), MATRIX, ALL),
    "backwards": (rows(SUM, "int j = n - 1; j >= 0; j--"), MATRIX, ALL),
    "the-element-before": (
        "for (int r = 0; r < m; r++) for (int j = 1; j < n; j++) y[r][j] = y[r][j - 1] + a[r][j];",
        MATRIX,
        ALL,
    ),
    "compaction": (rows("if (a[r][j] > 3) y[r][s++] = j;"), MATRIX, ALL),
    "columns": (
        "for (int i = 1; i < m; i++) for (int j = 0; j < n; j++) y[i][j] = y[i - 1][j] + a[i][j];",
        MATRIX,
        "chunks, items",
    ),
    "the-middle-dimension": (
        "for (int k = 0; k < l; k++) for (int i = 1; i < m; i++) for (int j = 0; j < n; j++) "
        "y[k][i][j] = y[k][i - 1][j] + a[k][i][j];",
        CUBE,
        "chunks, items",
    ),
    "integral-image": (
        "for (int i = 1; i < m; i++) for (int j = 1; j < n; j++) "
        "y[i][j] = a[i][j] + y[i - 1][j] + y[i][j - 1] - y[i - 1][j - 1];",
        MATRIX,
        f"{ALL}; chunks, items",
    ),
    "real": (rows(SUM, kind="float"), REAL, "tiles, lanes, items"),
    "a-maximum": (rows("if (a[r][j] > s) s = a[r][j]; y[r][j] = s;", kind="float"), REAL, ALL),
    "segments": (
        "for (int r = 0; r < m; r++) { int s = 0; "
        "for (int k = p[r]; k < p[r + 1]; k++) { s += a[k]; y[k] = s; } }",
        STARTS,
        "groups, lanes, items",
    ),
    "no-running-values": (rows("y[r][j] = a[r][j];"), MATRIX, ""),
    "few-columns": (rows(SUM, "int j = 0; j < 20; j++"), MATRIX, ""),
}
SMALL = replace(
    PROFILES["generic"],
    group_size=8,
    warp=4,
    costs=replace(PROFILES["generic"].costs, scan_terms=6, combined_alone=2, scan_item_terms=3),
)
"""A device that few rows fill."""


QUICK = ("rows", "columns", "segments")
LATER = [x for x in CASES if CASES[x][2] and x not in QUICK]
SLOW = pytest.mark.slow


def function(case: str) -> Function:
    body, params, _ = CASES[case]
    return lx.loads(c(body, params))["f"].function


def choices(derivation: Derivation) -> Iterator[tuple[Variant, ...]]:
    steps = (r.step for r in derivation.records)
    yield from (s.variants for s in steps if isinstance(s, Dispatch))


@pytest.mark.parametrize("case", CASES)
def test_versions(case: str) -> None:
    made = offload(function(case), {}, PROFILES["h100"])
    found = [", ".join(v.label for v in x) for x in choices(made.derivation)]
    assert "; ".join(found) == CASES[case][2]


@pytest.mark.parametrize("case", ["rows", "columns", "integral-image", "real"])
def test_tiled(case: str) -> None:
    """As `tile` has them; segments are for `offload`, which tests the starts first."""
    derivation = tile(function(case), {}, None, PROFILES["h100"]).derivation
    found = [", ".join(v.label for v in x) for x in choices(derivation)]
    assert "; ".join(found) == CASES[case][2]


@pytest.mark.parametrize("case", ["rows", "columns", "real"])
def test_guards(case: str, golden: Golden) -> None:
    made = offload(function(case), {}, PROFILES["h100"])
    lines = [
        f"{v.label}: {v.about}\n  {' && '.join(v.guard) or 'what is left'}"
        for x in choices(made.derivation)
        for v in x
    ]
    values = (f"{name} = {n}" for name, n in thresholds_of(made.derivation).items())
    golden.check("\n".join((*lines, ", ".join(values))) + "\n")


@pytest.mark.parametrize("case", [*QUICK, *(pytest.param(x, marks=SLOW) for x in LATER)])
def test_every_version_in_the_executor_of_groups(case: str) -> None:
    """Each version in turn: the thresholds of those in front of it never hold."""
    fn = function(case)
    plain = offload(fn, {}, SMALL)
    known = thresholds_of(plain.derivation)
    count = max(len(x) for x in choices(plain.derivation))
    for last in range(count):
        values = _taking(known, [*choices(plain.derivation)], last)
        made = offload(fn, {}, SMALL, Options(threshold=tuple(values.items())))
        plan = emit.kernel(made.derivation, fp=SEPARATE)
        for m, n in ((0, 3), (1, 1), (2, 6), (3, 25)):
            scalars = {p.name for p in plan.start.params if not p.shape}
            args = arguments(plan.start, {k: v for k, v in _sizes(m, n) if k in scalars}, n)
            if case == "segments":
                places = np.random.default_rng(n).integers(0, n + 1, m + 1)
                args["p"] = (np.sort(places) if m < 3 else places).astype(np.int32)
            expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
            Program(plan.start).run(expected)
            execute(plan, args, seed=n)
            assert not compare(expected, args), (case, last, m, n)


def _sizes(m: int, n: int) -> tuple[tuple[str, int], ...]:
    return ("l", 2), ("m", m), ("n", n)


def _taking(
    known: dict[str, int], variants: list[tuple[Variant, ...]], wanted: int
) -> dict[str, int]:
    """Thresholds with which the host takes the variant of a number, those before it never."""
    values = dict.fromkeys(known, 1)
    for group in variants:
        for number, v in enumerate(group):
            for name in known:
                asked = next((g for g in v.guard if name in g), "")
                if asked:
                    below = "<" in asked
                    values[name] = (
                        (10**6 if below else 0) if number >= wanted else 10**6 * (not below)
                    )
    return values
