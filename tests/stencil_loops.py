"""Loops over time around stencils, in the ways in which they are written."""

from __future__ import annotations

INSIDE = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
SUM = "x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]"
BACK = f"{INSIDE} a[i][j] = b[i][j];"
ARRAYS = "int steps, int n, double a[n][n], double b[n][n]"


def around(array: str) -> str:
    """The sum of the neighbours of an element."""
    return SUM.replace("x[", f"{array}[")


def over_time(
    body: str, parameters: str = ARRAYS, before: str = "", header: str = "int t = 0; t < steps; t++"
) -> str:
    """A function that runs `body` in each step of time."""
    return f"void f({parameters}) {{ {before} for ({header}) {{ {body} }} }}\n"


FORMS = {
    "turns": over_time(
        f"if (t % 2 == 0) {{ {INSIDE} b[i][j] = 0.25 * ({around('a')}); }}"
        f" else {{ {INSIDE} a[i][j] = 0.2 * ({around('b')}); }}"
    ),
    "numbered planes": over_time(
        "int now = t & 1, next = 1 - now;"
        " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
        f" g[next][i][j] = 0.25 * ({around('g[now]')});",
        "int steps, int n, double g[2][n][n]",
    ),
    "changing planes": over_time(
        f"{INSIDE} g[1 - now][i][j] = 0.25 * ({around('g[now]')}); now = 1 - now;",
        "int steps, int n, double g[2][n][n]",
        before="int now = 0;",
    ),
    "neighbours counted": over_time(
        f"{INSIDE} {{ int alive = 0;"
        " for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++)"
        "  if (y != 0 || x != 0) alive += a[i + y][j + x] & 1;"
        " if (a[i][j] & 1) b[i][j] = alive == 2 || alive == 3; else b[i][j] = alive == 3; }"
        f" {BACK}",
        "int steps, int n, unsigned char a[n][n], unsigned char b[n][n]",
    ),
    "rules in turn": over_time(
        f"{INSIDE} {{ int alive = {around('a')};"
        " if (a[i][j] > 100 && alive < 300) b[i][j] = 0;"
        " else if (a[i][j] > 100 && alive > 700) b[i][j] = 7;"
        " else if (alive > 500) { b[i][j] = alive / 4; }"
        f" else b[i][j] = a[i][j]; }} {BACK}",
        "int steps, int n, unsigned char a[n][n], unsigned char b[n][n]",
    ),
    "weights in a loop": over_time(
        "for (int i = 2; i < n - 2; i++) for (int j = 2; j < n - 2; j++) {"
        " double sum = 0.0;"
        " for (int k = -2; k <= 2; k++) sum += w[k + 2] * a[i][j + k];"
        " for (int k = -2; k <= 2; k++) if (k) sum += w[k + 2] * a[i + k][j];"
        " b[i][j] = sum; }"
        " for (int i = 2; i < n - 2; i++) for (int j = 2; j < n - 2; j++) a[i][j] = b[i][j];",
        f"{ARRAYS}, const double w[5]",
    ),
    "masked": over_time(
        f"{INSIDE} if (mask[i][j] > 99) b[i][j] = 0.25 * ({around('a')}); {BACK}",
        f"{ARRAYS}, const unsigned char mask[n][n]",
    ),
    "masked or kept": over_time(
        f"{INSIDE} {{ if (mask[i][j] > 99) b[i][j] = 0.25 * ({around('a')});"
        f" else b[i][j] = a[i][j]; }} {BACK}",
        f"{ARRAYS}, const unsigned char mask[n][n]",
    ),
    "updated under a condition": over_time(
        f"{INSIDE} {{ if (a[i][j] > 0.5) a[i][j] -= 0.25; else a[i][j] = 0.5 * b[i][j]; }}"
        f" {INSIDE} b[i][j] = 0.25 * ({around('a')});"
    ),
    "edges kept": over_time(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
        " if (i == 0 || j == 0 || i == n - 1 || j == n - 1) b[i][j] = a[i][j];"
        f" else b[i][j] = 0.25 * ({around('a')}); }}"
        " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[i][j];"
    ),
    "components outside": over_time(
        f"for (int c = 0; c < 3; c++) {INSIDE} b[c][i][j] = 0.25 * ({around('a[c]')});"
        f" for (int c = 0; c < 3; c++) {INSIDE} a[c][i][j] = b[c][i][j];",
        "int steps, int n, float a[3][n][n], float b[3][n][n]",
    ),
    "components inside": over_time(
        f"{INSIDE} for (int c = 0; c < 3; c++)"
        " b[i][j][c] = 0.5f * a[i - 1][j][c] + 0.5f * a[i][j + 1][2 - c];"
        f" {INSIDE} for (int c = 0; c < 3; c++) a[i][j][c] = b[i][j][c];",
        "int steps, int n, float a[n][n][3], float b[n][n][3]",
    ),
    "a lattice": over_time(
        f"{INSIDE} {{ float sum = 0; for (int q = 0; q < 4; q++) sum += a[q][i][j];"
        " for (int q = 0; q < 4; q++) b[q][i][j] = 0.5f * a[q][i][j] + 0.125f * sum; }"
        f" {INSIDE} {{ a[0][i][j] = b[0][i - 1][j]; a[1][i][j] = b[1][i + 1][j];"
        " a[2][i][j] = b[2][i][j - 1]; a[3][i][j] = b[3][i][j + 1]; }",
        "int steps, int n, float a[4][n][n], float b[4][n][n]",
    ),
    "a number for each row": over_time(
        "for (int i = 1; i < n - 1; i++) { double k = w[i] / 4;"
        f" for (int j = 1; j < n - 1; j++) b[i][j] = k * ({around('a')}); }} {BACK}",
        f"{ARRAYS}, const double w[n]",
    ),
    "downwards": over_time(
        f"for (int i = n - 2; i >= 1; i--) for (int j = n - 2; j > 0; j--)"
        f" b[i][j] = 0.25 * ({around('a')}) + t; {BACK}",
        header="int t = steps; t > 0; t--",
    ),
    "two steps at once": over_time(
        f"{INSIDE} b[i][j] = 0.25 * ({around('a')}); {INSIDE} a[i][j] = 0.2 * ({around('b')});",
        header="int t = 0; t < steps; t += 2",
    ),
    "a while loop": f"void f({ARRAYS}) {{ int t = 0;"
    f" while (t < steps) {{ {INSIDE} b[i][j] = 0.25 * ({around('a')}); {BACK} t++; }} }}\n",
    "a function for a step": f"static void step(int n, double to[n][n], double x[n][n])"
    f" {{ {INSIDE} to[i][j] = 0.25 * ({SUM}); }}\n" + over_time("step(n, b, a); step(n, a, b);"),
    "unsigned counters": over_time(
        "for (unsigned i = 1; i < 19; i++) for (unsigned long j = 1; j < 30; j++)"
        f" b[i][j] = w[i % 4] * ({around('a')});"
        " for (unsigned i = 1; i < 19; i++) for (unsigned long j = 1; j < 30; j++)"
        " a[i][j] = b[i][j];",
        "int steps, int n, double a[20][31], double b[20][31], const double w[4]",
    ),
    "a plane the caller sees": over_time(
        f"{INSIDE} g[1 - now][i][j] = 0.25 * ({around('g[now]')}); now = 1 - now;",
        "int steps, int n, double g[2][n][n], double *last",
        before="int now = 0;",
    ).replace("} }\n", "} last[0] = g[now][0][0]; }\n"),
}
"""What a pass of several steps can be made of."""

