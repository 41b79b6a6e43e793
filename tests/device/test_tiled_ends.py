"""Plain pointers of which only data tell how much is touched: `tile` has the host find it out, and
stages what lies in rows that may end in the middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_project import (
    PLAIN,
    SANITIZED,
    assert_file_prints_the_same,
    cc,
    require_opencl,
    run_app,
)

import loopxform as lx
from loopxform.errors import UnsupportedC
from loopxform.verify.check_run import arguments

FUNCTIONS = {
    "pool": (
        "int n, int u, int m, const int *len, const float *x, const float *w, float *y",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
        int end = len[i] < u ? len[i] : u; float s = 0;
        for (int k = 0; k < end; k++) s += x[i * u + k] * w[k * m + j]; y[i * m + j] = s; }""",
        "register",
    ),
    "sparse": (
        "int n, int m, const int *row, const int *col, const float *val, const float *x, float *y",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0;
        for (int k = row[i]; k < row[i + 1]; k++) s += val[k] * x[col[k] * m + j];
        y[i * m + j] = s; }""",
        "1-d",
    ),
    "listed": (
        "int n, int u, const int *at, const float *val, const float *x, float *y",
        """for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < u; k++) {
        int c = at[k * n + i]; if (c >= 0) s += val[k * n + i] * x[c]; } y[i] = s; }""",
        "naive",
    ),
    "counted": (
        "int n, const int *at, int *count, unsigned *seen",
        "for (int i = 0; i < n; i++) { count[at[i]]++; seen[at[i]] |= 1u << i % 32; }",
        "naive",
    ),
}
TILES = {"register": {"Ty": 4, "Tx": 4, "Tk": 4, "Ry": 2, "Rx": 2}, "1-d": {"Tx": 16, "Tk": 4}}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
static unsigned state = 7;
static int next(int most)
{ state = state * 1103515245u + 12345u; return (int)(state >> 16) % most; }
static int *whole(int n, int most)
{ int *p = malloc(sizeof *p * (n + 1)); for (int i = 0; i < n; i++) p[i] = next(most); return p; }
static float *real(int n)
{ float *p = malloc(sizeof *p * (n + !n)); for (int i = 0; i < n; i++) p[i] = next(99) / 8.f;
  return p; }
static void print(int n, const float *y) { for (int i = 0; i < n; i++) printf("%a\\n", y[i]); }
int main(void)
{
  for (int n = 1; n < 40; n += 19) {
    int m = 2 * n + 1, u = 9 + n % 3, most = 0, end = 0, longest = 0;
    int *len = whole(n, u + 3), *row = whole(n + 1, 1), *at = whole(n * u, 40);
    for (int i = 0; i < n; i++) {
      int l = len[i] < u ? len[i] : u;
      row[i + 1] = row[i] + len[i];
      if (l) end = i * u + l;
      if (l > longest) longest = l;
    }
    int *col = whole(row[n], 30);
    for (int i = 0; i < row[n]; i++) if (col[i] >= most) most = col[i] + 1;
    float *y = real(n * m);
    pool(n, u, m, len, real(end), real(longest * m), y); print(n * m, y);
    sparse(n, m, row, col, real(row[n]), real(most * m), y); print(n * m, y);
    most = 0;
    for (int i = 0; i < n * u; i++) if ((at[i] -= 9) >= most) most = at[i] + 1;
    listed(n, u, at, real(n * u), real(most), y); print(n, y);
    int *count = whole(30, 5), *seen = whole(30, 5);
    for (int i = 0; i < row[n]; i++) if (col[i] >= most) most = col[i] + 1;
    counted(row[n], col, count, (unsigned *)seen);
    for (int i = 0; i < 30; i++) printf("%d %d\\n", count[i], seen[i]);
  }
  return 0;
}
"""


def text(name: str) -> str:
    params, body, _ = FUNCTIONS[name]
    return f"void {name}({params})\n{{\n  {body}\n}}\n"


