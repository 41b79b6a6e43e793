"""Matrices whose rows are found through pointers: programs with them print the same with their
loops on the device, read and write no element that the loops do not, and run the user's loops where
rows share memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

float *table[9];

static double **rows(int n, int m)
{
  double **a = malloc((size_t)n * sizeof *a);
  for (int i = 0; i < n; i++)
    a[i] = calloc((size_t)m, sizeof **a);
  return a;
}

static double sum(int n, int m, double **a)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s = 3 * s / 4 + a[i][j];
  return s;
}

void product(int n, int m, int l, double **a, double **b, double **c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < l; j++) {
      c[i][j] = 0;
      for (int k = 0; k < m; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}

void triangle(int n, double **a)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] = i * 10 + j;
}

void inside(int n, int m, double *const *a, double **b)
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
}

void add(int n, int m, double **a, double **b)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += 2 * b[i][j] + 1;
}

void scale(int n, int m, double **a, const double *by)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] *= by[j];
}

void cube(int n, short ***a)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n + 1; j++)
      for (int k = 0; k < n + 2; k++)
        a[i][j][k] = (short)(a[i][j][k] * 3 + i - j + k);
}

void of_file(int n)
{
  for (int i = 2; i < 9; i++)
    for (int j = 0; j < n; j++)
      table[i][j] = (float)(i + j) / 2;
}

struct net { int n, m; float **w; double *const *v; };

void update(struct net *net, const float *x)
{
  for (int i = 0; i < net->n; i++)
    for (int j = 1; j <= net->m; j++)
      net->w[i][j] += x[j] * (float)net->v[j][i];
}

void corner(struct net *net, int k, int l)
{
  for (int i = 0; i < 2; i++) {
    net->w[0][k] += 1;
    net->w[i][l] += 2;
  }
}

static int nearest(const double *p, int m, double **of, int n)
{
  int best = 0;
  double least = 1e9;
  for (int i = 0; i < n; i++) {
    double far = 0;
    for (int j = 0; j < m; j++)
      far += (p[j] - of[i][j]) * (p[j] - of[i][j]);
    if (far < least) {
      least = far;
      best = i;
    }
  }
  return best;
}

void assign(int n, int m, int k, double **a, double **centres, int *to)
{
  for (int i = 0; i < n; i++)
    to[i] = nearest(a[i], m, centres, k);
}

int main(void)
{
  int n = 17, m = 13, l = 11;
  double **a = rows(n, m), **b = rows(m, l), **c = rows(n, l), **d = rows(n, m), *row = a[3];
  short ***s = malloc(5 * sizeof *s);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = i + 2 * j;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < l; j++)
      b[i][j] = i - j;
  product(n, m, l, a, b, c);
  printf("%.15g\\n", sum(n, l, c));

  double **t = malloc(9 * sizeof *t);
  for (int i = 0; i < 9; i++)
    t[i] = calloc((size_t)i + 1, sizeof **t);
  triangle(9, t);
  printf("%g %g\\n", t[8][8], t[5][3]);

  inside(n, m, a, d);
  printf("%.15g\\n", sum(n, m, d));
  add(n, m, a, d);
  printf("%.15g\\n", sum(n, m, a));
  a[3] = d[3];
  add(n, m, a, d);
  printf("%.15g\\n", sum(n, m, a));
  a[3] = a[4];
  scale(n, l, a, b[2]);
  printf("%.15g\\n", sum(n, m, a));
  a[3] = row;
  scale(n, l, a, a[6]);
  printf("%.15g\\n", sum(n, m, a));

  int to[17];
  assign(n, m, 4, a, d + 1, to);
  printf("%d %d %d\\n", to[0], to[3], to[16]);

  for (int i = 0; i < 5; i++) {
    s[i] = malloc(6 * sizeof **s);
    for (int j = 0; j < 6; j++)
      s[i][j] = calloc(7, sizeof ***s);
  }
  cube(5, s);
  cube(5, s);
  printf("%d %d %d\\n", s[4][5][6], s[0][0][0], s[2][3][1]);

  float *w[3], x[8];
  for (int i = 0; i < 3; i++)
    w[i] = calloc(8, sizeof *w[i]);
  for (int j = 0; j < 8; j++)
    x[j] = (float)j / 4;
  update(&(struct net){3, 7, w, a}, x);
  update(&(struct net){3, 7, w, a}, w[1]);
  corner(&(struct net){3, 7, w, a}, 3, 5);
  printf("%g %g %g\\n", (double)w[0][7], (double)w[2][1], (double)w[0][3]);

  for (int i = 2; i < 9; i++)
    table[i] = malloc(4 * sizeof *table[i]);
  of_file(4);
  of_file(0);
  printf("%g %g\\n", table[8][3], table[2][0]);
  return 0;
}
"""

TAKEN = [
    "product_1",
    "triangle_1",
    "inside_1",
    "add_1",
    "scale_1",
    "cube_1",
    "of_file_1",
    "update_1",
    "assign_1",
]

LEFT = {
    "on data": "void f(int n, int **a, int *k) { for (int i = 0; i < n; i++) a[k[i]][0] = 1; }",
    "of a condition": "void f(int n, int **a, int *k) "
    "{ for (int i = 0; i < n; i++) if (k[i]) a[i][0] = 1; }",
    "in front": "void f(int n, int **a) { for (int i = 0; i < n; i++) a[i][-1] = 1; }",
    "set": "void f(int n, int **a, int *b) "
    "{ for (int i = 0; i < n; i++) { a[i] = b + i; a[i][0] = 1; } }",
    "swapped": "void f(int n, int **a, int **b) "
    "{ for (int i = 0; i < n; i++) { int *t = a[i]; a[i] = b[i]; b[i] = t; a[i][0]++; } }",
}


@pytest.mark.parametrize("sanitized", [False, True])
def test_programs_print_the_same(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    (tmp_path / "matrices.c").write_text(FILE)
    done = lx.load(tmp_path / "matrices.c").offload(fp="strict")
    names = [r.region.name for r in done.regions]
    assert [name for name in TAKEN if name in names] == TAKEN
    said = assert_file_prints_the_same(tmp_path / "matrices.c", done, sanitized=sanitized)
    shared = [line.split(": ")[2] for line in said if "overlap" in line]
    assert shared == ["add_1", "scale_1", "scale_1", "update_1"]
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert {*TAKEN} - {"scale_1"} <= ran


@pytest.mark.parametrize("case", LEFT)
def test_what_cannot_be_copied_stays_on_the_host(case: str) -> None:
    done = lx.loads(LEFT[case]).offload(fp="strict")
    assert done.regions == ()