FLAT = "int steps, int n, double *a, double *b"
SWEPT = (
    f"{INSIDE} b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j]"
    " + a[i * n + j - 1] + a[i * n + j + 1]);"
)
SWAP = "double *old = a; a = b; b = old;"
ROTATED = {
    "two pointers": over_time(SWEPT + SWAP, FLAT),
    "pointers set before": over_time(
        SWEPT + SWAP, FLAT.replace("*a", "*from").replace("*b", "*to"), "double *a = from, *b = to;"
    ),
    "from step 1 on": over_time(SWEPT + SWAP, FLAT, header="int t = 1; t <= steps; t++"),
    "three levels": over_time(
        f"{INSIDE} c[i * n + j] = 1.5 * b[i * n + j] - a[i * n + j] + 0.1 * (b[(i - 1) * n + j]"
        " + b[i * n + j + 1]); double *old = a; a = b; b = c; c = old;",
        FLAT + ", double *c",
    ),
    "a function for a step": "static void step(int n, double *restrict b, const double *restrict a)"
    f" {{ {SWEPT} }}\n" + over_time(f"step(n, b, a); {SWAP}", FLAT),
    "two levels": over_time(
        f"{INSIDE} a[i * n + j] = 1.5 * b[i * n + j] - a[i * n + j] + 0.1 * (b[(i - 1) * n + j]"
        f" + b[i * n + j + 1]); {SWAP}",
        FLAT,
    ),
}
"""Pointers change places; the program is for calls in which each takes its turn."""

REFUSED = {
    "a plane nobody knows": over_time(
        f"{INSIDE} g[1 - now][i][j] = 0.25 * ({around('g[now]')}); now = 1 - now;",
        "int steps, int n, int now, double g[2][n][n]",
    ),
    "the first step": over_time(
        f"if (t == 0) {{ {INSIDE} b[i][j] = 0.25 * ({around('a')}); }}"
        f" else {{ {INSIDE} a[i][j] = 0.2 * ({around('b')}); }}"
    ),
    "what may not be there": over_time(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " if (mask[i][j]) b[i][j] = a[i][j]; " + BACK,
        "int steps, int n, double a[n][n], double b[n - 2][n], const int mask[n][n]",
    ),
    "unsigned numbers": over_time(
        "for (unsigned i = 1; i < 19; i++) for (int j = 1; j < 30; j++)"
        " b[i][j] = a[i - 1][j] + (i - 5);"
        " for (int i = 1; i < 19; i++) for (int j = 1; j < 30; j++) a[i][j] = b[i][j];",
        "int steps, double a[20][31], double b[20][31]",
    ),
    "unsigned sizes": over_time(
        "for (unsigned i = 1; i < n - 1; i++) for (int j = 1; j < 30; j++) b[i][j] = a[i - 1][j];"
        " for (unsigned i = 1; i < n - 1; i++) for (int j = 1; j < 30; j++) a[i][j] = b[i][j];",
        "int steps, unsigned n, double a[n][31], double b[n][31]",
    ),
    "changing places": over_time(
        f"{INSIDE} {{ double x = a[i][j]; a[i][j] = b[i][j]; b[i][j] = x; }}"
    ),
    "seidel": over_time(f"{INSIDE} a[i][j] = 0.25 * ({around('a')});"),
}
"""What is not."""
