"""Arrays that a function allocates, read and written where its loops compute: the host copies all
of them, and the program prints what it prints without the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stdlib.h>

static int spot(const int *x, int m, int v)
{
  for (int i = 0; i < m; i++)
    if (x[i] == v)
      return i;
  return -1;
}

static int search(int n, int m)
{
  int *x = malloc(m * sizeof *x), *y = malloc(m * sizeof(int));
  double *a = malloc(n * sizeof(double)), *b = NULL;
  float *h = malloc((n + 1) * sizeof(float));
  b = calloc(n, sizeof(double));
  if (m > 1000) {
    free(b);
    return 1;
  }
  for (int i = 0; i < n; i++)
    a[i] = i;
  for (int i = 0; i <= n; i++)
    h[i] = -i;
  for (int i = 0; i < m; i++)
    x[i] = i * 7 % 13, y[i] = n > 0 ? i % 5 - 1 : -1;
  printf("begin %d %d\\n", n, m);
  for (int r = 0; r < 2; r++) {
    for (int j = 0; j < m; j++) {
      int k = spot(y, m, j - r);
      if (k >= 0 && k < n && j < n)
        b[j] = a[n - 1 - k] + h[k + 1];
      x[j] += k >= 0;
    }
    printf("step %d\\n", r);
  }
  for (int i = 0; i < n; i++)
    printf("%g %g %g\\n", a[i], b[i], h[i]);
  for (int i = 0; i < m; i++)
    printf("%d %d\\n", x[i], y[i]);
  free(a), free(b), free(h), free(x), free(y);
  return 0;
}

int main(void)
{
  return search(50, 20) + search(0, 20) + search(3, 20) + search(1, 1) + search(7, 7);
}
"""


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("sanitized", [False, True])
def test_the_program_prints_the_same(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    (tmp_path / "search.c").write_text(FILE)
    done = lx.load(tmp_path / "search.c").offload(fp="strict")
    assert [r.region.name for r in done.regions] == ["search_1", "search_2"], done.left
    said = assert_file_prints_the_same(tmp_path / "search.c", done, sanitized=sanitized)
    assert sum("search_2: on the device" in line for line in said) == 10, said


def test_without_an_allocation_of_its_own_it_is_refused() -> None:
    text = FILE.replace("b = calloc(n, sizeof(double));", "b = a;")
    found = [e for _, e in lx.loads(text).offload(fp="strict").left if e.code == "LX040"]
    assert [e.loc.line for e in found if e.loc] == [33]


SEARCHES = """\
#include <stdio.h>
#include <stdlib.h>

static int find(int n, int key)
{
  int *c = malloc(n * sizeof *c);
  if (!c)
    return -2;
  for (int i = 0; i < n; i++)
    c[i] = i * 7 % 31;
  for (int i = 0; i < n; i++)
    if (c[i] == key) {
      free(c);
      return i;
    }
  int pos = -1;
  for (int i = 0; i < n; i++)
    if (c[i] > key) {
      pos = i;
      break;
    }
  int *s = calloc(8, sizeof(int));
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < n; i++)
      s[k] += c[i] & 3;
  printf("%d\\n", s[1]);
  free(c);
  free(s);
  return pos;
}

int main(void)
{
  for (int n = 0; n < 40; n += 13)
    printf("%d %d %d\\n", find(n, 3), find(n, 33), find(n, -1));
  return 0;
}
"""


@pytest.mark.opencl_sdk
def test_searches_may_look_at_all_of_them(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "find.c").write_text(SEARCHES)
    done = lx.load(tmp_path / "find.c").offload(fp="strict")
    assert [r.region.name for r in done.regions] == ["find_1", "find_2", "find_3", "find_4"]
    said = assert_file_prints_the_same(tmp_path / "find.c", done, sanitized=False)
    assert sum("find_2: on the device" in line for line in said) >= 9, said
