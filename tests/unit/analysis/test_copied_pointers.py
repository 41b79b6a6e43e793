"""Structs that are assigned take their pointers along: no two of them are apart for certain."""

from __future__ import annotations

import pytest

from loopxform import loads

FILE = """
typedef struct { int *p; int k; } row; typedef struct { int number; row r; } item;
row one, other;
static void same(row *d, const row *s) { *d = *s; }
void f(int n, int *q, row *s, row *t, item *x, item *y) {
  %s
  for (int i = 1; i < n; i++) %s
}
"""

BETWEEN = "s->p[i] = t->p[i - 1];"


@pytest.mark.parametrize(
    ("copy", "body", "verdict"),
    [
        ("*t = *s;", BETWEEN, "unknown"),
        ("t[0] = s[0];", BETWEEN, "unknown"),
        ("same(t, s);", BETWEEN, "unknown"),
        ("one = other;", "one.p[i] = other.p[i - 1];", "unknown"),
        ("x->r = y->r;", "x->r.p[i] = y->r.p[i - 1];", "unknown"),
        ("*x = *y;", "x->r.p[i] = y->r.p[i - 1];", "unknown"),
        ("int **at = &s->p; *at = q;", "s->p[i] = q[i - 1];", "unknown"),
        ("row l = *s;", BETWEEN, "yes"),
        ("t->k = s->k;", BETWEEN, "yes"),
        ("x->number = y->number;", "x->r.p[i] = y->r.p[i - 1];", "yes"),
    ],
)
def test_an_assigned_struct_points_where_its_source_does(
    copy: str, body: str, verdict: str
) -> None:
    (found,) = loads(FILE % (copy, body))["f"].check()
    assert found.parallel == verdict
