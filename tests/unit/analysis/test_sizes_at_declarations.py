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
