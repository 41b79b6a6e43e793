"""BufferSlice: the slice of an array that an iteration works on, in a buffer of its own."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

TWO = "int n, int m, const float a[n][m], float b[n][m]"
OWN = "int n, int m, float a[n][m]"

CENTRED = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "for (int j = 0; j < m; j++) b[i][j] = a[i][j] - s; }",
    TWO,
)
FLAT = c(
    "for (int i = 0; i < n; i++) { const float *x = a + i * m; float s = 0; "
    "for (int j = 0; j < m; j++) s += x[j]; b[i] = s - x[0]; }",
    "int n, int m, const float *restrict a, float *restrict b",
)
SCALED = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "for (int j = 0; j < m; j++) a[i][j] *= s; }",
    OWN,
)
SCALE = "for (int j = 0; j < m; j++) a[i][j] *= s;"
PERHAPS_SCALED = SCALED.replace(SCALE, f"if (s > 0) {{ {SCALE} }}")
IN_TWO_BRANCHES = SCALED.replace(SCALE, f"if (s > 0) {{ {SCALE} }} if (s < -9) a[i][0] = 1;")
PERHAPS_ALL_BUT_ONE = PERHAPS_SCALED.replace(SCALE, SCALE.replace("j = 0", "j = 1"))
FIRST_WRITTEN = c(
    "for (int i = 0; i < n; i++) { float s = 0; "
    "for (int j = 0; j < m; j++) { b[i][j] = a[i][j] * 2; s += b[i][j]; } "
    "for (int j = 0; j < m; j++) b[i][m - 1 - j] /= s; }",
    TWO,
)
PLANES = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < 3; k++) "
    "for (int j = 0; j < m; j++) s += a[k][i][j]; for (int k = 0; k < 3; k++) "
    "for (int j = 0; j < m; j++) b[i][j] += s * a[k][i][j]; }",
    "int n, int m, const float a[3][n][m], float b[n][m]",
)
CARRIED = c("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[0][j] += i;", OWN)
ONE_MORE = c(
    "for (int i = 0; i < n; i++) if (i + 1 < n) for (int j = 0; j < m; j++) b[i][j] = a[i + 1][j];",
    TWO,
)
SOME = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (a[i][j] < 0) a[i][j] = 0;",
    OWN,
)
SOME_OF_ALL = SOME.replace("a[i][j]", "a[0][j]")
ALL_BUT_ONE = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "for (int j = 1; j < m; j++) a[i][j] = s; }",
    OWN,
)
BUT_ONE_OF_ALL = ALL_BUT_ONE.replace("a[i][j]", "a[0][j]")
IN_A_BRANCH = PERHAPS_ALL_BUT_ONE.replace("a[i][j]", "a[0][j]")
OF_PAIRS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (b[i][j] > i) a[i / 2][j] = 1;",
    TWO.replace("const float a", "float a").replace("float b", "const float b"),
)
NEIGHBOURS = c(
    "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = a[i][j] - a[i - 1][j];",
    TWO,
)
BY_KEY = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = a[key[i]][j];",
    f"{TWO}, const int key[n]",
)
MOVED = c(
    "int k = 0; for (int i = 0; i < n; i++) { if (b[i][0] > 0) k = i; "
    "for (int j = 0; j < m; j++) b[i][j] = a[k][j]; }",
    TWO,
)
DIVIDED = c(
    "for (int i = 0; i < n; i++) if (d > 0) for (int j = 0; j < m; j++) b[i][j] = a[i / d][j];",
    f"int d, {TWO}",
)
BEHIND_A_GUARD = c(
    "for (int i = 0; i < n; i++) if (d > 0) for (int j = 0; j < m; j++) b[i] += a[i * m + j];",
    "int d, int n, int m, const float *restrict a, float *restrict b",
)
CHANGING = c(
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) b[i][j] = a[i][j]; } m = 0;",
    TWO,
)

COUNTED = c(
    "for (int i = 0; i < n; i++) { for (int k = 0; k < 8; k++) h[i][k] = 0; "
    "for (int j = 0; j < m; j++) h[i][key[i][j]] += 1; }",
    "int n, int m, const int key[n][m], int h[n][8]",
)
COUNTED_FROM_1 = COUNTED.replace("k = 0;", "k = 1;")
PERHAPS_COUNTED = COUNTED.replace("h[i][k] = 0", "if (key[i][0] > k) h[i][k] = 0")

LISTINGS = {
    "read": (CENTRED, "buffer-slice a i"),
    "written": (CENTRED, "buffer-slice b i r"),
    "flat": (FLAT, "buffer-slice a i"),
    "in-place": (SCALED, "buffer-slice a i"),
    "in-place-under-a-condition": (PERHAPS_SCALED, "buffer-slice a i"),
    "in-place-of-a-forall": (SCALED, "parallelise i", "buffer-slice a i"),
    "written-before-it-is-read": (FIRST_WRITTEN, "buffer-slice b i"),
    "perhaps-written": (SOME, "buffer-slice a i"),
    "not-all-written": (ALL_BUT_ONE, "buffer-slice a i"),
    "written-in-two-branches": (IN_TWO_BRANCHES, "buffer-slice a i"),
    "not-all-written-in-a-branch": (PERHAPS_ALL_BUT_ONE, "buffer-slice a i"),
    "planes": (PLANES, "buffer-slice a i"),
    "in-an-inner-loop": (PLANES, "buffer-slice a k#2"),
    "of-all-iterations": (CARRIED, "buffer-slice a i"),
    "set-before-data-name-elements": (COUNTED, "buffer-slice h i"),
    "not-all-set-before": (COUNTED_FROM_1, "buffer-slice h i"),
    "perhaps-set-before": (PERHAPS_COUNTED, "buffer-slice h i"),
    "both": (FIRST_WRITTEN, "buffer-slice b i", "buffer-slice a i"),
}
REFUSALS = {
    "no-such-loop": (CENTRED, "buffer-slice a q"),
    "taken": (CENTRED, "buffer-slice a i b"),
    "not-used": (CENTRED, "buffer-slice b j#1"),
    "no-slice": (CENTRED, "buffer-slice a j#1"),
    "own-array": (CENTRED, "buffer-slice a i", "buffer-slice a_row i"),
    "row-that-is-not-there": (ONE_MORE, "buffer-slice a i"),
    "perhaps-written": (SOME_OF_ALL, "buffer-slice a i"),
    "not-all-written": (BUT_ONE_OF_ALL, "buffer-slice a i"),
    "of-pairs-of-iterations": (OF_PAIRS, "buffer-slice a i"),
    "under-a-condition-of-all": (IN_A_BRANCH, "buffer-slice a i"),
    "neighbours": (NEIGHBOURS, "buffer-slice a i"),
    "by-key": (BY_KEY, "buffer-slice a i"),
    "row-that-moves": (MOVED, "buffer-slice a i"),
    "row-that-traps": (DIVIDED, "buffer-slice a i"),
    "only-where-it-is-touched": (BEHIND_A_GUARD, "buffer-slice a i"),
    "extent-that-changes": (CHANGING, "buffer-slice a i"),
    "mapped": (CENTRED, "parallelise i", "map i group.x", "buffer-slice a i"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
