"""Extrema under a condition, in vectors and in matrices, with the place where they are: as the C
finds them, NaNs and zeros of both signs included."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopxform as lx
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, run_reference

HEAD = "void f(int n, int m, const float a[n][m], const int ok[n], float v[1], int at[2])"
BEGIN = "float best = v[0]; int bi = -1, bj = -1;"
END = "v[0] = best; at[0] = bi; at[1] = bj;"
LOOPS = {
    "matrix": "if (a[i][j] > best) { best = a[i][j]; bi = i; bj = j; }",
    "condition-first": "if (ok[i] && a[i][j] > best) { best = a[i][j]; bi = i; bj = j; }",
    "comparison-first": "if (a[i][j] < best && i != j) { bj = j; best = a[i][j]; bi = i; }",
    "between": "if (ok[i] > 1 && best > a[i][j] && j != n) { best = a[i][j]; bi = i; bj = j; }",
    "no-place": "if (ok[i] && a[i][j] < best) best = a[i][j];",
}
LEFT = {
    "element-behind": (
        "if (a[i][j] < best && ok[i]) { best = a[i][j]; bi = i; bj = j; }",
        "",
    ),
    "place-in-memory": (
        "if (a[i][j] < best) { best = a[i][j]; at[0] = i; at[1] = j; }",
        "keep the place of the extremum in variables, and store these behind the loop",
    ),
    "place-alone": (
        "if (a[i][j] < a[bi + 1][bj + 1]) { bi = i - 1; bj = j - 1; }",
        "keep the extremum in a variable, beside its place, and compare with that",
    ),
}


def text(statement: str) -> str:
    loop = f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {statement}"
    return f"{HEAD} {{ {BEGIN} {loop} {END} }}\n"


@pytest.mark.device
@pytest.mark.parametrize("case", LOOPS)
def test_as_the_c_program(case: str) -> None:
    source = text(LOOPS[case])
    f = lx.loads(source)["f"]
    assert {v.parallel for v in f.check()} == {"reduction"}
    done = f.offload(limits="h100")
    assert {p.kind for p in done.parts if "i" in p.loops} == {"kernel"}
    call, rng = done.compile(), np.random.default_rng(3)
    for n, m in ((1, 1), (3, 300), (70, 70)):
        a = rng.integers(-4, 5, (n, m)).astype(np.float32)
        a[rng.random((n, m)) < 0.3] = np.nan
        a[a == 0] *= rng.choice([-1, 1])
        ok = rng.integers(0, 3, n).astype(np.int32)
        for first in (-0.0, np.nan, 3):
            at, v = np.zeros(2, np.int32), np.array([first], np.float32)
            given = {"n": n, "m": m, "a": a, "ok": ok, "v": v, "at": at}
            expected = copy.deepcopy(given)
            run_reference(CSource(text=source), f.function, expected)
            call(**given)
            assert not compare(expected, given), (n, m, first)


@pytest.mark.parametrize("case", LEFT)
def test_what_stays_in_order_says_why(case: str) -> None:
    statement, cure = LEFT[case]
    done = lx.loads(text(statement))["f"].offload(limits="h100")
    assert any(cure in p.why for p in done.parts if "i" in p.loops)
    assert not any(p.tiled is not None and p.tiled.recipe == "reduce" for p in done.parts)
