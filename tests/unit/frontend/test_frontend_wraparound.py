"""Unsigned arithmetic that may wrap around is never taken for mathematics."""

from __future__ import annotations

import pytest
from lowering import assumes, lower, shape

from loopxform.analysis.verdict import judge
from loopxform.ir.printer import listing

WRAPS = {
    "quotient": ("", "for (unsigned i = 0; i < 10; i++) x[(i*0x80000000u)/0x80000000u] = i;"),
    "remainder": ("unsigned m", "for (unsigned i = 0; i < n; i++) x[(i + m)%100u] = i;"),
    "hash": ("", "for (unsigned i = 0; i < n; i++) x[(i*2654435761u)%1000u] = i;"),
    "condition": ("", "for (unsigned i = 0; i < n; i++) if (i*0x80000000u == 0) x[0] = i;"),
    "product": ("", "for (unsigned i = 0; i < n; i++) x[i*65536u] = i;"),
    "shift": ("", "for (unsigned i = 0; i < n; i++) x[i << 16] = i;"),
    "64 bits": ("size_t m", "for (size_t i = 0; i < m; i++) x[i*4294967296u*4294967296u] = i;"),
    "scalar": ("", "for (unsigned i = 0; i < n; i++) { unsigned k = i*65536u; x[k] = i; }"),
    "select": ("", "for (unsigned i = 0; i < n; i++) x[i*65536u > 5 ? i : 0] = i;"),
    "elements": ("unsigned *y", "for (unsigned i = 0; i < n; i++) x[i/2 + y[0]*65536u] = i;"),
    "signed": ("", "for (int i = -10; i < 10; i++) x[(i/2u)%7] = i;"),
    "signed sum": ("int m", "for (unsigned i = 0; i < n; i++) x[(i + m)/2u%9u] = i;"),
    "below zero": ("", "for (unsigned i = 0; i < n; i++) x[(i - 1)*3] = x[(i + 1431655765u)*3];"),
}


@pytest.mark.parametrize(("more", "statement"), WRAPS.values(), ids=WRAPS)
def test_what_may_wrap_is_not_parallel(more: str, statement: str) -> None:
    params = f"unsigned n, int *x{', ' if more else ''}{more}"
    fn = lower(f"#include <stddef.h>\nvoid f({params}) {{ {statement} }}")
    (loop,) = judge(fn)
    assert loop.parallel in ("no", "unknown"), listing(fn)


COMMON = {
    "next": ("x[i] = y[i + 1];", []),
    "before": ("if (i > 0) x[i - 1] = y[i];", []),
    "odd": ("x[2*i + 1] = y[i];", ["2 * (unsigned long)n <= 4294967295UL"]),
    "scalar": ("unsigned k = 2*i; x[k] = y[i];", ["2 * (unsigned long)n <= 4294967295UL"]),
    "data": ("unsigned h = y[i]*2654435761u; x[i] = h*h;", []),
    "half": ("x[i] = y[i / 2] + y[i % 8];", []),
}


@pytest.mark.parametrize(("statement", "asked"), COMMON.values(), ids=COMMON)
def test_common_unsigned_code_is_parallel(statement: str, asked: list[str]) -> None:
    loop = f"for (unsigned i = 0; i < n; i++) {{ {statement} }}"
    fn = lower(f"void f(unsigned n, unsigned *x, const unsigned *y) {{ {loop} }}")
    (verdict,) = judge(fn)
    assert verdict.parallel == "yes"
    assert verdict.assumes == ("x and y do not overlap", *asked)


def test_flat_subscripts_ask_for_sizes_whose_product_does_not_wrap() -> None:
    loops = "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++)"
    fn = lower(f"void f(unsigned n, float *a) {{ {loops} a[i*n + j] = 1; }}")
    assert shape(fn, "a") == [None, "n"]
    assert assumes(fn) == ["(unsigned long)n * (unsigned long)n <= 4294967295UL"]
    fn = lower(f"void f(unsigned long n, float *a) {{ {loops} a[i*n + j] = 1; }}")
    assert assumes(fn) == ["n <= 2147483647"]


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("size_t", ["n <= 2147483647", "m <= 2147483647", "l <= 2147483647", "m*n <= 2147483647"]),
        (
            "unsigned",
            [
                "(unsigned long)m * (unsigned long)n <= 4294967295UL",
                "(unsigned long)l * ((unsigned long)m * (unsigned long)n) <= 4294967295UL",
            ],
        ),
    ],
)
def test_products_of_three_sizes_are_asked_step_by_step(kind: str, asked: list[str]) -> None:
    loops = " ".join(
        f"for ({kind} {i} = 0; {i} < {n}; {i}++)" for i, n in (("i", "l"), ("j", "m"), ("k", "n"))
    )
    text = f"void f({kind} l, {kind} m, {kind} n, float *a) {{ {loops} a[(i*m + j)*n + k] = 1; }}"
    fn = lower(f"#include <stddef.h>\n{text}")
    assert shape(fn, "a") == [None, "m", "n"]
    assert sorted(assumes(fn)) == sorted(asked)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = q + 1 > a[i] ? 1 : 0;",
        "if (3*q <= a[i]) y[i] = 1;",
        "unsigned long v = a[i]; if (v != q + 7) y[i] = 2;",
    ],
)
def test_nothing_is_asked_for_comparisons_with_data(body: str) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}"
    fn = lower(f"void f(int n, unsigned long q, const unsigned long *a, int *y) {{ {loop} }}")
    assert assumes(fn) == []
    assert judge(fn)[0].parallel == "yes"


def test_arithmetic_on_data_is_left_alone() -> None:
    fn = lower(
        "void f(unsigned n, unsigned *x, unsigned s) { s = s*1103515245u + 12345u; x[0] = s; }"
    )
    assert assumes(fn) == []
    assert "(unsigned int)" not in listing(fn)
