"""Memory that functions allocate and free again, in loops too: programs print the same with it on
the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

static int last(int m, const int *x)
{
  int *t = malloc(m * sizeof(int));
  if (t == NULL)
    return -1;
  t[0] = x[0];
  for (int j = 1; j < m; j++)
    t[j] = 3 * t[j - 1] % 101 + x[j];
  int s = t[m - 1] + t[m / 2];
  free(t);
  return s;
}

void called(int n, int m, const int *x, int *y)
{
  for (int i = 0; i < n; i++)
    y[i] = last(m, x + i * m);
}

void cleared(int n, int m, const int *x, int *y)
{
  for (int i = 0; i < n; i++) {
    int *seen = calloc(m + 1, sizeof *seen), *twice;
    twice = (int *)malloc(2 * m * sizeof(int));
    if (!seen || twice == NULL)
      return;
    for (int j = 0; j < m; j++) {
      seen[x[i * m + j] % (m + 1)]++;
      twice[2 * j] = twice[2 * j + 1] = j + i;
    }
    int s = 0;
    for (int j = 0; j < m; j++)
      s = 5 * s % 1009 + seen[j] * twice[m + j];
    y[i] = s;
    free(seen);
    free(twice);
  }
}

void whole(int n, const int *x, int *y)
{
  int *t = malloc(sizeof(*t) * n);
  if (!t) {
    return;
  }
  for (int i = 0; i < n; i++)
    t[i] = x[n - 1 - i] + i;
  for (int i = 0; i < n; i++)
    y[i] = t[n - 1 - i] + x[i];
  free(t);
}

int main(void)
{
  static const int sizes[][2] = {{0, 5}, {1, 1}, {6, 0}, {4, -1}, {5, 3}, {3, 300}, {70, 9}};
  static int x[900], y[70];
  for (int i = 0; i < 900; i++)
    x[i] = i * 37 % 101;
  for (int k = 0; k < 7; k++) {
    int n = sizes[k][0], m = sizes[k][1];
    if (m > 0)
      called(n, m, x, y);
    for (int i = 0; i < 70; i++)
      printf("%d ", y[i]);
    if (m >= 0)
      cleared(n, m, x, y);
    for (int i = 0; i < 70; i++)
      printf("%d ", y[i]);
    whole(n < 70 ? n : 0, x, y);
    for (int i = 0; i < 70; i++)
      printf("%d ", y[i]);
    puts("");
  }
  return 0;
}
"""

TAKEN = {
    "in a loop": "double *t = malloc(m * sizeof *t);",
    "a product": "double *t; t = (double *)calloc(2, sizeof(double) * m);",
    "a number": "double *t = malloc(8 * sizeof *t); if (t == NULL) return;",
}
LEFT = {
    "a size on data": "double *t = malloc(len[i] * sizeof *t);",
    "a size that changes": "double *t = malloc(m++ * sizeof *t);",
    "a pointer that is kept": "double *t = malloc(m * sizeof *t); kept = t;",
    "a size of its own": "double *t = malloc((i + m) * sizeof *t);",
}


USE = (
    "for (int j = 0; j < m; j++) t[j] = y[m * i + j];"
    " for (int j = 0; j < m; j++) y[m * i + j] = t[m - 1 - j];"
)


@pytest.mark.slow
@pytest.mark.opencl_sdk
def test_programs_print_the_same(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "memory.c").write_text(FILE)
    done = lx.load(tmp_path / "memory.c").offload(fp="strict")
    assert {"called", "cleared", "whole"} <= {r.region.name for r in done.regions}, done.left
    said = assert_file_prints_the_same(tmp_path / "memory.c", done, sanitized=True)
    ran = [line.split(": ")[2] for line in said if "on the device" in line]
    assert [ran.count(name) for name in ("called", "cleared", "whole")] == [4, 4, 5], said


@pytest.mark.parametrize("case", [*TAKEN, *LEFT])
def test_what_is_on_the_device(case: str) -> None:
    text = (
        "#include <stdlib.h>\ndouble *kept; void f(int n, int m, const int *len, double *y) {"
        f" for (int i = 0; i < n; i++) {{ {(TAKEN | LEFT)[case]} {USE} free(t); }} }}"
    )
    done = lx.loads(text).offload(fp="strict")
    (_, around), *_ = done.loops
    assert around == (case in TAKEN), done.left
