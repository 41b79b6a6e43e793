"""Nests as C programmers write them: which recipe they get, and that kernels compute what the
user's C does, and touch nothing else."""

from __future__ import annotations

import re
from functools import cache
from time import process_time

import numpy as np
import pytest
from harness import assert_runs_agree, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource, Library
from loopxform.verify.values import Wanted

HEAD = """\
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define CLIP(v, lo, hi) ((v) < (lo) ? (lo) : ((v) > (hi) ? (hi) : (v)))
static void block(int n, int rows, int columns, int terms, const float *a, const float *b, float *c)
{
  for (int i = 0; i < rows; i++) for (int j = 0; j < columns; j++) { float s = c[i + j * n];
    for (int k = 0; k < terms; k++) s += a[i + k * n] * b[k + j * n]; c[i + j * n] = s; }
}
"""
PLAIN = "int n, int m, int u, const float *a, const float *b, float *c"
SHAPED = "int n, int m, int u, const float a[n][u], const float b[u][m], float c[n][m]"
LENGTHS = f"{SHAPED}, const int len[n]"
IMAGE = "int h, int w, const float *in, const float *f, float *out"
BOXES = (
    "int n, int m, int u, int rows, const float x[rows][m], const float h[n][m], float out[n][m]"
)
POINTS = "int n, float cut, const float *x, const float *y, const float *z, float *p, float *q"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
SUM = "for (int k = 0; k < u; k++) s += a[i*u + k] * b[k*m + j];"
SUMS = f"{ROWS} {{ float s = 0; {SUM}"
PIXELS = "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"

