"""Findings that need another value to come out: none where it may be the same."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

LOOP = "for (int i = 0; i < n; i++)"


def claim(clause: str, before: str, body: str, after: str = "") -> Claim:
    (c,) = lx.loads(
        "#include <math.h>\nvoid f(int n, int m, int *restrict a, float *restrict b) {\n"
        f"{before}\n#pragma omp parallel for {clause}\n{LOOP} {{ {body} }}\n{after} }}"
    )["f"].audit()
    return c


@pytest.mark.parametrize(
    ("before", "body", "proven"),
    [
        ("int t = 7;", "a[i] = t; t = 7;", None),
        ("int t = m;", "a[i] = t; t = m;", None),
        ("int t = 7; if (m) t = 3;", "a[i] = t; t = 3;", None),
        ("int t[2] = {1, 1};", "a[i] = t[0]; t[0] = 1;", None),
        ("int t = 7;", "a[i] = t; t = 8;", False),
        ("int t = 7;", "a[i] = t; t = i;", False),
        ("int t = 7;", "a[i] = t; t += 7;", False),
    ],
)
def test_a_value_that_may_be_there_already(before: str, body: str, proven: bool | None) -> None:
    assert claim("firstprivate(t)", before, body).proven is proven


def test_a_lost_value_that_may_be_there_already() -> None:
    for value, proven in (("4", None), ("5", False)):
        c = claim("private(t)", "int t = 4;", f"t = {value}; a[i] = t;", "a[0] = t;")
        assert c.proven is proven


def test_a_reduction_that_is_set_to_what_it_holds() -> None:
    assert claim("reduction(+: t)", "int t = 0;", "a[i] = t; t = 0;").proven is None


@pytest.mark.parametrize(
    ("operator", "type", "body", "proven"),
    [
        ("max", "float", "t = fmax(b[i], t);", None),
        ("min", "float", "t = fmin(t, 0.5 * b[i]);", None),
        ("max", "int", "t = fmax(t, b[i]);", None),
        ("max", "float", "t = fmaxf(t, b[i]);", True),
        ("max", "float", "t = fmax(t, b[i]); b[i] = t;", False),
        ("max", "float", "t = fmax(t, b[i]) + 1;", False),
    ],
)
def test_updates_that_convert(operator: str, type: str, body: str, proven: bool | None) -> None:
    assert claim(f"reduction({operator}: t)", f"{type} t = 0;", body, "b[0] = t;").proven is proven
