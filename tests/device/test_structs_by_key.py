"""Structs behind pointers without a size, whose members are updated by key: the host looks at the
keys, and copies as many structs as these need."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>

struct bin { int count; float sum; int used, last; };
struct table { int bins[64]; int n; struct bin rows[3]; };

void sums(int n, const int *key, const float *w, struct bin *s)
{
  for (int i = 0; i < n; i++) {
    s[key[i]].count++;
    s[key[i]].sum += w[i];
  }
}

void flags(int n, const int *key, const float *w, struct bin *s)
{
  for (int i = 0; i < n; i++)
    if (w[i] > 3)
      s[key[i]].used = 1;
}

void last(int n, const int *key, struct bin *s)
{
  for (int i = 0; i < n; i++)
    s[key[i]].last = i * 3;
}

void table(int n, const int *key, struct table *t)
{
  for (int i = 0; i < n; i++)
    t->bins[key[i]]++;
}

void rows(int n, const int *key, struct table *t)
{
  for (int i = 0; i < n; i++)
    t->rows[key[i] % 3].count += key[i];
}

int main(void)
{
  enum { N = 5000, KEYS = 40 };
  int *key = malloc(N * sizeof *key);
  float *w = malloc(N * sizeof *w);
  struct bin *s = calloc(KEYS, sizeof *s);  /* as many as the keys need */
  struct table *t = calloc(1, sizeof *t);
  for (int i = 0; i < N; i++) {
    key[i] = 1 + i * 7 % (KEYS - 1);
    w[i] = i % 9;
  }
  for (int n = 0; n <= N; n = 5 * n + (n < 1)) {
    sums(n, key, w, s);
    flags(n, key, w, s);
    last(n, key, s);
    table(n, key, t);
    rows(n, key, t);
  }
  sums(N, key, w, s);
  flags(N, key, w, s);
  last(N, key, s);
  key[N / 2] = 64;  /* beyond the bins of a table, in it */
  table(N, key, t);
  for (int i = 0; i < KEYS; i++)
    printf("%d %g %d %d\\n", s[i].count, s[i].sum, s[i].used, s[i].last);
  for (int i = 0; i < 64; i++)
    printf("%d ", t->bins[i]);
  printf("%d %d %d %d\\n", t->n, t->rows[0].count, t->rows[1].count, t->rows[2].count);
  return 0;
}
"""


@pytest.mark.device
@pytest.mark.parametrize("sanitized", [False, True])
def test_as_the_c_program(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    text = PROGRAM
    if sanitized:  # what the C itself may not do
        text = text.replace("  key[N / 2] = 64;  /* beyond the bins of a table, in it */\n", "")
    (tmp_path / "s.c").write_text(text)
    done = lx.load(tmp_path / "s.c").offload(fp="reassociate")
    said = assert_file_prints_the_same(tmp_path / "s.c", done, sanitized=sanitized)
    for name in ("sums", "flags", "last", "table", "rows"):
        assert any(f": {name}: on the device" in line for line in said), said
    assert sanitized or any("a subscript of 't.bins' is out of range" in line for line in said)
