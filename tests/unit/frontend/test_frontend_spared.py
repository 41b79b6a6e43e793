"""Scalars that a statement which is not modelled leaves alone."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.verdict import LoopVerdict

NEST = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { t = a[i*m + j]; a[i*m + j] = t * t; }"


def verdict(before: str, after: str, declared: str = "double t;", outside: str = "") -> str:
    """Of the outer loop: `t` is written only where the inner loop runs, so that its last value is
    kept where it may be read."""
    head = f"{outside} int more(void); void other(void); void take(double *); void show(double);"
    body = f"int i, j; {declared} {before} {NEST} {after}"
    v = outer_loop(f"{head} void f(int n, int m, double *a) {{ {body} }}")
    return f"{v.parallel}, last {v.conditional[0]}" if v.conditional else v.parallel


def outer_loop(text: str) -> LoopVerdict:
    return lx.loads(text)["f"].check()[0]


@pytest.mark.parametrize("after", ["", "other();", "show(a[0]);"])
def test_what_comes_after_does_not_name_it(after: str) -> None:
    assert verdict("", after) == "privatizable"


RETURNED = {"get()": "no", "get() + m": "no", "set(&m)": "unknown", "(m = 2) + get()": "unknown"}


@pytest.mark.parametrize(("value", "answer"), RETURNED.items())
def test_a_value_that_is_returned_does_not_name_it(value: str, answer: str) -> None:
    """The loops around the inner one call what nobody knows."""
    text = f"""
    extern double a[99]; int other(double *), get(void), set(int *);
    int f(void) {{
      int m = 1;
      for (int k = 0; k < 9; k++) {{
        for (int i = 1; i < 90; i++) a[i] = a[i - m] + 1;
        other(a);
      }}
      return {value};
    }}"""
    assert lx.loads(text)["f"].check()[1].parallel == answer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "show(t);"),
        ("", "take(&t);"),
        ("take(&t);", "other();"),
        ("double *p = &t;", "show(*p);"),
        ("", "while (more()) show(t);"),
        ("", "while (more()) other();"),
        ("again:", "if (a[0] > 1) goto again; show(t);"),
    ],
)
def test_what_comes_after_may_read_it(before: str, after: str) -> None:
    assert verdict(before, after) in ("unknown", "privatizable, last t")


def test_a_loop_on_data_after_it_reads_the_last_value() -> None:
    found = verdict("", "while (a[0] > 1) show(t);", "double t = 5;")
    assert found == "privatizable, last t"


def test_others_may_read_a_variable_of_the_file() -> None:
    assert verdict("", "other();", "", "static double t;") in ("unknown", "privatizable, last t")
    assert verdict("", "", "", "static double t;") in ("unknown", "privatizable, last t")


def test_a_static_variable_of_the_function_is_shared_with_other_calls() -> None:
    assert verdict("", "other(); show(t);", "static double t;") in (
        "unknown",
        "privatizable, last t",
    )
    assert verdict("", "other();", "static double t;") == "privatizable", "each call sets it first"
