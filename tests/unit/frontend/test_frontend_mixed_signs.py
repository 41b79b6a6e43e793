"""Comparisons of a signed with an unsigned number that decide what a value is: as C converts."""

from __future__ import annotations

import pytest
from lowering import text

import loopxform as lx

P = "int n, unsigned m, unsigned long z, long w, float *a, const int *b"

COMPARED = {
    "constant": ("a[0] = n > 3u ? 1 : 2;", "a[0] = (unsigned int)n > 3u ? 1 : 2;"),
    "variable": ("a[0] = n < m ? 1 : 2;", "a[0] = (unsigned int)n < m ? 1 : 2;"),
    "from-the-right": ("a[0] = m > n ? 1 : 2;", "a[0] = m > (unsigned int)n ? 1 : 2;"),
    "wider": ("a[0] = n < z ? 1 : 2;", "a[0] = (unsigned long)n < z ? 1 : 2;"),
    "conjunction": (
        "a[0] = n < m && a[1] > 0;",
        "a[0] = (unsigned int)n < m && a[1] > 0;",
    ),
    "never-negative": ("a[0] = 3 < m ? 1 : 2;", "a[0] = 3 < m ? 1 : 2;"),
    "into-signed": ("a[0] = w < m ? 1 : 2;", "a[0] = w < m ? 1 : 2;"),
    "alike": ("a[0] = n < w ? 1 : 2;", "a[0] = n < w ? 1 : 2;"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_conversion(name: str) -> None:
    source, wanted = COMPARED[name]
    assert text(source, P) == wanted


DECIDED = {
    "choice": "c[i] = i - 3 > 3u ? c[6] : 2;",
    "conjunction": "c[i] = i - 3 > 3u && c[6] > 0;",
    "variable": "c[i] = i - 3 < m ? 2 : c[6];",
}


@pytest.mark.parametrize("name", DECIDED)
def test_elements_read_where_a_negative_number_is_large(name: str) -> None:
    loop = f"for (int i = 0; i < 7; i++) {DECIDED[name]}"
    found = lx.loads(f"void f(unsigned m, float *c) {{ {loop} }}")["f"].check()
    assert found[0].parallel == "no"


def test_a_difference_that_may_wrap_in_front_of_a_read_is_asked_about() -> None:
    loop = "for (unsigned i = 0; i < n; i++) c[i] = m - 1 > i && a[5] > 1;"
    params = "unsigned n, unsigned m, const float *restrict a, float *restrict c"
    found = lx.loads(f"void f({params}) {{ {loop} }}")["f"].check()
    assert found[0].assumes == ("1 <= m",)
