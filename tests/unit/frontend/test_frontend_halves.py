"""`_Float16`: computed with in float, rounded by assignments, casts, arguments and returns."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, needs_compiler
from lowering import lower, opaques, param, parsed

from loopxform.errors import LoopxformError
from loopxform.ir.types import DOUBLE, FLOAT, HALF, INT, LONG, SHORT, common
from loopxform.verify.interp import run

ROUNDING = """
#include <stddef.h>
typedef _Float16 half;
#define ARGS half a, half b, double d, long n, float *p
static half third(half x) { return x / 3; }
static float kept(float x) { return x; }
float f_product(ARGS) { return a * b; }
float f_sum(ARGS) { float s = d; s += a * b; return s; }
float f_cast(ARGS) { return (half)(a * b) + a; }
float f_stored(ARGS) { half t = a * b; return t + a; }
float f_steps(ARGS)
{
  half s = 0;
  for (int i = 0; i < 5; i++) { s += a * b; s -= third(b); }
  return s;
}
half f_from_double(ARGS) { return d; }
half f_from_long(ARGS) { return n; }
half f_with_long(ARGS) { return a * n; }
double f_with_double(ARGS) { return a * b + d; }
float f_argument(ARGS) { return kept(a * b) - third(a * b); }
int f_order(ARGS) { return (a * b > a) + (a + b == a) + !a; }
float f_chosen(ARGS) { return (d > 1 ? a : b) * (n ? a * b : b); }
float f_chain(ARGS) { half t; float x; x = t = a * b; return x + t; }
half f_negative(ARGS) { return -a - +b; }
int f_whole(ARGS) { return (int)(a * b) + (short)b; }
float f_size(ARGS)
{
  return sizeof a + 10 * sizeof(half) + 100 * sizeof(a * 2) + 1000 * sizeof(a * 2.f);
}
void f_elements(ARGS)
{
  half t[4], u[2][2] = { { a, b }, { d, n } };
  for (int i = 0; i < 4; i++) { t[i] = a * i + u[i / 2][i % 2]; t[i]++; }
  for (int i = 0; i < 4; i++) p[i] = t[i] * t[3 - i];
}
"""


@needs_compiler
def test_the_interpreter_rounds_where_the_compiler_does() -> None:
    rng = np.random.default_rng(3)
    numbers = [0.0, 0.1, 1.0, -3.25, 6e-8, 65504.0, 2049.5, *rng.uniform(-60, 60, 6)]
    longs = [0, 3, 2049, 2051, -70000, 65519, 65520, 1 << 40]
    calls = [
        {
            "a": np.float16(rng.choice(numbers)),
            "b": np.float16(rng.choice(numbers)),
            "d": float(rng.choice([*numbers, 65519.99, 2049.0000001, 1 + 2**-11 + 2**-40])),
            "n": int(rng.choice(longs)),
            "p": np.zeros(4, np.float32),
        }
        for _ in range(40)
    ]
    finite = [c for c in calls if abs(float(c["a"]) * float(c["b"])) < 30000]
    assert len(finite) > 25
    assert_same(ROUNDING, *finite, only="f_")


def test_a_double_is_rounded_once() -> None:
    """Through float it would be a tie, and go to the even neighbour below."""
    fn = lower("_Float16 f(double x) { return x; }")
    assert run(fn, {"x": 1 + 2**-11 + 2**-40}) == 1 + 2**-10
    assert run(fn, {"x": 65519.99}) == 65504
    assert run(fn, {"x": 65520.0}) == np.inf


def test_types() -> None:
    fn = lower("typedef _Float16 h; void f(const h *a, h (*restrict b)[3], h x) { a[0]; }")
    assert [param(fn, n).type for n in "abx"] == [HALF] * 3
    for other in (HALF, SHORT, INT, LONG, FLOAT):
        assert common(HALF, other) == common(other, HALF) == FLOAT
    assert common(HALF, DOUBLE) == DOUBLE


@pytest.mark.parametrize(
    "call", ["isnan(a[i])", "isnormal(a[i] * 2)", "signbit(-a[i])", "sqrt(a[i] + a[0])"]
)
def test_macros_that_look_at_the_type_are_refused(call: str) -> None:
    header = "tgmath" if call.startswith("sqrt") else "math"
    text = f"#include <{header}.h>\nvoid f(int n, _Float16 *a, float *b)"
    fn = lower(text + f" {{ for (int i = 0; i < n; i++) b[i] = {call}; }}")
    (found,) = opaques(fn)
    assert "is for a _Float16 is left to the compiler" in found.reason
    assert found.help == "convert the argument first: (float)x"
    assert not opaques(lower(text + " { b[0] = isnan((float)a[0]) + sqrtf(a[1]); }"))


@pytest.mark.parametrize("literal", ["1.5f16", "1e3F16", ".5f16", "2.f16"])
def test_literals_are_refused(literal: str) -> None:
    """Clang rounds 0.1f16 to a half, gcc computes with it as a float."""
    with pytest.raises(LoopxformError) as e:
        parsed(f"void f(_Float16 *a) {{\n  a[0] = {literal} * a[1];\n}}\n")
    assert e.value.render() == (
        f"t.c:2:10: error: the literal {literal} is not read: compilers differ in how they round "
        "it [LX001]\n"
        "   |\n"
        f" 2 |   a[0] = {literal} * a[1];\n"
        f"   |          {'^' * len(literal)}\n"
        f"   = help: write (_Float16){literal[:-3]}f"
    )


def test_programs_that_ask_for_the_type_find_it() -> None:
    text = """
    #ifdef __FLT16_MAX__
    typedef _Float16 number;
    #else
    typedef float number;
    #endif
    void f(number *a) { a[0] = __FLT16_MANT_DIG__; }
    """
    assert param(lower(text), "a").type == HALF
