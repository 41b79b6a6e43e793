"""Neighbouring nests in one: where that takes nothing away."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.offload.program import offload

HEAD = "void f(int n, const float a[n], float b[n], float c[n], float d[n][n], float e[n][n])"
FIRST = "for (int i = 0; i < n; i++) b[i] = a[i] * 2;"
SQUARE = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i][j] = a[j];"
LOOPS = {
    "one-reads-what-the-other-writes": (FIRST, "for (int k = 0; k < n; k++) c[k] = b[k];", 1),
    "both-read": (FIRST, "for (int k = 0; k < n; k++) c[k] = a[k] + 1;", 1),
    "nothing-in-common": (FIRST, "for (int k = 0; k < n; k++) c[k] = 1;", 2),
    "another-range": (FIRST, "for (int k = 1; k < n; k++) c[k] = b[k];", 2),
    "a-neighbour-is-read": (FIRST, "for (int k = 0; k < n; k++) c[k] = b[k] + b[n - 1 - k];", 2),
    "carried-then": (FIRST, "for (int k = 0; k < n; k++) c[k] = b[k] + b[k > 0 ? k - 1 : 0];", 2),
    "a-loop-inside": (
        FIRST,
        "for (int k = 0; k < n; k++) { float s = b[k]; "
        "for (int l = 0; l < n; l++) s += d[k][l]; c[k] = s; }",
        2,
    ),
    "two-dimensions": (
        SQUARE,
        "for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) e[k][l] = d[k][l] + 1;",
        1,
    ),
    "columns": (
        SQUARE,
        "for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) e[l][k] = d[k][l] + 1;",
        2,
    ),
    "one-is-deeper": (SQUARE, "for (int k = 0; k < n; k++) c[k] = a[k];", 2),
    "three": (
        FIRST,
        "for (int k = 0; k < n; k++) c[k] = b[k]; for (int l = 0; l < n; l++) b[l] += c[l];",
        1,
    ),
    "something-between": (FIRST, "c[0] = 1; for (int k = 1; k < n; k++) c[k] = b[k];", 3),
    "annotated": (
        FIRST,
        "\n#pragma loopxform tile(Tx=8)\nfor (int k = 0; k < n; k++) c[k] = b[k];",
        2,
    ),
}


@pytest.mark.parametrize("case", LOOPS)
def test_kernels(case: str) -> None:
    first, second, kernels = LOOPS[case]
    (routine,) = lx.loads(f"{HEAD} {{ {first} {second} }}")
    plan = routine.offload(tile_stages=()).opencl.plan
    assert plan is not None
    assert len(plan.kernels) == kernels


def test_in_loops_of_the_host() -> None:
    body = f"for (int t = 0; t < 9; t++) {{ {FIRST} for (int k = 0; k < n; k++) c[k] += b[k]; }}"
    (routine,) = lx.loads(f"{HEAD} {{ {body} }}")
    steps = [str(r.step) for r in offload(routine.function, {}).derivation.records]
    assert "fuse i k" in steps
