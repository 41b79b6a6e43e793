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


GRAPHS = """\
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct node { int first, count; };

static void levels(const char *text, int most)
{
  int nodes, edges = 0, source = 0;
  if (sscanf(text, "%d %d", &nodes, &edges) != 2)
    return;
  struct node *node = malloc(sizeof(struct node) * nodes);
  bool *now = malloc(sizeof(bool) * nodes), *next = malloc(nodes * sizeof *next);
  bool *seen = calloc(nodes, sizeof(bool));
  int *cost = malloc(sizeof(int) * nodes), *edge = malloc(sizeof(int) * edges);
  float *grid = calloc(nodes * most, sizeof(float));
  for (int i = 0; i < nodes; i++) {
    node[i].first = i * edges / nodes;
    node[i].count = (i + 1) * edges / nodes - node[i].first;
    now[i] = next[i] = false;
  }
  for (int i = 0; i < edges; i++)
    edge[i] = (int)(i * 31u % (unsigned)nodes);
  for (int i = 0; i < nodes; i++)
    cost[i] = -1;
  sscanf("3", "%d", &source);
  source = source < nodes ? source : nodes - 1;
  if (nodes > 0)
    now[source] = seen[source] = true, cost[source] = 0;
  for (bool more = nodes > 0; more;) {
    for (int t = 0; t < nodes; t++)
      if (now[t]) {
        now[t] = false;
        for (int k = node[t].first; k < node[t].first + node[t].count; k++) {
          int to = edge[k];
          if (!seen[to]) {
            cost[to] = cost[t] + 1;
            next[to] = true;
          }
        }
      }
    more = false;
    for (int t = 0; t < nodes; t++)
      if (next[t]) {
        now[t] = seen[t] = true;
        more = true;
        next[t] = false;
      }
  }
  for (int i = 0; i < nodes; i++)
    for (int j = 0; j < most; j++)
      if (cost[i] >= j)
        grid[i * most + j] = cost[i] + j;
  for (int i = 0; i < nodes; i++)
    printf("%d %g\\n", cost[i], most > 0 && cost[i] >= 0 ? grid[i * most + cost[i] % most] : -1.0);
  free(node), free(now), free(next), free(seen), free(cost), free(edge), free(grid);
}

int main(void)
{
  levels("40 90", 5);
  levels("1 0", 3);
  levels("1 2", 1);
  levels("0 0", 3);
  levels("600 2000", 0);
  return 0;
}
"""


@pytest.mark.slow
@pytest.mark.opencl_sdk
def test_sizes_may_be_numbers_that_were_read(tmp_path: Path) -> None:
    """Of structs too, and sizes that the loops do not name (`edges`)."""
    require_opencl()
    (tmp_path / "graph.c").write_text(GRAPHS)
    done = lx.load(tmp_path / "graph.c").offload(fp="strict")
    on_device = {x.loc.line for x, taken in done.loops if taken and x.loc}
    assert on_device == {17, 22, 24, 30, 31, 34, 43, 50, 51}
    said = assert_file_prints_the_same(tmp_path / "graph.c", done, sanitized=True)
    assert sum("on the device" in line for line in said) >= 6, said


READ = """void f(const char *text, int m, int *restrict s)
{
  int n;
  sscanf(text, "%d", &n);
  int *a = calloc(n, sizeof *a), *k = calloc(m, sizeof *k);
  for (int i = 0; i < m; i++) {
    k[i] = i * 5 % 7;
    s[i] = a[k[i]];
  }
  free(a), free(k);
}
"""

CHANGED = {
    "read behind the allocation": ("  for", '  sscanf(text, "%*d %d", &n);\n  for'),
    "kept by a pointer": ("int n;", "int n, *p = &n;"),
    "given to a function": ("sscanf(", "strtok_r(text, text, &n), sscanf("),
}


@pytest.mark.parametrize("case", ["", *CHANGED])
def test_sizes_that_may_have_changed_are_none(case: str) -> None:
    before, after = CHANGED.get(case, ("", ""))
    done = lx.loads(READ.replace(before, after)).offload(fp="strict")
    assert len(done.regions) == (case == ""), done.left
