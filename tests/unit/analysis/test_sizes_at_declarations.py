"""Arrays whose last values the last iteration leaves: their size is that of their declaration."""

from __future__ import annotations

import pytest

import loopxform as lx

HEAD = "int size, unknown(void); void knows(int *); struct s { int n; };\n#include <stdlib.h>\n"
LOOP = "for (int i = 0; i < m; i++) for (int k = 0; k < n; k++) t[k] = a[i];"
WHOLE = [
    f"double t[n]; {LOOP} return t[3];",
    f"n *= 2; double t[n]; {LOOP} return t[3];",
    f"double *t = malloc(n * sizeof *t), r; {LOOP} r = t[3]; free(t); return r;",
]
PARTLY = [
    f"double t[n]; t[3] = 1; n = 2; {LOOP} return t[3];",
    f"n++; double t[n]; n--; t[n] = 1; {LOOP} return t[n];",
    f"double t[n]; while (unknown()) {{ {LOOP} n--; }} return t[3];",
    f"knows(&n); double t[n]; unknown(); {LOOP} return t[3];",
    f"double t[size]; unknown(); {LOOP.replace('n;', 'size;')} return t[3];",
    f"double t[p->n]; unknown(); {LOOP.replace('n;', 'p->n;')} return t[3];",
]


def found(body: str) -> tuple[str, tuple[str, ...]]:
    head = f"{HEAD}double f(int m, int n, struct s *p, double *restrict a)"
    verdict = lx.loads(f"{head} {{ {body} }}")["f"].check()[0]
    return verdict.parallel, verdict.copies


@pytest.mark.parametrize("body", WHOLE)
def test_all_of_an_array(body: str) -> None:
    assert found(body) == ("privatizable", ("t",))


@pytest.mark.parametrize("body", PARTLY)
def test_a_size_that_changes_after_the_declaration(body: str) -> None:
    assert found(body) == ("unknown", ())


INSIDE = (
    "for (int i = 0; i < m; i++) {{ for (int k = {}; k < {}; k++) t[k] = a[i] + k; b[i] = {}; }}"
)
"""What an array has an element for, because the program reads it."""

READ = [
    ("double t[n];", INSIDE.format(0, "n", "t[0] + t[n - 1]"), "privatizable"),
    ("double *t = malloc(n * sizeof *t);", INSIDE.format(0, "n", "t[n - 1]"), "privatizable"),
    (
        "double t[n][4];",
        INSIDE.format(0, "n", "t[0][3]").replace("t[k]", "t[k][3]"),
        "privatizable",
    ),
    ("double t[n];", INSIDE.format(0, "n", "x > 3 ? t[x] : t[0]"), "privatizable"),
    ("double t[n];", INSIDE.format(1, "n", "t[0] + t[n - 1]"), "no"),
    ("double t[n];", INSIDE.format(0, "n - 1", "t[n - 1]"), "no"),
    ("double t[n + 1];", INSIDE.format(0, "n", "t[0]"), "no"),
    ("double t[n]; n++;", INSIDE.format(0, "n - 1", "t[0]"), "unknown"),
    ("double t[9];", INSIDE.format(0, "n", "t[0]"), "no"),
]


@pytest.mark.parametrize(("declared", "loop", "expected"), READ)
def test_what_is_read_is_inside(declared: str, loop: str, expected: str) -> None:
    params = "int m, int n, int x, const double *restrict a, double *restrict b"
    text = f"{HEAD}void f({params}) {{ {declared} {loop} }}"
    assert lx.loads(text)["f"].check()[0].parallel == expected


def test_a_size_that_a_loop_around_counts() -> None:
    text = """
    void f(int m, int n, const double *restrict b, double a[restrict m][n]) {
      for (int w = 0; w < n; w++) {
        double t[w];
        for (int i = 0; i < m; i++) {
          for (int k = 0; k < w; k++) t[k] = b[k] * i;
          a[i][w] = t[0] + t[w - 1];
        }
      }
    }"""
    assert [v.parallel for v in lx.loads(text)["f"].check()] == ["yes", "privatizable", "yes"]
