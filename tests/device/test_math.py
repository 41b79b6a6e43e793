"""The functions of <math.h> in kernels: as exact as OpenCL promises, and of C's types."""

from __future__ import annotations

import pytest
from harness import assert_agrees

import loopxform as lx
from loopxform.errors import LoopxformError
from loopxform.ir.accuracy import ULPS
from loopxform.ir.functions import INTEGER, REAL, base_name, parameters, result
from loopxform.ir.types import INT
from loopxform.verify.tolerance import tolerance_of


def every(*, exact: bool, single: bool) -> list[str]:
    names = [f"{n}f" if single else n for n in REAL]
    return [n for n in names if (base_name(n) in ULPS) != exact and not n.startswith("is")]


def call(name: str) -> str:
    types = parameters(name) or ()
    given = [f"k[{n}]" if t == INT else f"x[{n} * n + i]" for n, t in enumerate(types)]
    return f"{name}({', '.join(given)})"


@pytest.mark.device
@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("exact", [True, False])
def test_every_function(real: str, *, exact: bool) -> None:
    """Each in a nest of its own, so that each has a tolerance of its own."""
    names = every(exact=exact, single=real == "float")
    assert len(names) > 15
    groups = [names] if exact else [names[n::6] for n in range(6)]
    for group in groups:
        rows = ", ".join(f"{real} *restrict r{n}" for n in range(len(group)))
        body = "".join(f"    r{row}[i] = {call(n)};\n" for row, n in enumerate(group))
        text = (
            f"#include <math.h>\nvoid f(int n, const int k[3], const {real} x[3 * n], {rows})\n"
            f"{{\n  for (int i = 0; i < n; i++) {{\n{body}  }}\n}}\n"
        )
        assert assert_agrees(text, {"n": 40}).allowed.exact == exact


CLASSES = """
#include <math.h>
#include <stdlib.h>
void f(int n, const float a[n], const double b[n], const int s[n], int *restrict k,
       long *restrict l, double *restrict d)
{
  for (int i = 0; i < n; i++) {
    float x = i % 4 == 0 ? INFINITY : i % 4 == 1 ? -HUGE_VALF : i % 4 == 2 ? NAN : a[i] * 1e-40f;
    double y = x * b[i];
    k[i] = isnan(x) + 2 * isinf(x) + 8 * isfinite(y) + 16 * isnormal(x) + 32 * isnormal(y)
         + 64 * !signbit(x) + 128 * isgreater(b[i], a[i]) + 256 * (y < HUGE_VAL);
    l[i] = lround(a[i] * s[i]) + lrintf(a[i] * 7) + llround(-b[i] * 2.5) + labs(s[i]) + abs(s[i]);
    d[i] = sqrt(a[i]) * floorf(a[i] * 3) + fabs(a[i]) + fma(a[i], b[i], 1) + fmax(a[i], s[i]);
  }
}"""


@pytest.mark.device
def test_classes_of_numbers_and_whole_ones() -> None:
    assert assert_agrees(CLASSES, {"n": 64}).allowed.exact


@pytest.mark.device
def test_generic_functions_go_by_their_arguments() -> None:
    text = """
#include <tgmath.h>
void f(int n, float *restrict a, double *restrict b, const int *restrict c)
{
  for (int i = 0; i < n; i++) {
    a[i] = sqrt(a[i]) * 1.0000001;
    b[i] = sqrt(b[i]) + sqrt(c[i] * c[i]) + fmax(a[i], 2) + fabs(a[i]);
  }
}"""
    assert_agrees(text, {"n": 50})
    assert "sqrtf" in lx.loads(text)["f"].listing


REFUSED = [
    ("sqrtl(a[i])", "the call to 'sqrtl' computes in long double, which OpenCL C lacks"),
    ("j0(a[i])", "the call to 'j0' has no counterpart in OpenCL C"),
    ("exp(a[i])", "'exp' is declared with other types than the function of the C library"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED)
def test_what_has_no_counterpart(value: str, reason: str) -> None:
    text = f"float exp(float); void f(float *a) {{ for (int i = 0; i < 9; i++) a[i] = {value}; }}"
    with pytest.raises(LoopxformError, match=reason):
        lx.loads(text)["f"].tile()


def test_types_of_values() -> None:
    assert [str(result(n)) for n in ("isnanf", "lroundf", "llrint", "sqrtf", "labs", "ldexp")] == [
        *("int", "long", "long long", "float", "long", "double"),
    ]
    assert all(parameters(n) for n in INTEGER)


def test_tolerance_where_a_device_does_not_round() -> None:
    fn = lx.loads(
        "float sqrtf(float); void f(float *a, double *b) { for (int i = 0; i < 9; i++) {"
        "a[i] = sqrtf(a[i]) / 3; b[i] = b[i] / 3; } }"
    )["f"].function
    assert tolerance_of(fn, contract=False).exact
    assert tolerance_of(fn, contract=False, rounded=False).functions == ("/", "sqrtf")
