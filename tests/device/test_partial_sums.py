"""Sums of stencils row by row: terms of other types are converted one by one, as in C."""

from __future__ import annotations

import numpy as np
import pytest

import loopxform as lx
from loopxform.verify.cref import CSource, Library

SUMS = {
    "unsigned": ("unsigned", "0.5 * a[i + 1][j] - u[i - 1][j] - u[i - 1][j + 1]", 1),
    "least": ("int", "0.5 * a[i + 1][j] - u[i - 1][j]", -(2**31)),
    "large": ("int", "0.5 * a[i + 1][j] + u[i - 1][j] + u[i - 1][j]", 2_000_000_000),
    "huge": ("float", "0.5 * a[i + 1][j] + u[i - 1][j] + u[i - 1][j + 1]", 3e38),
}


@pytest.mark.parametrize("name", SUMS)
def test_terms_of_other_types(name: str) -> None:
    kind, value, each = SUMS[name]
    inside = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    text = (
        f"void f(int t_end, int n, int m, double a[n][m], double b[n][m], {kind} u[n][m],"
        f" {kind} v[n][m]) {{ for (int t = 0; t < t_end; t++) {{"
        f" {inside} v[i][j] = u[i][j]; {inside} b[i][j] = {value};"
        f" {inside} u[i][j] = v[i][j]; {inside} a[i][j] = b[i][j]; }} }}"
    )
    routine = lx.loads(text)["f"]
    done = routine.offload(time_tile=(1, 4, 16), fp="reassociate")
    assert "_sum" in done.kernel, "no sum is computed in parts"
    rng = np.random.default_rng(3)
    given = {"t_end": 4, "n": 12, "m": 20, "a": rng.random((12, 20)), "b": rng.random((12, 20))}
    kinds = {"unsigned": "uint32", "int": "int32", "float": "float32"}
    given |= {x: np.full((12, 20), each, kinds[kind]) for x in "uv"}
    wanted = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    Library(CSource(text=text), [routine.function]).run("f", wanted)
    done.compile()(**given)
    for x in "ab":
        assert np.allclose(given[x], wanted[x], rtol=1e-12)
