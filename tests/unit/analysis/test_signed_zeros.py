"""Which expressions are never -0.0."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.signed_zeros import never_minus_zero
from loopxform.ir.nodes import Assign, Load
from loopxform.ir.visit import walk

EXPRESSIONS = {
    "x * x": True,
    "x * x + y * y": True,
    "sqrtf(x * x + 1)": True,
    "fabsf(x)": True,
    "i": True,
    "(float)(i - n)": True,
    "i > 2 ? fabsf(x) : 1.5f": True,
    "squared": True,
    "x": False,
    "x * y": False,
    "-fabsf(x)": False,
    "fabsf(x) - 1": False,
    "i > 2 ? fabsf(x) : x": False,
    "-0.0f": False,
    "(float)(fabs(x) * -1)": False,
    "plain": False,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_never_minus_zero(expression: str) -> None:
    text = f"""#include <math.h>
    void f(int n, int i, float x, float y, float a[n])
    {{ float squared = x * x, plain = x; a[0] = {expression}; plain = 1; }}"""
    fn = lx.loads(text)["f"].function
    found = (s for _, s in walk(fn.body) if isinstance(s, Assign) and isinstance(s.target, Load))
    (value,) = (s.value for s in found)
    assert never_minus_zero(fn, value) == EXPRESSIONS[expression]
