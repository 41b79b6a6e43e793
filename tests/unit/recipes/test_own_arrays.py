"""Arrays for the iterations of loops: which of them become parallel, and what is too large."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, start

from loopxform.offload import array_expansion
from loopxform.offload.program import Offloaded, offload

CUBE = "int n, int m, int k, float A[n][m][k], const float B[k][k], float t[k]"
PRODUCT = (
    "for (int p = 0; p < k; p++) { t[p] = 0;"
    " for (int s = 0; s < k; s++) t[p] += A[r][q][s] * B[s][p]; }"
    " for (int p = 0; p < k; p++) A[r][q][p] = t[p];"
)  # fmt: skip
ROWS = "int n, int m, float A[n][m], float b[m]"
ROW = (
    "for (int j = 0; j < m; j++) t[j] = A[i][j] * 2;"
    " for (int j = 0; j < m; j++) A[i][j] = t[m - 1 - j];"
)


def over_cube(body: str, params: str = CUBE, upper: str = "m") -> str:
    return c(f"for (int r = 0; r < n; r++) for (int q = 0; q < {upper}; q++) {{ {body} }}", params)


CASES = {
    "of-the-caller": over_cube(PRODUCT),
    "of-the-function": c(
        f"float t[k]; for (int r = 0; r < n; r++) for (int q = 0; q < m; q++) {{ {PRODUCT} }}",
        CUBE.removesuffix(", float t[k]"),
    ),
    "of-an-iteration": over_cube(f"float t[k]; {PRODUCT}", CUBE.removesuffix(", float t[k]")),
    "read-afterwards": c(
        f"float t[m]; for (int i = 0; i < n; i++) {{ {ROW} }}"
        " for (int j = 0; j < m; j++) b[j] = t[j];",
        ROWS,
    ),
    "in-a-loop-of-time": c(
        f"for (int s = 0; s < 3; s++) for (int i = 0; i < n; i++) {{ {ROW} }}",
        "int n, int m, float A[n][m], float t[m]",
    ),
    "outer-loop-only": c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
        " if (j == 0) for (int p = 0; p < 2; p++) t[p] = A[i][0] + p;"
        " for (int p = 0; p < 2; p++) t[p] = t[p] * A[i][j] + 1; A[i][j] = t[0] - t[1]; }",
        "int n, int m, float A[n][m], float t[2]",
    ),
}  # fmt: skip

LEFT = {
    "length-of-an-iteration": over_cube(PRODUCT, CUBE, "r"),
    "length-computed": c(
        f"int l = n / 2; for (int i = 0; i < l; i++) {{ {ROW} }}",
        "int n, int m, float A[n][m], float t[m]",
    ),
    "much-larger": c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) t[j] = x[j] + i;"
        " for (int j = 0; j < n; j++) y[i] = y[i] + t[j]; }",
        "int n, float x[n], float y[n], float t[n]",
    ),
    "large-numbers": c(
        "for (int i = 0; i < 30000; i++) { for (int j = 0; j < 30000; j++) t[j] = x[j] + i;"
        " for (int j = 0; j < 30000; j++) y[i] = y[i] + t[j]; }",
        "float x[30000], float y[30000], float t[30000]",
    ),
    "parallel-loops-further-in": c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) t[j] = A[i][j];"
        " for (int s = 0; s < 9; s++) { for (int j = 0; j < m; j++) u[i][j] = t[m - 1 - j];"
        " for (int j = 0; j < m; j++) t[j] = u[i][j] + s; } }",
        "int n, int m, float A[n][m], float u[n][m], float t[m]",
    ),
}


def offloaded(text: str) -> Offloaded:
    return offload(start(text)[0].start, {})


@pytest.mark.parametrize("case", CASES)
def test_each_iteration_has_its_own(case: str) -> None:
    done = offloaded(CASES[case])
    outermost = "i" if "int i" in CASES[case] else "r"
    kernels = [p for p in done.parts if p.kind == "kernel" and outermost in p.loops]
    assert kernels
    assert "each iteration has its own t" in kernels[0].why
    assert_same_meaning(done.derivation.start, done.function, (1, 3))


@pytest.mark.parametrize("case", LEFT)
def test_loops_that_stay_the_hosts(case: str, golden: Golden) -> None:
    done = offloaded(LEFT[case])
    golden.check("".join(f"{p.kind} {', '.join(p.loops)}: {p.why}\n" for p in done.parts))


def test_few_elements_are_allowed_whatever_else_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LEFT["large-numbers"]
    monkeypatch.setattr(array_expansion, "MOST_BYTES", 4 * 30_000 * 30_000)
    assert offloaded(text).parts[0].loops[0] == "i"
