"""Speculate: loops without the rare cases of quotients, and again with them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from c_project import cc
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.opencl.quick_quotients import BIT

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
        s += z[j] / sqrtf(x[i] + z[j]);
      differ += as_uint(s) != as_uint(r[i]) && !(s != s && r[i] != r[i]);
    }
  }
  printf("%%d", differ);
  return 0;
}
"""


@pytest.mark.parametrize("checked", [True, False])
def test_rare_operands(tmp_path: Path, checked: bool) -> None:
    text = emit.kernel(derived(TEXT, *MAPPED, "speculate j")).source
    text = re.sub(r'asm\("rcp.*;', "r = flushed(1 / flushed(y));", text)
    text = re.sub(r'asm\("rsqrt.*;', "r = flushed(1 / sqrtf(flushed(x)));", text)
    text = re.sub(r"__attribute__\(\(reqd.*\)\)|#pragma OPENCL.*", "", text)
    if not checked:
        text = text.replace(f"if (!(usual & {BIT}u))", "if (0)")
    (tmp_path / "f.c").write_text(HOST % text)
    cc(tmp_path, "-O1", "-ffp-contract=off", "-o", "f", "f.c", "-lm").check_returncode()
    run = subprocess.run([str(tmp_path / "f")], capture_output=True, text=True, check=True)
    assert (run.stdout == "0") is checked
