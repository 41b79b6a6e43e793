"""Rows that a pointer in each struct of an array leads to: programs with them print the same with
their loops on the device, and run the user's loops where rows share memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

typedef struct { float weight, *coord; long assign; float cost; } Point;
typedef struct { long num; int dim; Point *p; } Points;

static float dist(Point a, Point b, int dim)
{
  float d = 0;
  for (int j = 0; j < dim; j++)
    d += (a.coord[j] - b.coord[j]) * (a.coord[j] - b.coord[j]);
  return d;
}

void costs(Points *points, int x)
{
  for (int i = 0; i < points->num; i++) {
    points->p[i].cost = dist(points->p[i], points->p[x], points->dim) * points->p[i].weight;
    points->p[i].assign = x;
  }
}

void scale(Points *points)
{
  for (int i = 0; i < points->num; i++)
    for (int j = 0; j < points->dim; j++)
      points->p[i].coord[j] *= points->p[i].weight;
}

void add(int n, int m, Point *a, const Point *b, const float *by)
{
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      a[i].coord[j] += b[i].coord[j - 1] + by[j];
}

struct layer { int n; double **w; struct { double *bias; } in; short *last; };
struct net { int layers; struct layer *layer; };

void grow(struct net *net, int n)
{
  for (int l = 0; l < net->layers; l++)
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++)
        net->layer[l].w[i][j] += net->layer[l].in.bias[j] + l;
      net->layer[l].last[i] = (short)(10 * l + 2 * i);
    }
}

void count(int n, int m, struct layer *a, int *of)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i].last[j] = (short)(of[i] + 3);
}

struct rows { int n, m, **w; };

void fill(struct rows *s)
{
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->m; j++)
      s->w[i][j] = 2;
}

static Points *points(int n, int m)
{
  Points *all = malloc(sizeof *all);
  *all = (Points){n, m, malloc((size_t)n * sizeof *all->p + 1)};
  for (int i = 0; i < n; i++) {
    all->p[i] = (Point){i % 3 + 1, malloc((size_t)m * sizeof(float) + 1), -1, -1};
    for (int j = 0; j < m; j++)
      all->p[i].coord[j] = (float)((i * 7 + j * 3) % 11);
  }
  return all;
}

static void show(Points *all)
{
  double s = 0;
  for (int i = 0; i < all->num; i++)
    for (int j = 0; j < all->dim; j++)
      s = 3 * s / 4 + all->p[i].coord[j] + all->p[i].cost + all->p[i].assign;
  printf("%.9g\\n", s);
}

int main(void)
{
  int sizes[4][2] = {{0, 3}, {1, 1}, {5, 0}, {37, 19}};
  float by[20] = {1, 2, 3};
  for (int k = 0; k < 4; k++) {
    int n = sizes[k][0], m = sizes[k][1];
    Points *a = points(n, m), *b = points(n, m);
    costs(a, n / 2);
    scale(a);
    add(n, m, a->p, b->p, by);
    show(a);
    if (n < 2)
      continue;
    add(n, m, a->p, a->p, by);
    b->p[1].coord = b->p[0].coord;
    costs(b, 1);
    scale(b);
    add(n, m, b->p, a->p, b->p[0].coord);
    show(b);
  }

  struct net net = {3, malloc(3 * sizeof *net.layer)};
  for (int l = 0; l < 3; l++) {
    struct layer *x = &net.layer[l];
    x->w = malloc(4 * sizeof *x->w);
    x->in.bias = malloc(4 * sizeof *x->in.bias);
    x->last = malloc(4 * sizeof *x->last);
    for (int i = 0; i < 4; i++) {
      x->in.bias[i] = i + l;
      x->w[i] = calloc(4, sizeof **x->w);
    }
  }
  grow(&net, 4);
  grow(&net, 0);
  printf("%g %g %d\\n", net.layer[2].w[1][3], net.layer[0].w[3][0], net.layer[1].last[3]);
  int of[] = {7, 8, 9};
  count(3, 2, net.layer, of);
  printf("%d %d\\n", net.layer[2].last[1], net.layer[0].last[3]);

  struct rows s = {2, 2, malloc(2 * sizeof *s.w)};
  int row[2];
  s.w[0] = row;
  s.w[1] = &s.n;
  fill(&s);
  printf("%d %d\\n", s.n, row[1]);
  return 0;
}
"""

TAKEN = ["costs_1", "scale_1", "add_1", "grow_1", "count_1", "fill_1"]

SHARED = ["add_1", "scale_1", "add_1", "fill_1"]
"""What finds rows that overlap, in the order of the calls: in points that share coordinates `costs`
reads alone."""

LEFT = {
    "the pointers": "struct s { int *v; }; void f(int n, struct s *a, int *b) "
    "{ for (int i = 0; i < n; i++) { a[i].v = b + i; a[i].v[0] = 1; } }",
    "whole structs": "struct s { int *v; }; void f(int n, struct s *a) "
    "{ for (int i = 0; i < n; i++) { a[i] = a[i + 1]; a[i].v[0] = 1; } }",
    "lengths in structs": "struct s { int n, *v; }; void f(int n, struct s *a) "
    "{ for (int i = 0; i < n; i++) for (int j = 0; j < a[i].n; j++) a[i].v[j] = 1; }",
}


@pytest.mark.parametrize("sanitized", [False, True])
def test_programs_print_the_same(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    (tmp_path / "points.c").write_text(FILE)
    done = lx.load(tmp_path / "points.c").offload(fp="strict")
    names = [r.region.name for r in done.regions]
    assert [name for name in TAKEN if name in names] == TAKEN
    said = assert_file_prints_the_same(tmp_path / "points.c", done, sanitized=sanitized)
    assert [line.split(": ")[2] for line in said if "overlap" in line] == SHARED
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert {*TAKEN} - {"fill_1"} <= ran


@pytest.mark.parametrize("case", LEFT)
def test_what_cannot_be_copied_stays_on_the_host(case: str) -> None:
    done = lx.loads(LEFT[case]).offload(fp="strict")
    assert done.regions == ()
