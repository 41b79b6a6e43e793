"""Ordinary ways to write a nest: each reaches the recipe that an expert would choose, and means
what it meant.
"""

from __future__ import annotations

import pytest
from deriving import assert_same_meaning, untiled
from tilings import Recipe, Tiles, tile

SMALL = Tiles(Ty=2, Tx=3, Tk=4, Ry=2, Rx=3)
PRODUCT = "int n, int m, int u, const float a[n][u], const float b[u][m], float c[n][m]"
FILTER = "int h, int w, const float a[h][w], const float t[5][5], float c[h][w]"
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
PIXELS = "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
SUMMED = "s += a[i][k] * b[k][j];"

PRODUCTS = {
    "counting-down": """for (int i = n - 1; i >= 0; i--) for (int j = m; j-- > 0;) { float s = 0;
        for (int k = u - 1; k >= 0; k--) s += a[i][k] * b[k][j]; c[i][j] = s; }""",
    "while-it-counts-down": """int i = n; while (i--) { int j = m; while (j--) { float s = 0;
        int k = u; while (k--) s += a[i][k] * b[k][j]; c[i][j] = s; } }""",
    "counting-down-by-two": f"""{LOOPS} {{ float s = 0;
        for (int k = u - 1; k > 0; k -= 2) {SUMMED} c[i][j] = s; }}""",
    "counting-down-to-a-loop": f"""{LOOPS} {{ float s = 0;
        for (int k = u - 1; k >= i; k--) {SUMMED} c[i][j] = s; }}""",
    "a-size-counting-down": f"""{LOOPS} {{ float s = 0;
        for (unsigned long k = u > 0 ? u : 0; k-- > 0;) {SUMMED} c[i][j] = s; }}""",
    "counters-declared-first": """int i, j; for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
        int k; float s = 0; for (k = 0; k < u; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }""",
    "one-branch": f"""{LOOPS} if (j <= i) {{ float s = 0; for (int k = 0; k < u; k++) {SUMMED}
        c[i][j] = s; }}""",
    "two-branches": f"""{LOOPS} if (j <= i) {{ float s = 0; for (int k = 0; k < u; k++) {SUMMED}
        c[i][j] = s; }} else c[i][j] = -1;""",
    "continue": f"""{LOOPS} {{ if (j > i) {{ c[i][j] = 0; continue; }} float s = 0;
        for (int k = 0; k < u; k++) {SUMMED} c[i][j] = s; }}""",
    "beside-others": f"""{LOOPS} {{ float s = 1; if (c[i][j] > 0) {{ s = 0;
        for (int k = 0; k < u; k++) {SUMMED} s *= 2; }} c[i][j] = s; }}""",
    "reductions-in-both-branches": f"""{LOOPS} {{ float s = 0; if (j <= i)
        for (int k = 0; k < u; k++) {SUMMED} else for (int k = 0; k < u; k++)
        s -= a[i][k] * b[k][j]; c[i][j] = s; }}""",
    "inside-the-reduction": f"""{LOOPS} {{ float s = 0; for (int k = 0; k < u; k++) {{
        if (k > i) continue; {SUMMED} }} c[i][j] = s; }}""",
}

FILTERS = {
    "a-condition": f"""{PIXELS} {{ float s = 0; for (int v = -2; v <= 2; v++)
        for (int r = -2; r <= 2; r++)
        if (y + v >= 0 && y + v < h && x + r >= 0 && x + r < w)
            s += a[y + v][x + r] * t[v + 2][r + 2]; c[y][x] = s; }}""",
    "conditions-on-the-way": f"""{PIXELS} {{ float s = 0; for (int v = 0; v < 5; v++) {{
        int q = y + v - 2; if (q < 0 || q > h - 1) continue; for (int r = 0; r < 5; r++) {{
        int p = x + r - 2; if (p < 0 || w <= p) continue; s += a[q][p] * t[v][r]; }} }}
        c[y][x] = s; }}""",
    "around-the-pixel": f"""{PIXELS} {{ float s = 0; for (int v = y - 2; v <= y + 2; v++)
        for (int r = x - 2; r <= x + 2; r++) if (v >= 0 && v < h && r >= 0 && r < w)
            s += a[v][r] * t[v - y + 2][r - x + 2]; c[y][x] = s; }}""",
    "around-the-pixel-backwards": f"""{PIXELS} {{ float s = 0; for (int v = y + 2; v > y - 3; v--)
        for (int r = x + 2; r > x - 3; r--) if (v >= 0 && v < h && r >= 0 && r < w)
            s += a[v][r] * t[v - y + 2][r - x + 2]; c[y][x] = s; }}""",
    "a-choice": f"""{PIXELS} {{ float s = 0; for (int v = 0; v < 5; v++)
        for (int r = 0; r < 5; r++) {{ int q = y + v - 2, p = x + r - 2;
        float e = q < 0 || q >= h || p < 0 || p >= w ? 0 : a[q][p]; s += e * t[v][r]; }}
        c[y][x] = s; }}""",
    "clamped": f"""{PIXELS} {{ float s = 0; for (int v = -2; v <= 2; v++)
        for (int r = -2; r <= 2; r++) s += a[y + v < 0 ? 0 : y + v > h - 1 ? h - 1 : y + v]
        [x + r >= w ? w - 1 : x + r > 0 ? x + r : 0] * t[v + 2][r + 2]; c[y][x] = s; }}""",
    "clamped-by-if": f"""{PIXELS} {{ float s = 0; for (int v = -2; v <= 2; v++) {{ int q = y + v;
        if (q < 0) q = 0; else if (q >= h) q = h - 1; for (int r = -2; r <= 2; r++) {{
        int p = x + r; if (p >= w) p = w - 1; if (p < 0) p = 0; s += a[q][p] * t[v + 2][r + 2]; }}
        }} c[y][x] = s; }}""",
}  # fmt: skip

TEXTS: dict[str, tuple[str, str, Recipe]] = {
    **{k: (PRODUCT, v, "register") for k, v in PRODUCTS.items()},
    **{k: (FILTER, v, "stencil") for k, v in FILTERS.items()},
}


@pytest.mark.parametrize("case", TEXTS)
def test_style(case: str) -> None:
    params, body, recipe = TEXTS[case]
    first = untiled(f"void f({params}) {{ {body} }}")
    done = tile(first, SMALL, recipe)
    assert done.recipe == recipe, done.reason
    staged = {s.stage.array for s in done.staged}
    assert staged == ({"a", "b"} if recipe == "register" else {"a", "t"})
    assert_same_meaning(first, done.function, (0, 1, 2, 5, 9))


NAIVE = {
    "the-same-branch-for-all": f"""{LOOPS} {{ float s = 0; if (u > 4)
        for (int k = 0; k < u; k++) {SUMMED} else s = 1; c[i][j] = s; }}""",
}


@pytest.mark.parametrize("case", NAIVE)
def test_a_condition_of_all_iterations_stays(case: str) -> None:
    first = untiled(f"void f({PRODUCT}) {{ {NAIVE[case]} }}")
    done = tile(first, SMALL, "register")
    assert done.recipe == "naive"
    assert "condition" in done.reason
    assert_same_meaning(first, done.function, (0, 1, 5))
