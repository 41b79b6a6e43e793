"""Arrays whose ends only data tell: the written program runs through the subscripts, copies no
element that the loops do not reach, and gives the results of the loops."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx
from loopxform.ir.nodes import If, Var

FILE = """\
#include <stdio.h>
#include <stdlib.h>

struct csr { int n; const int *row, *col; const double *val; };

void product(const struct csr *a, const double *x, double *y)
{
  for (int i = 0; i < a->n; i++) {
    double s = 0;
    for (int k = a->row[i]; k < a->row[i + 1]; k++)
      s += a->val[k] * x[a->col[k]];
    y[i] = s;
  }
}

void gather(int n, const int *at, const float *a, float *b)
{
  for (int i = 0; i < n; i++)
    if (at[i] >= 0)
      b[i] = a[at[i]];
}

void cycle(int n, int m, unsigned char *b, const unsigned char *key)
{
  for (int i = 0; i < n; i++)
    b[i] ^= key[i % m];
}

void table(int n, const unsigned char *a, char *b, const char *digits)
{
  for (int i = 0; i < n; i++) {
    b[2 * i] = digits[a[i] >> 4];
    b[2 * i + 1] = digits[a[i] & 15];
  }
}

void chosen(int n, const int *flag, const int *a, const int *b, int *restrict c)
{
  for (int i = 0; i < n; i++) {
    int d = flag[i] > 2 ? a[i] : b[n - 1 - i];
    c[i] = flag[i] && a[i] > 3 ? d + b[i] : d;
  }
}

void blocks(int n, const int *first, const int *a, int *b)
{
  for (int l = 0; l < n; l++) {
    int from = first[l];
    for (int i = 0; i < 6; i++)
      for (int j = i; j < 6; j++)
        b[l * 36 + i * 6 + j] = a[from + 2 * j] - a[from + i];
  }
}

void unsigned_counters(size_t n, const unsigned *at, const int *a, int *b)
{
  for (size_t i = 0; i < n; i++)
    b[i] = a[at[i] / 2u + i];
}

void pairs(int n, const int *at, int (*p)[2], int *q)
{
  for (int i = 0; i < n; i++)
    q[i] += 3 * p[at[i]][1] + i;
}

void scattered(int n, int least, const int *at, int *p)
{
  if (n < least)
    return;
  for (int i = 0; i < n / least; i++)
    p[at[i]] += 2;
}

int kept(int n, const int *a, int *places, short *values)
{
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] % 3) {
      places[k] = i;
      values[k++] = (short)a[i];
    }
  return k;
}

void most(int n, const int *key, const int *v, int *best, int *hits)
{
  for (int i = 0; i < n; i++) {
    int k = key[i];
    hits[k] += v[i] & 1;
    if (v[i] > best[k])
      best[k] = v[i];
  }
}

void swept(int way, int n, const unsigned *at, const double *dx, const double *dy, double *flux)
{
  if (way == 1) {
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        flux[k * n + j] += dx[at[j]];
  } else {
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        flux[k * n + j] -= dy[at[j]];
  }
}

struct layer { int c, h, w; double *out; const double *in; };

void pool(struct layer l)
{
  for (int k = 0; k < l.c; k++) {
    l.out[k] = 0;
    for (int i = 0; i < l.h * l.w; i++)
      l.out[k] += l.in[l.h * l.w * k + i];
  }
}

void heads(int n, int c, int k, int hs, const double *x, double *out)
{
  for (int s = 0; s < n; s++)
    for (int h = 0; h < k; h++) {
      double *o = out + s * c + h * hs;
      for (int i = 0; i < hs; i++)
        o[i] += x[i] * (h + 1);
    }
}

int place(int n, const int *v)
{
  int at = 0;
  for (int i = 1; i < n; i++)
    if (v[i] > v[at])
      at = i;
  return at;
}

static void *filled(size_t n, size_t size)
{
  unsigned char *p = malloc(n * size);
  for (size_t i = 0; i < n * size; i++)
    p[i] = 0;
  return p;
}

