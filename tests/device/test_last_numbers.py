"""Bounds that are the last numbers of their types (no limit), on a device and in written C: what
the user's loops do."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import Compared, assert_all_same, assert_file_prints_the_same, require_opencl

import loopxform as lx
from loopxform.verify.check_run import arguments

MOST, LEAST = (1 << 31) - 1, -(1 << 31)

PROGRAMS: dict[str, tuple[str, tuple[dict[str, int], ...]]] = {
    "limited": (
        "void limited(int n, int limit, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n && i <= limit; i++) a[i] += b[i]; }",
        ({"n": 33, "limit": MOST}, {"n": 33, "limit": 7}, {"n": 33, "limit": LEAST}),
    ),
    "window": (
        "void window(int n, int r, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n; i++)"
        " for (int j = i - r < 0 ? 0 : i - r; j <= i + r && j < n; j++) a[i] += b[j]; }",
        ({"n": 33, "r": MOST - 32}, {"n": 33, "r": MOST - 33}, {"n": 33, "r": 2}),
    ),
    "on_data": (
        "void on_data(int n, int m, const int k[restrict n], float a[restrict n],"
        " const float b[restrict n]) { for (int i = 0; i < n; i++) {"
        " int end = k[i] > 4 ? 2147483647 : k[i];"
        " for (int j = 0; j < n && j <= end; j++) a[i] += b[j]; } }",
        ({"n": 33, "m": 2},),
    ),
    "in_front": (
        "void in_front(int n, int m, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i < n; i++) for (int j = 0; j + 1 < m; j++) a[i] += b[j % n]; }",
        ({"n": 33, "m": LEAST}, {"n": 33, "m": 9}),
    ),
    "unsigned_sum": (
        "void unsigned_sum(unsigned n, int m, float a[restrict n], const float b[restrict n])"
        "{ for (unsigned i = 0; i + 1 < n; i++) a[i] += b[i + 1]; }",
        ({"n": 0, "m": 1}, {"n": 1, "m": 1}, {"n": 33, "m": 1}),
    ),
    "no_end": (
        "void no_end(int n, int last, float a[restrict n], const float b[restrict n])"
        "{ for (int i = 0; i != last && i < n; i++) a[i] += b[i]; }",
        ({"n": 33, "last": -1}, {"n": 33, "last": 9}, {"n": 33, "last": 60}),
    ),
}


@pytest.mark.device
def test_the_drop_in_does_what_the_loops_did(tmp_path: Path) -> None:
    programs = []
    for name, (text, sizes) in PROGRAMS.items():
        done = lx.loads(text)[name].offload(contract=False).derivation
        every = tuple(arguments(done.start, s, 1) for s in sizes)
        programs.append(Compared(done, text, every))
    assert_all_same(tmp_path, programs, LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="0")


NARROW = """
#include <stdio.h>
static void up(signed char n, int *a)
{ for (signed char i = 0; i < n; i++) a[i] += 2 * i; }
static void down(signed char n, int *a)
{ for (signed char i = (signed char)(n - 1); i >= 0; i--) a[i] += i; }
static void shorts(short n, const int *a, int *b)
{ for (short i = 1; i < n - 1; i++) b[i] = a[i - 1] - a[i + 1]; }
static int sum(unsigned char n, const int *a)
{ int s = 0; for (unsigned char i = 0; i < n; i++) s += a[i]; return s; }
static int total(unsigned short n, const int *a)
{ int s = 0; for (unsigned short i = 0; i < n; i++) s += a[i]; return s; }
static void product(signed char n, int a[restrict n][n], int b[restrict n][n], int c[restrict n][n])
{
  for (signed char i = 0; i < n; i++)
    for (signed char j = 0; j < n; j++) {
      c[i][j] = 0;
      for (signed char k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}
static int x[70000], y[70000], z[127][127];
int main(void)
{
  static const int sizes[] = {1, 100, 127};
  unsigned h = 0;
  for (int i = 0; i < 70000; i++)
    x[i] = i % 11;
  for (int t = 0; t < 3; t++) {
    signed char n = (signed char)sizes[t];
    up(n, x + 300);
    down(n, x + 300);
    product(n, (void *)x, (void *)(x + 300), (void *)z);
    h += (unsigned)z[n - 1][n / 2] + (unsigned)sum((unsigned char)(2 * n + 1), x);
    shorts((short)(258 * n), x, y);
    h += (unsigned)total((unsigned short)(516 * n + 3), x);
  }
  for (int i = 0; i < 70000; i++)
    h = h * 31 + (unsigned)x[i] + (unsigned)y[i];
  printf("%u\\n", h);
  return 0;
}
"""


def test_counters_of_types_that_work_items_are_too_many_for(tmp_path: Path) -> None:
    """The last of a group are beyond the loop, and have numbers of their own all the same."""
    require_opencl()
    file = tmp_path / "narrow.c"
    file.write_text(NARROW)
    assert_file_prints_the_same(file, lx.load(file).offload(), sanitized=False)
