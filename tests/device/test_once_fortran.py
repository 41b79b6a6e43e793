"""Programs that were Fortran (sizes behind pointers, columns counted from 1, static variables), and
images with a margin that is an argument: the written program prints what the user's does, also
where the arguments are not what its kernels are for."""

from __future__ import annotations

from pathlib import Path

from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

typedef long int integer;

extern int same(const char *a, const char *b);

int gemm_(const char *transa, integer *m, integer *n, integer *k, double *alpha, double *a,
          integer *lda, double *b, integer *ldb, double *beta, double *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, i__3;
    static integer i__, j, l, nota;
    static double temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    nota = same(transa, "N");
    if (*n < 0) {
        return 1;
    }
    if (nota) {
        i__1 = *n;
        for (j = 1; j <= i__1; ++j) {
            if (*beta == 0.) {
                i__2 = *m;
                for (i__ = 1; i__ <= i__2; ++i__) {
                    c__[i__ + j * c_dim1] = 0.;
                }
            } else if (*beta != 1.) {
                i__2 = *m;
                for (i__ = 1; i__ <= i__2; ++i__) {
                    c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
                }
            }
            i__2 = *k;
            for (l = 1; l <= i__2; ++l) {
                if (b[l + j * b_dim1] != 0.) {
                    temp = *alpha * b[l + j * b_dim1];
                    i__3 = *m;
                    for (i__ = 1; i__ <= i__3; ++i__) {
                        c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
                    }
                }
            }
        }
    } else {
        i__1 = *n;
        for (j = 1; j <= i__1; ++j) {
            i__2 = *m;
            for (i__ = 1; i__ <= i__2; ++i__) {
                temp = 0.;
                i__3 = *k;
                for (l = 1; l <= i__3; ++l) {
                    temp += a[l + i__ * a_dim1] * b[l + j * b_dim1];
                }
                if (*beta == 0.) {
                    c__[i__ + j * c_dim1] = *alpha * temp;
                } else {
                    c__[i__ + j * c_dim1] = *alpha * temp + *beta * c__[i__ + j * c_dim1];
                }
            }
        }
    }
    return 0;
}

void smooth(int w, int h, int r, const unsigned char *in, const float g[256], unsigned char *out)
{
  for (int y = r; y < h - r; y++)
    for (int x = r; x < w - r; x++) {
      float s = 0, t = 0;
      for (int v = -r; v <= r; v++)
        for (int u = -r; u <= r; u++) {
          float z = g[abs(in[(y + v) * w + x + u] - in[y * w + x])];
          s += z * in[(y + v) * w + x + u];
          t += z;
        }
      out[y * w + x] = t > 1 ? s / t : y;
    }
}

int same(const char *a, const char *b) { return *a == *b; }

static double x[9][400], y[2000];

static void product(const char *t, integer m, integer n, integer k, integer lda, integer ldb,
                    integer ldc, double beta)
{
  double alpha = 1.5, s = 0;
  for (int e = 0; e < 400; e++)
    x[0][e] = e % 7 - 3, x[1][e] = e % 5 - 2, x[2][e] = e % 11;
  gemm_(t, &m, &n, &k, &alpha, x[0], &lda, x[1], &ldb, &beta, x[2], &ldc);
  for (int e = 0; e < 400; e++)
    s = s * 0.9 + x[2][e];
  printf("%s %ld %.17g\\n", t, n, s);
}

