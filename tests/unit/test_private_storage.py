"""Private storage in nests: what moves into the innermost parallel loop leaves other places."""

from __future__ import annotations

import loopxform as lx

TEXT = """\
typedef struct { double v, x; } vector;

void forces(int n, const int *first, const vector *r, vector *f)
{
  for (int l = 0; l < n; l++) {
    int at = first[l];
    for (int k = 0; k < n; k++) {
      int other = k == 0 ? l : k;
      for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
          double d = r[at + i].x - r[other + j].x;
          f[at + i].v += d * r[other + j].v;
          f[at + i].x += d;
        }
    }
  }
}

void sums(int n, int m, double *restrict s, const double *restrict a)
{
  double t, u;
  int j, k, from;
  for (int i = 0; i < n; i++) {
    from = i * m;
    for (k = 0; k < 3; k++) {
      t = a[from + k];
      for (j = 0; j < m; j++) {
        u = t * a[from + j];
        s[i] += u;
      }
    }
  }
}
"""


def test_loops_are_found_after_declarations_have_moved() -> None:
    done = lx.loads(TEXT).offload(fp="reassociate")
    assert not done.broken
    assert "sums" in [r.region.owner.name for r in done.regions]
