"""Matrices behind plain pointers of which only data tell where they end, in the middle of a row as
well: the written program copies no element behind the last one that the loops reach."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

void sparse_rows(int n, int m, const int *row, const int *col, const float *val, const float *x,
                 float *y)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int e = row[i]; e < row[i + 1]; e++)
        s += val[e] * x[col[e] * m + j];
      y[i * m + j] = s;
    }
}

void ellpack(int n, int w, const int *col, const double *val, const double *x, double *y)
{
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < w; k++) {
      int c = col[k * n + i];
      if (c >= 0)
        s += val[k * n + i] * x[c];
    }
    y[i] = s;
  }
}

void ragged_scores(int n, int m, int u, const int *len, const float *q, const float *k, float *p)
{
  for (int b = 0; b < n; b++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < len[b] && j < m; j++) {
        float s = 0;
        for (int e = 0; e < u; e++)
          s += q[(b * m + i) * u + e] * k[(b * m + j) * u + e];
        p[(b * m + i) * m + j] = s;
      }
}

void boxes(int n, int m, const int *many, const int *near, const float *x, float *f)
{
  for (int l = 0; l < n; l++) {
    const float *a = x + l * m;
    float *to = f + l * m;
    for (int k = 0; k < 1 + many[l]; k++) {
      int p = k == 0 ? l : near[l * 5 + k - 1];
      const float *b = x + p * m;
      for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
          to[i] += a[i] * b[j];
    }
  }
}

static void *filled(size_t n, size_t size)
{
  unsigned char *p = malloc(n * size);
  for (size_t i = 0; i < n * size; i++)
    p[i] = 0;
  return p;
}

static float *floats(int n)
{
  float *p = filled(n, sizeof *p);
  for (int i = 0; i < n; i++)
    p[i] = (float)(i * 7 % 11 - 4);
  return p;
}

int main(void)
{
  int row[] = {0, 2, 2, 5, 6}, *col = filled(6, sizeof *col);
  col[0] = 3, col[1] = 1, col[2] = 5, col[3] = 0, col[4] = 2, col[5] = 4;
  float *y = filled(4 * 9, sizeof *y);
  sparse_rows(4, 9, row, col, floats(6), floats(6 * 9), y);

  int *ell = filled(3 * 5, sizeof *ell);
  for (int i = 0; i < 15; i++)
    ell[i] = i % 4 == 1 ? -1 : i * 3 % 8;
  double *val = filled(15, sizeof *val), *x = filled(8, sizeof *x), *z = filled(5, sizeof *z);
  for (int i = 0; i < 15; i++)
    val[i] = i + 1;
  for (int i = 0; i < 8; i++)
    x[i] = 2 * i - 5;
  ellpack(5, 3, ell, val, x, z);

  int len[] = {4, 9, 2};
  float *p = filled(3 * 36 - 4, sizeof *p);
  ragged_scores(3, 6, 7, len, floats(3 * 6 * 7), floats((2 * 6 + 2) * 7), p);

  int many[] = {2, 0, 1, 5}, *near = filled(4 * 5, sizeof *near);
  for (int i = 0; i < 20; i++)
    near[i] = i * 3 % 4;
  float *f = filled(4 * 6, sizeof *f);
  boxes(4, 6, many, near, floats(4 * 6), f);
  for (int i = 0; i < 24; i++)
    printf("%g %g %g %g\\n", (double)y[i], z[i % 5], (double)p[3 * i], (double)f[i]);
  return 0;
}
"""

TAKEN = ["sparse_rows", "ellpack", "ragged_scores", "boxes"]


@pytest.mark.parametrize("sanitized", [False, True])
def test_programs_print_the_same(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    (tmp_path / "rows.c").write_text(FILE)
    done = lx.load(tmp_path / "rows.c").offload(fp="strict")
    names = [r.region.name for r in done.regions]
    assert [name for name in TAKEN if name in names] == TAKEN, done.left
    said = assert_file_prints_the_same(tmp_path / "rows.c", done, sanitized=sanitized)
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert set(TAKEN) <= ran, said
    assert not any("on the host" in line for line in said), said
