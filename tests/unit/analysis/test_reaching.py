"""The values that scalars have at a place, as far as verdicts show them."""

from __future__ import annotations

import pytest

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.frontend import parse_file

AHEAD = "for (int i = 0; i < n; i++) a[i] = a[i + m] + 1;"


def verdicts(body: str) -> list[str]:
    return [v.parallel for v in judged(body)]


def judged(body: str) -> tuple[LoopVerdict, ...]:
    text = (
        f"void f(int n, int w, double a[9 * n + 9], const double b[n], const int k[n]) {{ {body} }}"
    )
    (fn,) = parse_file("f.c", text=text).unit.functions
    return judge(fn)


@pytest.mark.parametrize(
    "before",
    [
        "int m = n;",
        "int m = 1; m = n;",
        "int m = 0; m += n;",
        "int m = 3 * n; m -= n;",
        "int m = n; if (w > 0) m = 3 * n;",
        "int m; if (w > 0) m = n + w; else m = n - w;",
        "int m = n; if (w > 0) { if (w > 5) m = 2 * n; } else m += n;",
        "int m = n, t; t = m; m = 1; if (w > n) m = w; m = t;",
        "int m; for (m = 0; m < n; m++) a[m] = 0;",
        "int m = n; while (m < w) m = m + 1;",
        "int m = 2; for (m = n - 1; m >= 0; m--) a[m] = 0; m = m + n + 1;",
    ],
)
def test_far_enough_on_every_way(before: str) -> None:
    assert verdicts(f"{before} {AHEAD}")[-1] == "yes"


@pytest.mark.parametrize(
    "before",
    [
        "int m = n; if (w > 0) m = 1;",
        "int m = n; if (w > 0) m -= 1;",
        "int m = n; m = m - 1;",
        "int m = 1; for (int q = 0; q < 3; q++) a[q] = m;",
        "int m; for (m = 0; m < n - 1; m++) a[m] = 0;",
        "int m; for (m = 0; m < n - 2; m += 3) a[m] = 0;",
        "int m; for (m = n; m > 0; m -= 3) a[m] = 0;",
    ],
)
def test_too_near_on_one_way(before: str) -> None:
    assert verdicts(f"{before} {AHEAD}")[-1] == "no"


@pytest.mark.parametrize(
    "before",
    [
        "int m = n; if (b[0] > 0) m = 2 * n;",
        "int m = n; for (int q = 0; q < w; q++) m += n;",
        "int m = n * n + n;",
        "int m = k[w];",
        "if (n > w) w = n; int m = w;",
        "unsigned m; for (m = 0; m < n; m += 3) a[m] = 0;",
    ],
)
def test_a_value_that_is_not_known_proves_nothing(before: str) -> None:
    """Neither that iterations collide: not every number is one that the scalar ever has."""
    assert verdicts(f"{before} {AHEAD}")[-1] == "unknown"


def test_the_reason_names_the_scalar() -> None:
    (verdict,) = judged(f"int m = k[w]; {AHEAD}")
    assert verdict.reasons[0].message.endswith("which values m may have is not known")


def test_a_bound_that_the_loop_changes() -> None:
    body = "int m = n; for (int i = 0; i < m; i++) { a[i] = 0; if (i > w) m = 1; }"
    assert verdicts(body)[0] in ("no", "unknown")


def test_a_scalar_of_the_same_name_further_in() -> None:
    body = f"int m = 1; if (w > 0) {{ int m = n; a[0] = m; }} {AHEAD}"
    assert verdicts(body)[0] in ("no", "unknown")


def test_each_iteration_sees_its_own_value() -> None:
    body = (
        "int m; for (int i = 0; i < n; i++) { if (i < w) m = i; else m = i + n; a[m] = 1; "
        "m = i + 3 * n; a[m] = 2; }"
    )
    assert verdicts(body) == ["privatizable"]


def test_a_value_of_the_iteration_before() -> None:
    body = "int m = 0; for (int i = 0; i < n; i++) { a[m] = 1; if (i < w) m = i; else m = i + n; }"
    assert verdicts(body) == ["no"]


def test_long_chains_end() -> None:
    steps = "m = m + m - n; " * 300
    assert verdicts(f"int m = n; {steps} {AHEAD}")[-1] == "unknown"
    ways = "if (w > 0) m = m + 1; else m = m + 2; " * 40
    assert verdicts(f"int m = n; {ways} {AHEAD}")[-1] == "unknown"


CALLS = "int size(void); int other(int); int *place(int);\n"


def last(body: str) -> str:
    text = f"{CALLS}void f(int n, int w, double *restrict a) {{ {body} }}"
    (fn,) = parse_file("f.c", text=text).unit.functions
    return judge(fn)[-1].parallel


COLLIDES = "for (int i = 0; i < n; i++) a[i + m] = a[i];"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("int m = size();", "no"),
        ("int m = 2; if (w > 0) m = size();", "no"),
        ("int m = 2; other(w);", "no"),
        ("int m = other(n);", "unknown"),  # 2 * n, say
        ("int m = size(); m = 2 * n + m;", "unknown"),
        ("int m = size() + n;", "unknown"),
        ("int m = 0; *place(0) = m++;", "no"),  # m is 1
        ("int m = 0; *place(0) = m = other(n);", "unknown"),
        ("int m = w;\nother(\nn = 2 * w);", "unknown"),
        ("int m = size(); n = size();", "unknown"),  # which may be the same
    ],
)
def test_numbers_that_calls_give(before: str, expected: str) -> None:
    assert last(f"{before} {COLLIDES}") == expected


COVER = """double t[99]; for (int i = 0; i < n; i++) {{
  for (int j = 0; j < {}; j++) t[j] = a[i];
  {}
  for (int j = 0; j < {}; j++) a[i] += t[j]; }}"""


@pytest.mark.parametrize(
    ("first", "between", "second", "private"),
    [
        ("n * w", "", "n * w", True),
        ("n * w", "", "n * w + 1", False),
        ("n * w", "", "w * n", False),  # equal, but nobody sees it
        ("w * w", "w = w + 1;", "w * w", False),
        ("p[0]", "", "p[0]", True),
        ("p[0]", "", "p[1]", False),
        ("p[0]", "q[0] = 9;", "p[0]", True),  # as long as q and p do not overlap
        ("q[0]", "q[0] = 9;", "q[0]", False),
    ],
)
def test_what_never_changes_covers_itself(
    first: str, between: str, second: str, private: bool
) -> None:
    body = COVER.format(first, between, second)
    text = f"void f(int n, int w, double *restrict a, const int *p, int *q) {{ {body} }}"
    (fn,) = parse_file("f.c", text=text).unit.functions
    assert ("t" in judge(fn)[0].private) is private