@pytest.mark.slow
def test_written_programs_print_the_same(tmp_path: Path) -> None:
    require_opencl()
    declared = "".join(f"void {name}({params});\n" for name, (params, _, _) in FUNCTIONS.items())
    (tmp_path / "main.c").write_text(declared + MAIN)
    for name, (_, _, recipe) in FUNCTIONS.items():
        (tmp_path / f"{name}.c").write_text(text(name))
        done = lx.load(tmp_path / f"{name}.c")[name].tile(fp="strict", **TILES.get(recipe, {}))
        assert done.recipe == recipe, done.tiled.reason
        done.write(tmp_path)
    flags = [*SANITIZED, *PLAIN, "main.c"]
    for app, ending, libraries in (
        ("plain", ".c", ["-lm"]),
        ("app", "_opencl.c", ["-lOpenCL", "-lm"]),
    ):
        files = [f"{name}{ending}" for name in FUNCTIONS]
        built = cc(tmp_path, *flags, *files, "-o", app, *libraries)
        assert not built.returncode, built.stderr
    settings = {"ASAN_OPTIONS": "detect_leaks=0", "LOOPXFORM_VERBOSE": "1"}
    expected = run_app(tmp_path / "plain", **settings)
    found = run_app(tmp_path / "app", whole=True, **settings)
    assert expected.stdout, expected.stderr
    assert (found.stdout, found.returncode) == (expected.stdout, 0), found.stderr
    said = found.stderr.splitlines()
    assert {line.split(": ")[2] for line in said if "on the device" in line} == {*FUNCTIONS}, said


@pytest.mark.device
def test_arrays_from_python_are_as_long_as_they_are() -> None:
    n, u, m = 21, 9, 13
    draw = np.random.default_rng(5)
    length = draw.integers(0, 12, n).astype(np.int32)
    x, w = (draw.random(size).astype(np.float32) for size in ((n, u), (u, m)))
    y = np.empty((n, m), np.float32)
    kernel = lx.loads(text("pool"))["pool"].tile(contract=False, **TILES["register"]).compile()
    kernel(n, u, m, length, x, w, y)
    ends = np.minimum(length, u)
    expected = [(x[i, : ends[i], None] * w[: ends[i]]).sum(axis=0) for i in range(n)]
    np.testing.assert_allclose(y, expected, rtol=1e-5)


def test_a_run_needs_a_size() -> None:
    done = lx.loads(text("pool"))["pool"].tile()
    with pytest.raises(UnsupportedC, match="how much of 'x' is touched only the data") as e:
        arguments(done.derivation.start, {"n": 3, "u": 4, "m": 5}, 1)
    assert "x[n]" in (e.value.help or "")


CUT = """\
#include <stdio.h>
#include <stdlib.h>
void pool(int n, int m, int u, const int *len, const double *x, const double *w, double *y)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int end = len[i] < u ? len[i] : u;
      double s = 0;
      for (int k = 0; k < end; k++)
        s += x[i * u + k] * w[k * m + j];
      y[i * m + j] = s;
    }
}
void added(int *m, int *n, double *a, double *c, int *ldc)
{
  for (int j = 1; j <= *n; ++j)
    for (int i = 1; i <= *m; ++i)
      c[i - 1 + (j - 1) * *ldc] += 2 * a[i - 1];
}
int main(void)
{
  int n = 130, m = 5, u = 70, end = 129 * u + 9, ldc = 11, rows = 7, columns = 4;
  int *len = malloc(n * sizeof *len);
  double *x = malloc(end * sizeof *x), *w = malloc(u * m * sizeof *w);
  double *y = malloc(n * m * sizeof *y);
  double *a = malloc(rows * sizeof *a), *c = malloc((3 * ldc + rows) * sizeof *c), s = 0;
  for (int i = 0; i < n; i++) len[i] = i < n - 1 ? i : 9;
  for (int i = 0; i < end; i++) x[i] = i % 13;
  for (int i = 0; i < u * m; i++) w[i] = i % 5 - 2;
  pool(n, m, u, len, x, w, y);
  for (int i = 0; i < n * m; i++) s = s * 0.99 + y[i];
#pragma loopxform data copyin(len[0:n], x[0:end], w[0:u*m]) copyout(y[0:n*m])
  for (int t = 0; t < 2; t++)
    pool(n, m, u, len, x, w, y);
  for (int i = 0; i < n * m; i++) s = s * 0.99 + y[i];
  for (int i = 0; i < rows; i++) a[i] = i;
  for (int i = 0; i < 3 * ldc + rows; i++) c[i] = i % 3;
  added(&rows, &columns, a, c, &ldc);
  for (int i = 0; i < 3 * ldc + rows; i++) s = s * 0.99 + c[i];
  printf("%a\\n", s);
  return 0;
}
"""


def test_the_last_row_is_cut_off_wherever_it_lies(tmp_path: Path) -> None:
    """The memory of the caller is not lent with what is behind it; one that stays on the device is
    copied to where there is room. Rows of no length divide nothing."""
    require_opencl()
    (tmp_path / "cut.c").write_text(CUT)
    done = lx.load(tmp_path / "cut.c").offload(fp="strict")
    said = assert_file_prints_the_same(tmp_path / "cut.c", done, sanitized=True)
    assert any("cut.c:3: pool: on the device" in line for line in said), said
