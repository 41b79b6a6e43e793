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
        "int m = k[0];",
        "if (n > w) w = n; int m = w;",
        "int m; for (m = 0; m < n; m += 3) a[m] = 0;",
    ],
)
def test_a_value_that_is_not_known_proves_nothing(before: str) -> None:
    """Neither that iterations collide: not every number is one that the scalar ever has."""
    assert verdicts(f"{before} {AHEAD}")[-1] == "unknown"


def test_the_reason_names_the_scalar() -> None:
    (verdict,) = judged(f"int m = k[0]; {AHEAD}")
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
