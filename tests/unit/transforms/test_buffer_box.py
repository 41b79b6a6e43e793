"""BufferBox: the box of an array that an iteration writes, in registers until its end."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROW = "int n, const float a[n], float b[n]"
FOURS = ("stripmine i 8", "stripmine i 4 iv", "separate-full-tiles ii")
PIXELS = "int n, const float a[n], float b[3 * n]"


def loop(body: str, params: str = ROW) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


COPY = loop("b[i] = a[i];")
PLANES = loop("b[3 * i + 2] = 1; b[3 * i] = a[i]; b[3 * i + 1] = a[i] * 2;", PIXELS)
IN_PLACE = loop("b[i] += a[i]; if (b[i] > 9) b[i] = 9;")
COLOURS = loop("for (int c = 0; c < 3; c++) b[3 * i + c] = a[i] * c;", PIXELS)
ROWS = loop(
    "for (int k = 0; k < 3; k++) b[k][i] = a[i] * k;", "int n, const float a[n], float b[3][n]"
)
MATRIX = c(
    "for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) b[j][i] = a[j][i];",
    "int n, int m, const float a[n][m], float b[n][m]",
)
MAPPED = ("parallelise i", "stripmine i 4", "map ii group.x", "map i thread.x")

LISTINGS = {
    "written": (COPY, *FOURS, "buffer-box b iv#1"),
    "three-members": (PLANES, *FOURS, "buffer-box b iv#1 own"),
    "in-place": (IN_PLACE, *FOURS, "buffer-box b iv#1"),
    "inner-loop": (COLOURS, "buffer-box b i"),
    "rows": (ROWS, *FOURS, "buffer-box b iv#1"),
    "rows-in-place": (ROWS.replace("] =", "] +="), *FOURS, "buffer-box b iv#1"),
    "row-of-a-matrix": (MATRIX, *FOURS, "buffer-box b iv#1"),
}
REFUSALS = {
    "some-rows": (ROWS.replace("k++) b", "k++) if (k != 1) b"), *FOURS, "buffer-box b iv#1"),
    "no-such-loop": (COPY, "buffer-box b q"),
    "taken": (COPY, *FOURS, "buffer-box b iv#1 a"),
    "only-read": (COPY, *FOURS, "buffer-box a iv#1"),
    "one-element": (COPY, "buffer-box b i"),
    "cut-short": (COPY, "stripmine i 4", "buffer-box b ii"),
    "some": (loop("if (a[i] > 0) b[i] = a[i];"), *FOURS, "buffer-box b iv#1"),
    "two-of-three": (
        loop("b[3 * i] = a[i]; b[3 * i + 2] = 1;", PIXELS),
        *FOURS,
        "buffer-box b iv#1",
    ),
    "neighbours": (loop("b[i] = a[i] + b[n - 1 - i];"), *FOURS, "buffer-box b iv#1"),
    "columns": (
        c(
            "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) b[j][i] = a[j][i];",
            "int n, int m, const float a[n][m], float b[n][m]",
        ),
        *FOURS,
        "buffer-box b iv#1",
    ),
    "by-key": (loop("b[(int)a[i]] = 1;"), *FOURS, "buffer-box b iv#1"),
    "mapped": (COPY, *MAPPED, "buffer-box b ii"),
    "atomic": (
        loop("h[a[i] & 7]++;", "int n, const int a[n], int h[8]"),
        "atomic-updates i",
        "buffer-box h i",
    ),
    "long": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < 300; k++) b[i][k] = k;",
            "int n, float b[n][300]",
        ),
        "buffer-box b i",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
