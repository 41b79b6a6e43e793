"""What the audit takes for granted of the numbers that reductions combine."""

from __future__ import annotations

import pytest

import loopxform as lx

ORDERED = "t is not NaN before the loop"
TRUTH = "t is 0 or 1 before the loop"


@pytest.mark.parametrize(
    ("type", "clause", "body", "assumes"),
    [
        ("double", "reduction(max: t)", "t = fmax(a[i], t);", [ORDERED]),
        ("float", "reduction(min: t)", "t = fminf(t, 2.0f);", [ORDERED]),
        ("double", "reduction(max: t)", "if (a[i] > t) t = a[i];", ["no a[i] is NaN", ORDERED]),
        ("int", "reduction(max: t)", "if (i > t) t = i;", []),
        ("double", "reduction(+: t)", "t += a[i];", []),
        ("int", "reduction(&&: t)", "t = t && a[i] > 3;", [TRUTH]),
        ("int", "reduction(||: t)", "t = t || a[i] > 3;", [TRUTH]),
        ("_Bool", "reduction(&&: t)", "t = t && a[i] > 3;", []),
        ("int", "reduction(&: t)", "t &= i;", []),
    ],
)
def test_conditions_of_a_reduction(type: str, clause: str, body: str, assumes: list[str]) -> None:
    head = f"#include <math.h>\n{type} f(int n, const double *restrict a, {type} t) {{\n"
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}\nreturn t; }}"
    for words in (f"parallel for {clause}", f"parallel {clause}\n#pragma omp for"):
        c = lx.loads(f"{head}#pragma omp {words}\n{loop}")["f"].audit()[0]
        assert c.proven is True
        assert list(c.assumes) == assumes


@pytest.mark.parametrize(
    ("before", "until", "assumes"),
    [
        ("int t = 1;", "n", []),
        ("int t; t = 0;", "n", []),
        ("int t = 5;", "4", []),
        ("int t = 5;", "n", [TRUTH]),
        ("int t = 1; if (n > 2) t = 7;", "n", [TRUTH]),
        ("int t = a[0];", "n", [TRUTH]),
    ],
)
def test_a_truth_value_before_the_loop(before: str, until: str, assumes: list[str]) -> None:
    (c,) = lx.loads(
        f"int f(int n, int *restrict a) {{ {before}\n#pragma omp parallel for reduction(&&: t)\n"
        f"for (int i = 0; i < {until}; i++) t = t && a[i];\nreturn t; }}"
    )["f"].audit()
    assert (c.proven, list(c.assumes)) == (True, assumes)


def test_an_extremum_under_a_lock() -> None:
    (c,) = lx.loads(
        "void f(int n, const double *restrict a, double *restrict t) {\n"
        "#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n#pragma omp critical\n"
        "*t = *t > a[i] ? *t : a[i];\n} }"
    )["f"].audit()
    assert (c.proven, c.assumes[-2:]) == (
        True,
        ("no a[i] is NaN", "t[0] is not NaN before the loop"),
    )