int main(void)
{
  for (int b = 0; b < 3; b++) {
    product("N", 12, 9, 10, 12, 10, 12, b * 0.5);
    product("N", 11, 9, 10, 13, 12, 14, b * 0.5);
    product("T", 12, 9, 10, 10, 10, 12, b * 0.5);
    product("T", 11, 9, 10, 13, 12, 14, b * 0.5);
    product("N", 0, 9, 10, 13, 12, 14, b * 0.5);
  }
  integer none = 0, m = 6, ld = 8, n = 7, k = 5, long_row = 9;
  double one = 1;
  gemm_("N", NULL, &none, NULL, NULL, x[0], &ld, x[1], &ld, NULL, x[2], &ld);
  gemm_("T", NULL, &none, NULL, NULL, x[0], &ld, x[1], &ld, NULL, x[2], &ld);
  for (int e = 0; e < 2000; e++)
    y[e] = e % 3;
  gemm_("T", &m, &n, &k, &one, y, &ld, y + 200, &ld, y + 303, y + 300, &ld);
  gemm_("N", &m, &n, &k, &one, y, &ld, y + 200, &ld, y + 504, y + 500, &ld);
  gemm_("T", &long_row, &n, &k, &one, y, &ld, y + 200, &ld, &one, y + 700, &ld);
  double s = 0;
  for (int e = 0; e < 2000; e++)
    s = s * 0.9 + y[e];
  printf("%.17g\\n", s);
  static unsigned char in[40 * 40], out[40 * 40];
  float g[256];
  for (int e = 0; e < 256; e++)
    g[e] = 1.0f / (1 + e);
  for (int e = 0; e < 1600; e++)
    in[e] = e * 37 % 251;
  for (int r = -2; r < 4; r++) {
    smooth(20, 19, r, in + 200, g, out + 200);
    unsigned sum = 0;
    for (int e = 0; e < 1600; e++)
      sum = sum * 31 + out[e];
    printf("%d %u\\n", r, sum);
  }
  return 0;
}
"""


def test_programs_print_the_same(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "f.c").write_text(FILE)
    done = lx.load(tmp_path / "f.c").offload(fp="strict")
    mapped = {
        r.region.name: [p.tiled.recipe for p in r.done.parts if p.tiled] for r in done.regions
    }
    assert mapped["gemm__1"] == ["naive", "register"], done.left
    assert mapped["gemm__2"] == ["register"], done.left
    said = assert_file_prints_the_same(tmp_path / "f.c", done, sanitized=True)
    ran = [line.split(": ")[2] for line in said if "on the device" in line]
    assert {"gemm__1", "gemm__2", "smooth"} <= set(ran), said


ROWS = """\
#include <stdio.h>

void doubled(const int *n, const int *ld, double *restrict a, const double *restrict b)
{
  for (int i = 0; i < *n; i++)
    for (int j = 0; j < *n; j++)
      a[i * *ld + j] = 2 * b[i * *ld + j];
}

void halved(const int *size, const int *ld, double *restrict a, const double *restrict b)
{
  const int n = *size, rows = *ld;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * rows + j] = b[i * rows + j] / 2;
}

int main(void)
{
  static double a[200], b[200];
  int none = 0, n = 9, ld[] = {13, 9, 5};
  for (int e = 0; e < 200; e++)
    b[e] = e;
  doubled(&none, NULL, a, b);
  for (int e = 0; e < 3; e++) {
    doubled(&n, ld + e, a, b);
    halved(&n, ld + e, b, a);
  }
  double s = 0;
  for (int e = 0; e < 200; e++)
    s = s * 0.9 + a[e];
  printf("%.17g\\n", s);
  return 0;
}
"""


def test_lengths_of_rows_behind_pointers(tmp_path: Path) -> None:
    """Also where functions are named: none of their loops is parallel in the whole function."""
    require_opencl()
    (tmp_path / "f.c").write_text(ROWS)
    done = lx.load(tmp_path / "f.c").offload("doubled", "halved", fp="strict")
    mapped = {r.region.name: [p.kind for p in r.done.parts] for r in done.regions}
    assert mapped == {"doubled_1": ["kernel"], "halved_1": ["kernel"]}, done.left
    said = assert_file_prints_the_same(tmp_path / "f.c", done, sanitized=True)
    ran = [line.split(": ")[2] for line in said if "on the device" in line]
    assert ran == ["doubled_1", "halved_1"] * 2, said
