"""Clauses copy what the loop's own text names: functions that it calls use the originals."""

from __future__ import annotations

import pytest

from loopxform import loads

FILE = """
int total, level; struct { int low, high; } band;
static void gain(int x) { total += x; }
static void raise_to(int x) { level = x; }
static int levelled(void) { return level; }
static int low(void) { return band.low; }
static void put(int *p, int x) { *p = x; }
int f(int n, int *restrict a) { int t;
#pragma omp parallel for %s
  for (int i = 0; i < n; i++) { %s }
  return total + level; }
"""


@pytest.mark.parametrize(
    ("clause", "body", "proven"),
    [
        ("reduction(+: total)", "gain(a[i]);", None),
        ("reduction(+: total)", "total += a[i];", True),
        ("lastprivate(level)", "raise_to(i); a[i] = level;", None),
        ("lastprivate(level)", "level = i; a[i] = levelled();", None),
        ("lastprivate(level)", "level = i; a[i] = level;", True),
        ("firstprivate(band)", "a[i] = low();", None),
        ("", "a[i] = low();", True),
        ("", "a[i] = levelled();", True),
        ("private(t)", "put(&t, i); a[i] = t;", True),
    ],
)
def test_functions_use_the_variables_of_the_file(
    clause: str, body: str, proven: bool | None
) -> None:
    (claim,) = loads(FILE % (clause, body))["f"].audit()
    assert claim.proven is proven
    assert [d.code for d in claim.doubts] == ([] if proven else ["LX310"])
