"""Speculate: loops without the rare cases of quotients, and again with them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from c_project import cc
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.opencl.magnitudes import Magnitudes
from loopxform.ir.nodes import For
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk

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


def test_a_loop_that_sets_an_array_runs_as_it_is() -> None:
    """And declares nothing that it does not use."""
    text = _with("s[0] += y[j] / sqrtf(x[i] + y[j]);").replace("s = 0", "s[2] = {0, 0}")
    kernel = emit.kernel(derived(text.replace("= s;", "= s[0];"), *MAPPED, "speculate j")).source
    assert not re.search(r"\bquick\b", kernel[kernel.index("__kernel") :])


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


HOST = """
#include <math.h>
#include <stdio.h>
#include <string.h>
#define __NV_CL_C_VERSION 120
#define __kernel
#define __global
#define fma fmaf
#define sqrt sqrtf
typedef unsigned uint;
static uint as_uint(float x) { uint n; memcpy(&n, &x, sizeof n); return n; }
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static int group, item;
#define get_local_id(n) item
#define get_group_id(n) group
%s
int main(void)
{
  static const float x[] = {1, 2, 3.3f, 0, -1, 0x1p-140f, 0x1p+100f, INFINITY, 0x1p-63f, 7};
  static const float y[] = {1, 0.1f, 5, 0x1p-10f, 3, 2.7f, 1e-3f, 9, 11, 0.3f};
  static const float rare[] = {0, -0.0f, 0x1p-130f, 0x1p+90f, INFINITY, NAN, -3, 0x1p-64f};
  int differ = 0;
  for (int k = -1; k < 8; k++) {
    float z[10], r[10];
    memcpy(z, y, sizeof z);
    if (k >= 0) z[k] = rare[k];
    for (group = 0; group < 3; group++)
      for (item = 0; item < 4; item++)
        lx_f(10, 10, x, z, r);
    for (int i = 0; i < 10; i++) {
      float s = 0;
      for (int j = 0; j < 10; j++)
        FORMULA
      differ += as_uint(s) != as_uint(r[i]) && !(s != s && r[i] != r[i]);
    }
  }
  printf("%%d", differ);
  return 0;
}
"""


FORMULAS = {
    "usual": "s += y[j] / sqrtf(x[i] + y[j]);",
    "moderate": "{ float t = x[i] + y[j]; s += y[j] / (t * sqrtf(t)); }",
    "defined": "{ float t = x[i] + y[j], q = sqrtf(t); s += y[j] / (q * q * q); }",
}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("checked", [True, False])
def test_rare_operands(tmp_path: Path, checked: bool, formula: str) -> None:
    body = FORMULAS[formula]
    text = emit.kernel(derived(_with(body), *MAPPED, "speculate j")).source
    assert ("by_moderate(y" in text) is (formula != "usual")
    text = re.sub(r'asm\("rcp.*;', "r = flushed(1 / flushed(y));", text)
    text = re.sub(r'asm\("rsqrt.*;', "r = flushed(1 / sqrtf(flushed(x)));", text)
    text = re.sub(r"__attribute__\(\(reqd.*\)\)|#pragma OPENCL.*", "", text)
    if not checked:
        text = re.sub(r"if \(.*(\n +quick \|=)", r"if (1)\1", text)
    host = (HOST % text).replace("FORMULA", body.replace("y[j]", "z[j]"))
    (tmp_path / "f.c").write_text(host)
    cc(tmp_path, "-O1", "-ffp-contract=off", "-o", "f", "f.c", "-lm").check_returncode()
    run = subprocess.run([str(tmp_path / "f")], capture_output=True, text=True, check=True)
    assert (run.stdout == "0") is checked


DIVISORS = {
    "t * sqrtf(t)": {"t * sqrtf(t)"},
    "t * t * sqrtf(t)": set[str](),
    "sqrtf(t) * u": set[str](),
    "v * t": {"v*t"},
    "v * s": set[str](),
    "sqrtf(s)": set[str](),
    "sqrtf(x[i])": set[str](),
    "(t > 0 ? sqrtf(t) : 1.0f)": set[str](),
    "v * c": set[str](),
    "sqrtf(x0) * v": {"sqrtf(x0) * v"},
}
"""By a divisor, those that are moderate as soon as what roots are taken of is."""


@pytest.mark.parametrize("divisor", DIVISORS)
def test_moderate_divisors(divisor: str) -> None:
    body = f"""{{
        float t = x[i] * y[j] + x0, u = y[j], v = sqrtf(t), c = 0;
        if (u > 1) c = sqrtf(t);
        s += y[j] / ({divisor});
      }}"""
    fn = derived(_with(body).replace("float s = 0;", "float s = 0; const float x0 = x[i];")).start
    loop = next(s for _, s in walk(fn.body) if isinstance(s, For) and s.var == "j")
    assert set(map(expr_text, Magnitudes(loop, symbols(fn)).divisors)) == DIVISORS[divisor]


def test_roots_of_the_numbers_of_elements_that_are_dealt_out() -> None:
    """Such a number is another one in the text of a kernel than in the loop."""
    body = "for (int l = 0; l < 4; l++) { float v = sqrtf(l * 3.0f); s += y[j] / (v * v * v); }"
    fn = derived(_with(body)).start
    loop = next(s for _, s in walk(fn.body) if isinstance(s, For) and s.var == "l")
    for dealt in ("", "i"):
        found = Magnitudes(replace(loop, dealt=dealt), symbols(fn))
        assert bool(found.roots) == bool(found.divisors) == (not dealt)