int main(void)
{
  enum { N = 20 };
  int row[N + 1], col[3 * N], k = 0;
  double val[3 * N];
  for (int i = 0; i < N; i++) {
    row[i] = k;
    for (int j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < N - 3) {
        col[k] = j;
        val[k++] = i + 2 * j;
      }
  }
  row[N] = k;
  double *x = filled(N - 3, sizeof *x), *y = filled(N, sizeof *y);
  for (int i = 0; i < N - 3; i++)
    x[i] = i + 1;
  product(&(struct csr){N, row, col, val}, x, y);
  product(&(struct csr){0, NULL, NULL, NULL}, x, y);

  int *at = filled(N, sizeof *at);
  for (int i = 0; i < N; i++)
    at[i] = i * 7 % N - 3;
  float *a = filled(N - 3, sizeof *a), *b = filled(N, sizeof *b);
  for (int i = 0; i < N - 3; i++)
    a[i] = (float)i / 2;
  gather(N, at, a, b);

  unsigned char *key = filled(3, 1), *text = filled(N, 1);
  key[0] = 7, key[1] = 17, key[2] = 99;
  cycle(N, 3, text, key);
  char digits[] = "0123456789abcdef", *hex = filled(2 * N + 1, 1);
  table(N, text, hex, digits);

  int *flag = filled(N, sizeof *flag), *c = filled(N, sizeof *c), *d = filled(N, sizeof *d);
  int *e = filled(N, sizeof *e), *f = filled(36 * 3, sizeof *f);
  for (int i = 0; i < N; i++) {
    flag[i] = i % 5;
    c[i] = i * i;
    d[i] = 100 - i;
  }
  chosen(N, flag, c, d, e);
  int first[] = {2, 9, 5};
  blocks(3, first, c, f);
  unsigned *u = filled(N, sizeof *u);
  for (int i = 0; i < N; i++)
    u[i] = (unsigned)(2 * (N - 1 - i));
  int *g = filled(N, sizeof *g), (*p)[2] = filled(N, sizeof *p);
  unsigned_counters(N, u, c, g);
  for (int i = 0; i < N - 3; i++)
    p[i][1] = i * 5 % 7;
  pairs(N, at, p + 3, g);
  for (int i = 0; i < N; i++)
    at[i] = at[i] < 0 ? 0 : at[i];
  pairs(N - 1, at, p, g);
  scattered(N, 1, at, &p[0][0]);
  scattered(2, 3, NULL, NULL);
  int *h = filled(13, sizeof *h);
  short *v = filled(13, sizeof *v);
  printf("%d\\n", kept(N, c, h, v));
  int *best = filled(7, sizeof *best), *hits = filled(7, sizeof *hits);
  for (int i = 0; i < N; i++)
    at[i] = i * 3 % 7;
  most(N, at, d, best, hits);
  for (int i = 0; i < 7; i++)
    printf("%d %d\\n", best[i], hits[i]);
  swept(1, 3, u + N - 3, x, NULL, y);
  swept(2, 3, u + N - 3, NULL, val, y);
  pool((struct layer){2, 2, 4, y + 9, x});
  heads(2, 5, 2, 2, x, y);
  heads(2, 3, 2, 2, x, y);
  printf("%d\\n", place(7, hits));
  for (int i = 0; i < 13; i++)
    printf("%d %d\\n", h[i], v[i]);
  for (int i = 0; i < N; i++)
    printf("%g %g %d %d %d %d\\n", y[i], (double)b[i], e[i], f[5 * i], g[i], p[i / 2][i % 2]);
  printf("%s\\n", hex);
  return 0;
}
"""

TAKEN = ["product", "gather", "cycle", "table", "chosen", "blocks", "unsigned_counters", "pairs"]
TAKEN += ["scattered", "kept_1", "most", "swept", "pool", "heads", "place_1"]

LEFT = {
    # Any of these stores may change what the next subscripts, bounds and conditions read.
    "stored-first": "void f(int n, int *p, const int *k, int *a) "
    "{ for (int i = 0; i < n; i++) p[i] = 0; for (int i = 0; i < n; i++) a[i] = k[k[k[i]]]; }",
    "rows-of-ints": "void f(int n, const int *r, const int *k, int *y) "
    "{ for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) y[i] += k[j]; }",
    "flags-of-ints": "void f(int n, const int *u, const int *v, const int *a, int *c) "
    "{ for (int i = 0; i < n; i++) c[i] = u[i] && v[i] ? a[i % 7] : 0; }",
    "written": "void f(int n, int *k, int *a) "
    "{ for (int i = 0; i < n; i++) { a[k[i]] = i; k[i + n] = 0; } }",
    "computed": "void f(int n, const int *k, int *a) { int t[9]; "
    "for (int i = 0; i < n; i++) { t[i % 9] = k[i]; a[t[i % 9]] += i; } }",
    "while": "void f(int n, const int *k, int *a) "
    "{ for (int i = 0; i < n; i++) { int j = i; while (k[j] > j) j = k[j]; a[j] = i; } }",
}


@pytest.mark.parametrize("sanitized", [False, True])
def test_programs_print_the_same(tmp_path: Path, sanitized: bool) -> None:
    require_opencl()
    (tmp_path / "ends.c").write_text(FILE)
    done = lx.load(tmp_path / "ends.c").offload(fp="strict")
    names = [r.region.name for r in done.regions]
    assert [name for name in TAKEN if name in names] == TAKEN, done.left
    said = assert_file_prints_the_same(tmp_path / "ends.c", done, sanitized=sanitized)
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert set(TAKEN) <= ran, said
    left = [line.split(": ", 2)[2] for line in said if "on the host" in line]
    assert left == [
        "product: the assumption lx_end_a_val >= 1 does not hold; running the loops on the host",
        "pairs: a subscript is negative, or too large; running the loops on the host",
        "scattered: the assumption !(n < least) does not hold; running the loops on the host",
        "heads: the assumption hs*k <= c does not hold; running the loops on the host",
    ]


def test_what_is_assumed_of_a_call_holds_before_anything_is_read() -> None:
    text = "void f(int n, int k, int *a) { if (k) for (int i = 0; i < n / k; i++) a[i] = i % k; }"
    inspector = lx.loads(text)["f"].tile().inspector
    assert inspector is not None
    assert isinstance(last := inspector.body[-1], If)
    assert last.cond == Var("k")


@pytest.mark.parametrize("case", LEFT)
def test_what_the_loops_compute_tells_no_end(case: str) -> None:
    done = lx.loads(LEFT[case]).offload(fp="strict")
    assert all(r.entry.host.ends == () for r in done.regions)


@pytest.mark.parametrize(
    ("case", "help"),
    [
        ("rows-of-ints", "declare 'y' restrict (int *restrict y): as it is, it may be 'r'"),
        ("flags-of-ints", "declare 'c' restrict (int *restrict c): as it is, it may be 'u'"),
    ],
)
def test_a_pointer_that_may_be_what_decides_is_named(case: str, help: str) -> None:
    text = LEFT[case]
    errors = [e for _, e in lx.loads(text).offload(fp="strict").left]
    assert [help in (e.help or "") for e in errors if "cannot be told" in e.message] == [True]
    name = help[9]
    closed = lx.loads(text.replace(f"int *{name})", f"int *restrict {name})"))
    assert any(r.entry.host.ends for r in closed.offload(fp="strict").regions)


ROWS = """void f(int n, int m, int *restrict a, const int (*restrict c)[m + 4])
{
  for (short i = 0; i < n - 1; i++)
    if (!(i % 2))
      a[0] += c[i > 1 ? i - 1 : 0][m - m / 2];
    else
      a[i] = c[i][m - m / 2];
}
"""


def test_rows_of_a_declared_length_are_counted_as_rows(tmp_path: Path) -> None:
    lx.loads(ROWS, "t.c").offload("f").write(tmp_path)
    written = (tmp_path / "t_opencl.c").read_text()
    (size, *_) = re.findall(r"lx_bytes_c = sizeof\(int\) \* .*", written)
    assert "(size_t)((long long)lx_end_c * (long long)m + 4 * (long long)lx_end_c)" in size