STYLES: dict[str, tuple[str, str, str]] = {
    "a sum that an iteration adds to twice": (
        SHAPED,
        f"{ROWS} {{ float s = 0, t = 0; for (int k = 0; k < u; k++) "
        "{ s += a[i][k] * b[k][j]; t += a[i][k]; t += a[i][k]; } c[i][j] = s / (1 + t * t); }",
        "register",
    ),
    "means in front": (
        SHAPED,
        f"{ROWS} {{ float s = 0, x = 0, y = 0; for (int k = 0; k < u; k++) "
        "{ x += a[i][k]; y += b[k][j]; } x /= u + 1; y /= u + 1; for (int k = 0; k < u; k++) "
        "s += (a[i][k] - x) * (b[k][j] - y); c[i][j] = s; }",
        "1-d",  # of the means, in nests in front of the product
    ),
    "blocks of a local constant": (
        PLAIN,
        """const int T = 8; for (int ii = 0; ii < n; ii += T) for (int jj = 0; jj < m; jj += T)
        for (int i = ii; i < MIN(ii + T, n); i++) for (int j = jj; j < MIN(jj + T, m); j++)
        { float s = 0; for (int k = 0; k < u; k++) s += a[i*u + k] * b[k*m + j];
        c[i*m + j] = s; }""",
        "register",
    ),
    "the counter as the condition": (
        PLAIN,
        f"""{ROWS} {{ const float *p = a + i*u, *q = b + j; float s = 0;
        for (int k = u; k; k--, q += m) s += *p++ * *q; *c++ = s; }}""",
        "register",
    ),
    "beta around the nest": (
        f"{PLAIN}, float beta",
        f"if (beta == 0) {SUMS} c[i*m + j] = s; }} "
        f"else {SUMS} c[i*m + j] = s + beta * c[i*m + j]; }}",
        "register",
    ),
    "three branches": (
        f"{PLAIN}, float beta",
        f"""if (beta == 0) {{ {SUMS} c[i*m + j] = s; }} }} else if (beta == 1) {{ {SUMS}
        c[i*m + j] += s; }} }} else {{ {SUMS} c[i*m + j] = s + beta * c[i*m + j]; }} }}""",
        "register",
    ),
    "a branch in front of the sum": (
        f"{PLAIN}, float beta",
        f"""{ROWS} {{ float s; if (beta == 0) {{ s = 0; {SUM} c[i*m + j] = s; }}
        else {{ s = c[i*m + j] * beta; {SUM} c[i*m + j] = s; }} }}""",
        "register",
    ),
    "nothing to do": (
        f"{PLAIN}, float beta",
        f"if (n == 0 || m == 0 || beta == 0) return; {SUMS} c[i*m + j] += beta * s; }}",
        "register",
    ),
    "what the end needs in front": (
        f"{PLAIN}, float beta",
        f"""{ROWS} {{ float before = c[i*m + j], w = before * beta; if (w < 0) w = -w;
        float s = 0; {SUM} c[i*m + j] = s * w + before; }}""",
        "register",
    ),
    "a cursor": (PLAIN, f"{SUMS} *c++ = s; }}", "register"),
    "a counter": (PLAIN, f"int at = 0; {SUMS} c[at++] = s; }}", "register"),
    "cursors": (
        PLAIN,
        """for (int i = 0; i < n; i++, a += u) for (int j = 0; j < m; j++, c++) {
        const float *p = a, *e = a + u, *q = b + j; float s = 0;
        while (p < e) { s += *p * *q; p++; q += m; } *c = s; }""",
        "register",
    ),
    "cursors that count down": (
        PLAIN,
        f"""{ROWS} {{ const float *p = a + i * u, *q = b + j; float s = 0; int k = u;
        while (k--) {{ s += *p++ * *q; q += m; }} *c++ = s; }}""",
        "register",
    ),
    "rows of cursors": (
        PLAIN,
        """const float *row = a; float *to = c; for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) { const float *p = b + j; float s = 0;
        for (int k = 0; k < u; k++, p += m) s += row[k] * *p; *to++ = s; } row += u; }""",
        "register",
    ),
    "a length in a local": (
        LENGTHS,
        """for (int i = 0; i < n; i++) { int end = MIN(len[i], u); for (int j = 0; j < m; j++) {
        float s = 0; for (int k = 0; k < end; k++) s += a[i][k] * b[k][j]; c[i][j] = s; } }""",
        "register",
    ),
    "a length that is cut": (
        LENGTHS,
        f"""{ROWS} {{ int end = len[i]; if (end > u) end = u; float s = 0;
        for (int k = 0; k < end; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }}""",
        "register",
    ),
    "two ends": (
        LENGTHS,
        f"""{ROWS} {{ float s = 0; for (int k = 0; k < len[i] && k < u; k++)
        s += a[i][k] * b[k][j]; c[i][j] = s; }}""",
        "register",
    ),
    "blocks with their ends": (
        PLAIN,
        """for (int jj = 0; jj < m; jj += 8) { int je = jj + 8; if (je > m) je = m;
        for (int kk = 0; kk < u; kk += 8) { int ke = kk + 8 > u ? u : kk + 8;
        for (int i = 0; i < n; i++) for (int j = jj; j < je; j++) { float s = c[i*m + j];
        for (int k = kk; k < ke; k++) s += a[i*u + k] * b[k*m + j]; c[i*m + j] = s; } } }""",
        "register",
    ),
    "blocks of a function": (
        "int n, const float *a, const float *b, float *c",
        """for (int i = 0; i < n; i += 8) for (int j = 0; j < n; j += 8)
        for (int k = 0; k < n; k += 8) block(n, MIN(8, n - i), MIN(8, n - j), MIN(8, n - k),
        a + i + k * n, b + k + j * n, c + i + j * n);""",
        "register",
    ),
    "either way": (
        f"float beta, {PLAIN}",
        f"""{SUMS} if (beta == 0) c[i*m + j] = s; else c[i*m + j] = s + beta * c[i*m + j]; }}""",
        "register",
    ),
    "all but one": (
        POINTS,
        """for (int i = 0; i < n; i++) { float s = 0, t = 0; for (int j = 0; j < n; j++) {
        if (j == i) continue; float d = x[i] - x[j], e = y[i] - y[j], r = d*d + e*e + z[j];
        if (r < cut) { s += d * r; t += e * r; } } p[i] = s; q[i] = t; }""",
        "1-d",
    ),
    "a break at a length": (
        LENGTHS,
        f"""{ROWS} {{ float s = 0; for (int k = 0; k < u; k++) {{ if (k >= len[i]) break;
        s += a[i][k] * b[k][j]; }} c[i][j] = s; }}""",
        "register",
    ),
    "steps in conditions": (
        PLAIN,
        """int i, j, k; for (i = n; --i >= 0; ) for (j = m; --j >= 0; ) { float s = 0;
        for (k = u; --k >= 0; ) s += a[i*u + k] * b[k*m + j]; c[i*m + j] = s; }""",
        "register",
    ),
    "coordinates in one array": (
        "int n, float cut, const float *x, const float *y, float *p",
        """for (int i = 0; i < n; i++) { p[i] = cut; for (int j = 0; j < n; j++) {
        if (i == j) continue; float d = x[3*i] - x[3*j], e = x[3*i + 1] - x[3*j + 1],
        f = x[3*i + 2] - x[3*j + 2]; p[i] += y[j] * (d*d + e*e + f*f); } }""",
        "1-d",
    ),
    "boxes that data name": (
        f"{BOXES}, const int ps[u][n], const int js[n]",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0;
        for (int k = 0; k < u; k++) { int p; if (0 < k) p = ps[k][i]; else p = i;
        int row = js[p]; for (int e = 0; e < m; e++) s += h[i][j] * x[row][e]; }
        out[i][j] = s; }""",
        "1-d",
    ),
    "boxes along the fast loop": (
        f"{BOXES}, const int ps[u][m], const int js[m]",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0;
        for (int k = 0; k < u; k++) { int p = 0 < k ? ps[k][j] : j, row = js[p];
        for (int e = 0; e < m; e++) { float d = h[i][j] - x[row][e]; s += d * d; } }
        out[i][j] = s; }""",
        "1-d",
    ),
    "neighbours of boxes": (
        "int n, int m, int u, const int ps[n][u], const float x[n][m], float out[n][m]",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0;
        for (int k = 0; k < u; k++) { int b = k > 0 ? ps[i][k] : i;
        for (int e = 0; e < m; e++) { float d = x[i][j] - x[b][e]; s += d * d; } }
        out[i][j] = s; }""",
        "1-d",
    ),
    "once Fortran": (
        PLAIN,
        """static int i__, j, l; static float temp; a -= 1 + n; b -= 1 + u; c -= 1 + n;
        for (j = 1; j <= m; ++j) { for (i__ = 1; i__ <= n; ++i__) { temp = 0.f;
        for (l = 1; l <= u; ++l) { temp += a[i__ + l * n] * b[l + j * u]; }
        c[i__ + j * n] = temp; } }""",
        "register",
    ),
    "zeros are left out": (
        SHAPED,
        """int i, j, k; float t; for (i = 0; i < n; i++) for (k = 0; k < u; k++) {
        if (a[i][k] != 0.f) { t = 2 * a[i][k];
        for (j = 0; j < m; j++) c[i][j] += t * b[k][j]; } }""",
        "register",
    ),
    "backwards, without a sign": (
        SHAPED.replace("int", "unsigned"),
        """for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < m; j++) { float s = 0;
        for (unsigned k = u; k > 0; k--) s += a[i][k - 1] * b[k - 1][j]; c[i][j] = s; }""",
        "register",
    ),
    "a window without a sign": (
        "unsigned h, unsigned w, const float in[h][w], const float f[5][5], float out[h][w]",
        """for (unsigned y = 0; y < h; y++) for (unsigned x = 0; x < w; x++) { float s = 0;
        for (unsigned v = 0; v < 5; v++) for (unsigned u = 0; u < 5; u++)
        if (y + v >= 2 && y + v < h + 2 && x + u >= 2 && x + u < w + 2)
        s += in[y + v - 2][x + u - 2] * f[v][u]; out[y][x] = s; }""",
        "stencil",
    ),
    "windows cut at the edge": (
        IMAGE,
        f"""{PIXELS} {{ float s = 0; int k = 0;
        for (int v = MAX(y - 3, 0); v <= MIN(y + 3, h - 1); v++)
        for (int u = MAX(x - 3, 0); u <= MIN(x + 3, w - 1); u++) {{ s += in[v*w + u]; k++; }}
        out[y*w + x] = s * k + f[0]; }}""",
        "stencil",
    ),
    "clipped by a macro": (
        IMAGE,
        f"""{PIXELS} {{ float s = 0; for (int v = -3; v <= 3; v++) for (int u = -3; u <= 3; u++)
        s += in[CLIP(y + v, 0, h - 1) * w + CLIP(x + u, 0, w - 1)] * f[(v + 3)*7 + u + 3];
        out[y*w + x] = s; }}""",
        "stencil",
    ),
}  # fmt: skip

SIZES = {
    "n": ({"n": 21, "m": 35, "u": 19}, {"n": 2, "m": 1, "u": 1}, {"n": 3, "m": 50, "u": 33}),
    "h": ({"h": 21, "w": 35}, {"h": 1, "w": 1}, {"h": 2, "w": 40}),
}
TILES = {
    "register": {"Ty": 4, "Tx": 4, "Tk": 4, "Ry": 2, "Rx": 2},
    "1-d": {"Tx": 8, "Tk": 8},
    "stencil": {"Ty": 2, "Tx": 8, "Ry": 2},
}
INPUTS = {"len": Wanted("0", "60"), "js": Wanted("0", "rows"), "ps": Wanted("0", "n")}


def text(name: str) -> str:
    params, body, _ = STYLES[name]
    return f"{HEAD}void f({params})\n{{\n  {body}\n}}\n"


@cache
def plan(name: str) -> Plan:
    recipe = STYLES[name][2]
    done = lx.loads(text(name))["f"].tile(contract=False, **TILES[recipe])
    assert done.recipe == recipe, done.tiled.reason
    return emit.kernel(done.derivation, fp=SEPARATE)


def given_arrays(name: str) -> dict[str, Wanted] | None:
    """The values of arrays that say how long rows are, or which one is meant."""
    params = STYLES[name][0]
    found = {k: v for k, v in INPUTS.items() if re.search(rf"\b{k}\b", params)}
    return {**found, "ps": Wanted("0", "m")} if "js[m]" in params else found or None


def numbers(name: str) -> list[dict[str, int | float]]:
    """Sizes, and the other numbers of the function."""
    p = plan(name)
    own = {x.name for x in p.start.objects if not x.array}
    every = SIZES["h" if "h" in own else "n"]
    return [
        {k: v for k, v in {**s, "cut": 900.0, "beta": 0.5, "rows": 4}.items() if k in own}
        for s in every
    ]


@pytest.mark.device
@pytest.mark.parametrize("name", STYLES)
def test_tiled_bit_identical_to_the_c_program(name: str) -> None:
    inputs = given_arrays(name)
    assert_runs_agree(plan(name), CSource(text=text(name)), numbers(name), 3, inputs=inputs)
    if "beta" in text(name) and "return" not in STYLES[name][1]:
        zero = [{**s, "beta": 0.0} for s in numbers(name)]
        assert_runs_agree(plan(name), CSource(text=text(name)), zero, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    "name",
    [
        "cursors",
        "a break at a length",
        "coordinates in one array",
        "backwards, without a sign",
        "all but one",
        "windows cut at the edge",
    ],
)
def test_touches_only_what_the_c_program_touches(name: str) -> None:
    p, sizes = plan(name), {"n": 9, "m": 7, "u": 6, "h": 9, "w": 11, "cut": 900.0, "rows": 5}
    given = {k: v for k, v in sizes.items() if k in {x.name for x in p.start.objects}}
    inputs = given_arrays(name)
    report = simulate(p, arguments(p.start, given, 1, inputs))
    assert report.clean, report.findings


FLAT = {
    "memset": "memset(c, 0, sizeof(float) * n * m);",
    "loop": "for (int t = 0; t < n * m; t++) c[t] = a[0] + t;",
}


@pytest.mark.device
@pytest.mark.parametrize("name", FLAT)
def test_a_matrix_that_is_filled_flat_in_front(name: str) -> None:
    nest = "for (int i = 0; i < n; i++) for (int k = 0; k < u; k++) { float t = a[i*u + k];"
    nest += " for (int j = 0; j < m; j++) c[i*m + j] += t * b[k*m + j]; }"
    whole = f"#include <string.h>\nvoid f({PLAIN})\n{{\n  {FLAT[name]}\n  {nest}\n}}\n"
    done = lx.loads(whole)["f"].offload(contract=False, Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    assert [p.tiled.recipe for p in done.parts if p.tiled][-1] == "register"
    made = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(made, CSource(text=whole), [dict(s) for s in SIZES["n"]], 5)


OVERLAPPING = """\
void f(int n, int m, int len[n], const int b[m], int *c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int end = len[i];
      if (end > m) end = m;
      int s = 0;
      for (int k = 0; k < end; k++) s += b[k];
      *c++ = s;
    }
}
"""


def test_arrays_that_overlap_are_left_to_the_text() -> None:
    """Where what was taken for granted does not hold, the user's own statements run."""
    function = lx.loads(OVERLAPPING)["f"]
    made = function.tile(limits="cpu", recipe="naive").openmp
    written = CSource(text=next(t for n, t in made.files.items() if n.endswith("_openmp.c")))
    results = []
    for source in (CSource(text=OVERLAPPING), written):
        whole = np.arange(40, dtype="int32") % 7
        args = {"n": 4, "m": 5, "len": whole[2:6], "b": whole[20:].copy(), "c": whole[:20]}
        Library(source, [function.function]).run("f", args)
        results.append(whole)
    np.testing.assert_equal(*results)
    assert "_offset" in written.text


def test_what_is_counted_in_a_window_takes_no_time() -> None:
    """Conditions on a counter double what stands for it, each time."""
    text = (
        HEAD
        + f"""void f({IMAGE}) {{ {PIXELS} {{ float s = 0; int k = 0;
      for (int v = MAX(y - 3, 0); v <= MIN(y + 3, h - 1); v++)
        for (int u = MAX(x - 3, 0); u <= MIN(x + 3, w - 1); u++) {{ s += in[v * w + u]; k++; }}
      out[y * w + x] = s / k; }} }}"""
    )
    began = process_time()
    assert lx.loads(text)["f"].offload().parts
    assert process_time() - began < 15
