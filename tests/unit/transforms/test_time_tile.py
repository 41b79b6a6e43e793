"""TimeTile: several steps of a stencil in a pass over the arrays."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

from loopxform.frontend import parse_file
from loopxform.ir.printer import listing
from loopxform.transforms import STEPS, Derivation
from loopxform.transforms.base import from_text
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import Program

ARRAYS = "int T, int n, int m, double A[n][m], double B[n][m]"
JACOBI = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  B[i][j] = A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j];"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) A[i][j] = B[i][j]; }",
    ARRAYS,
)
PLANES = c(
    "for (int t = 0; t < T; t++)"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  A[(t + 1) % 2][i][j] = A[t % 2][i - 1][j - 1] + A[t % 2][i + 1][j + 1];",
    "int T, int n, int m, float A[2][n][m]",
)
PLACE = c(
    "for (int t = 0; t < T; t++)"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  A[i][j] = A[i][j - 1] + A[i][j + 1];",
    ARRAYS,
)
TURNED = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[j][i];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j]; }",
    "int T, int n, double A[n][n], double B[n][n]",
)
ONE = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];"
    " for (int i = 1; i < n - 1; i++) A[i] = B[i]; }",
    "int T, int n, double A[n], double B[n]",
)
J = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
BACK = f"{J} A[i][j] = B[i][j];"
WHOLE = "int T, int n, int m, int A[n][m], int B[n][m]"
SPACE = "int T, int n, float A[n][n][n], float B[n][n][n]"
CUBE = "for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n - 1; k++)"


def steps(body: str, params: str = ARRAYS, header: str = "int t = 0; t < T; t++") -> str:
    """A loop over time."""
    return c(f"for ({header}) {{ {body} }}", params)


LISTINGS = {
    "arrays": (JACOBI, "time-tile t 1 8 16"),
    "planes": (PLANES, "time-tile t 2 4 8 1 4"),
    "elements": (JACOBI, "time-tile t 1 4 8 3"),
    "left-over": (PLANES, "time-tile t 4,2 4 24"),
    "in-step": (JACOBI, "time-tile t 2 4 16 2 in-step"),
    "space": (
        steps(f"{CUBE} B[i][j][k] = A[i - 1][j][k + 1]; {CUBE} A[i][j][k] = B[i][j][k];", SPACE),
        "time-tile t 1 4 4,8",
    ),
    "far-rows": (
        steps(
            "for (int i = 2; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = A[i - 2][j] + t;"
            " for (int i = 0; i < n - 3; i++) for (int j = 0; j < m; j++) A[i][j] = B[i + 3][j];"
        ),
        "time-tile t 1 4 8",
    ),
    "division": (
        steps(f"{J} B[i][j] = A[i][j - 1] / (1 + (A[i][j + 1] & 7)); {BACK}", WHOLE),
        "time-tile t 1 4 8",
    ),
    "edge": (
        steps(
            "for (int j = 1; j < m; j++) A[0][j] = t;"
            " for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) A[i][j] = 2 * B[i - 1][j];"
            " for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) B[i][j] = A[i][j - 1];"
        ),
        "time-tile t 1 4 8",
    ),
    "scalars": (
        steps(f"{J} {{ float x = A[i][j - 1]; x += A[i][j]; B[i][j] = x * x; }} {BACK}"),
        "time-tile t 1 4 8",
    ),
    "under-a-condition": (
        steps(
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " B[i][j] = j > 0 ? A[i][j - 1] : 0;"
            " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j];"
        ),
        "time-tile t 1 4 8",
    ),
    "begins-anywhere": (
        steps(
            f"{J} B[i][j] = A[i - 1][j]; {BACK}",
            f"{ARRAYS}, int k",
            "int t = k; t < T; t++",
        ),
        "time-tile t 1 4 8",
    ),
}
BOX = " + ".join(f"{a + 2 * b + 4} * A[i + {a}][j + {b}]" for a in (-1, 0, 1) for b in (-1, 0, 1))
REORDERED = {
    "box": (
        steps(f"{J} B[i][j] = A[i][j] - 2 * ({BOX}); {BACK}"),
        "time-tile t 2 6 16 reassociate",
    ),
    "wide": (
        steps(f"{J} B[i][j] = {BOX} - A[i - 1][j + 1]; {BACK}"),
        "time-tile t 1 5 8 3 reassociate",
    ),
    "partial-sums": (JACOBI, "time-tile t 1 8 16 reassociate"),
    "nested-sums": (
        steps(
            f"{J} B[i][j] = A[i][j]"
            f" - 2 * (A[i - 1][j] - 3 * (A[i - 1][j - 1] + A[i][j + 1] - A[i + 1][j])); {BACK}"
        ),
        "time-tile t 1 4 8 reassociate",
    ),
    "sums-by-scalars": (
        steps(
            f"{J} {{ double x = A[i - 1][j - 1]; x += 2 * A[i][j - 1];"
            f" B[i][j] = x + A[i + 1][j]; }} {BACK}"
        ),
        "time-tile t 1 4 8 reassociate",
    ),
    "sums-of-ints": (
        steps(f"{J} B[i][j] = A[i - 1][j] + A[i][j] + A[i + 1][j]; {BACK}", WHOLE),
        "time-tile t 1 4 8 reassociate",
    ),
    "edges": (
        steps(
            "for (int j = 0; j < m; j++) B[0][j] = A[1][j] - A[0][j];"
            f" {J} B[i][j] = A[i - 1][j] + A[i][j - 1] + 3 * A[i + 1][j + 1]; {BACK}"
        ),
        "time-tile t 2 5 24 2 reassociate",
    ),
    "planes": (PLANES, "time-tile t 4,2 4 16 reassociate"),
    "box-in-step": (
        steps(f"{J} B[i][j] = A[i][j] - 2 * ({BOX}); {BACK}"),
        "time-tile t 1 6 16 2 reassociate in-step",
    ),
}
TILE = "time-tile t 2 8 16"
REFUSED = {
    "plane-that-is-not-there": steps(
        f"{J} for (int k = 0; k < 9; k++) B[i][j][k] = k > 0 ? A[i][j][k - 1] : 0;"
        f" {J} for (int k = 0; k < 9; k++) A[i][j][k] = B[i][j][k];",
        "int T, int n, int m, int A[n][m][9], int B[n][m][9]",
    ),
    "statement": steps(
        f"{J} B[i][j] = A[i][j - 1]; A[k[0]][0] = 1; {BACK}", f"{ARRAYS}, const int k[1]"
    ),
    "every-other": steps(
        "for (int i = 1; i < n - 1; i += 2) for (int j = 1; j < m - 1; j++) B[i][j] = A[i][j - 1];"
        + BACK
    ),
    "no-iterations": steps(
        f"for (int i = 3; i < 3; i++) for (int j = 1; j < m; j++) B[i][j] = A[i + 9][j]; {BACK}"
    ),
    "unsigned-counter": steps(f"{J.replace('int', 'unsigned')} B[i][j] = A[i][j - 1]; {BACK}"),
    "unsigned-sizes": steps(
        f"{J} B[i][j] = A[i][j - 1]; {BACK}", ARRAYS.replace("int n", "unsigned n")
    ),
    "unsigned-subscript": steps(
        f"{J} B[i][j] = A[i][j - 1]; for (int j = 0; j < m; j++) A[k][j] = B[k][j];",
        f"{ARRAYS}, unsigned k",
    ),
    "by-name": steps(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { s += A[i][j]; B[i][j] = s; }"
        " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j];",
        f"{ARRAYS}, double s",
    ),
    "last-value": c(
        f"double x = 0; for (int t = 0; t < T; t++) {{ {J} {{ x = A[i][j]; B[i][j] = x; }}"
        f" {BACK} }} A[0][0] = x;",
        ARRAYS,
    ),
    "before-the-write": steps(f"{J} {{ double x = A[i][j]; A[i][j] = 2; B[i][j] = x; }}"),
    "diagonal": steps(f"for (int i = 0; i < n; i++) A[i][i] = 1; {BACK}"),
    "triangle": steps(
        f"for (int i = 1; i < n - 1; i++) for (int j = 1; j < i; j++) B[i][j] = A[i][j - 1]; {BACK}"
    ),
    "fewer-dimensions": steps(
        f"for (int i = 0; i < n; i++) C[i] = 2; {BACK}", f"{ARRAYS}, double C[n]"
    ),
    "place-of-data": steps(
        f"{J} A[k][i][j] = A[1 - k][i - 1][j];",
        "int T, int n, int m, int k, double A[2][n][m]",
    ),
    "many-planes": steps(
        f"{J} A[(t + 1) % 9][i][j] = A[t % 9][i - 1][j];", "int T, int n, int m, double A[9][n][m]"
    ),
    "masked-planes": steps(
        f"{J} A[(t + 1) & 6][i][j] = A[t & 6][i][j];", "int T, int n, int m, double A[8][n][m]"
    ),
    "planes-from-anywhere": steps(
        f"{J} A[(t + 1) % 2][i][j] = A[t % 2][i - 1][j];",
        "int T, int n, int m, int k, double A[2][n][m]",
        "int t = k; t < T; t++",
    ),
    "backwards": steps(f"{J} B[i][j] = A[i][j - 1]; {BACK}", ARRAYS, "int t = T; t > 0; t--"),
    "data-count": steps(
        f"{J} B[i][j] = A[i][j - 1]; {BACK}", f"{ARRAYS}, int k[1]", "int t = 0; t < k[0]; t++"
    ),
    "unsigned-steps": steps(
        f"{J} B[i][j] = A[i][j - 1]; {BACK}",
        ARRAYS.replace("int T", "unsigned T"),
        "int t = 1; t < T; t++",
    ),
    "long-start": steps(
        f"{J} B[i][j] = A[i][j - 1]; {BACK}", f"{ARRAYS}, long k", "int t = k; t < T; t++"
    ),
    "before-the-first": steps(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
        " b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j];"
        " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = b[i * m + j];",
        "int T, int n, int m, double *a, double *b",
    ),
    "condition-on-a-pointer": steps(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
        " b[i * m + j] = i > 0 ? a[(i - 1) * m + j] : 0;"
        " for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i * m + j] = b[i * m + j];",
        "int T, int n, int m, double *a, double *b",
    ),
    "corners-of-a-pointer": steps(
        "for (int i = p; i < n; i++) for (int j = 1; j < m - 1; j++)"
        " b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1];"
        " for (int i = q; i < n; i++) for (int j = 1; j < m - 1; j++) a[i * m + j] = b[i * m + j];",
        "int T, int n, int m, int p, int q, double *a, double *b",
    ),
}
REFUSALS = {
    "no-nest": (COPY, "time-tile i 2 8 16"),
    "no-nests": (c("for (int t = 0; t < T; t++) { }", ARRAYS), TILE),
    "in-place": (PLACE, TILE),
    "turned": (TURNED, TILE),
    "one-dimension": (ONE, TILE),
    "halo": (JACOBI, "time-tile t 4 8 8"),
    "odd-planes": (PLANES, "time-tile t 3 8 16"),
    "items": (JACOBI, "time-tile t 2 8 8,16"),
    "no-size": (JACOBI, "time-tile t 2 0 16"),
    "longer-afterwards": (JACOBI, "time-tile t 2,3 8 16"),
} | {name: (text, TILE) for name, text in REFUSED.items()}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REORDERED)
def test_sums_in_another_order(case: str, golden: Golden) -> None:
    """Of whole numbers that a double holds, they are the same."""
    text, step = REORDERED[case]
    derivation = Derivation(parse_file("f.c", text=text).unit.functions[0])
    fn = derivation.then(from_text(STEPS, step)).function
    for time in (0, 3, 4, 9):
        given = arguments(derivation.function, {"T": time, "n": 12, "m": 37}, 3)
        given |= {k: np.floor(8 * v) for k, v in given.items() if isinstance(v, np.ndarray)}
        wanted, found = copy.deepcopy(given), copy.deepcopy(given)
        Program(derivation.function).run(wanted)
        Program(fn).run(found, order_seed=1)
        assert all(np.array_equal(v, found[k]) for k, v in wanted.items())
    golden.check(listing(fn))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
