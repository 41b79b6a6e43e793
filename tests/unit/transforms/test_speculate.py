"""Speculate: loops without the rare cases of quotients, and again with them."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit

TEXT = """
#include <math.h>
void f(int n, int m, const float x[restrict n], const float y[restrict m], float r[restrict n])
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < m; j++)
      s += y[j] / sqrtf(x[i] + y[j]);
    r[i] = s;
  }
}
"""
MAPPED = ("parallelise i", "stripmine i 4 i_g", "map i_g group.x", "map i thread.x")


def _with(body: str) -> str:
    return TEXT.replace("s += y[j] / sqrtf(x[i] + y[j]);", body)


REFUSALS = {
    "no-quotient": (_with("s += y[j] / 3.0f;"), "speculate j"),
    "stores": (_with("{ s += y[j] / x[i]; r[i] = s; }"), "speculate j"),
    "subscripts": (_with("{ int k = (int)(y[j] / x[i]); s += y[k]; }"), "speculate j"),
    "work-items": (TEXT, *MAPPED, "speculate i"),
    "inside": (
        _with("for (int k = 0; k < 3; k++) s += y[j] / (x[i] + k);"),
        *("speculate j", "speculate k"),
    ),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(TEXT, *MAPPED, "speculate j", sizes=(0, 1, 5)))


def test_kernel(golden: Golden) -> None:
    text = emit.kernel(derived(TEXT, *MAPPED, "speculate j")).source
    golden.check(text[text.index("__kernel") :])


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
