"""Scalars that a statement which is not modelled leaves alone."""

from __future__ import annotations

import pytest

import loopxform as lx

NEST = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { t = a[i*m + j]; a[i*m + j] = t * t; }"


def verdict(before: str, after: str, declared: str = "double t;", outside: str = "") -> str:
    """Of the outer loop: `t` is written only where the inner loop runs."""
    head = f"{outside} void other(void); void take(double *); void show(double);"
    body = f"int i, j; {declared} {before} {NEST} {after}"
    return lx.loads(f"{head} void f(int n, int m, double *a) {{ {body} }}")["f"].check()[0].parallel


@pytest.mark.parametrize("after", ["", "other();", "show(a[0]);"])
def test_what_comes_after_does_not_name_it(after: str) -> None:
    assert verdict("", after) == "privatizable"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "show(t);"),
        ("", "take(&t);"),
        ("take(&t);", "other();"),
        ("double *p = &t;", "show(*p);"),
        ("", "while (a[0] > 1) show(t);"),
        ("", "while (a[0] > 1) other();"),
        ("again:", "if (a[0] > 1) goto again; show(t);"),
    ],
)
def test_what_comes_after_may_read_it(before: str, after: str) -> None:
    assert verdict(before, after) in ("unknown", "no")


def test_others_may_read_a_variable_of_the_file() -> None:
    assert verdict("", "other();", "", "static double t;") in ("unknown", "no")
    assert verdict("", "", "", "static double t;") in ("unknown", "no")


def test_a_static_variable_of_the_function_is_shared_with_other_calls() -> None:
    assert verdict("", "other();", "static double t;") in ("unknown", "no")
