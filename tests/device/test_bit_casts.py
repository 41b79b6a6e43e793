"""Bits of numbers that C reads through unions, pointers and memcpy: what the user's C computes, on
a device, by the text of kernels, and in products that are tiled."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from c_project import Compared, assert_all_same
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEAD = """\
#include <stdint.h>
#include <string.h>
typedef union { float value; int32_t bits; } pun;
union wide { double d; uint64_t n; };
static inline float of_bits(uint32_t w)
{ union { uint32_t as_bits; float as_value; } u; u.as_bits = w; return u.as_value; }
static inline uint32_t to_bits(float f)
{ union { float as_value; uint32_t as_bits; } u = { f }; return u.as_bits; }
"""
WIDEN = {
    "union": "union { float f; uint32_t i; } u; u.i = (uint32_t)h << 16; return u.f;",
    "initialised": "union { uint32_t i; float f; } u = { (uint32_t)h << 16 }; return u.f;",
    "named member": "union { float f; uint32_t i; } u = { .i = (uint32_t)h << 16 }; return u.f;",
    "memcpy": "uint32_t b = (uint32_t)h << 16; float f; memcpy(&f, &b, sizeof f); return f;",
    "pointer": "uint32_t b = (uint32_t)h << 16; return *(float *)&b;",
    "function": "return of_bits((uint32_t)h << 16);",
}
"""What makes a float of a bfloat16."""

PRODUCT = """
static inline float widened(uint16_t h) {{ {0} }}
void mm(int M, int U, int N, uint16_t A[restrict M][U], uint16_t B[restrict U][N],
        float C[restrict M][N])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += widened(A[i][k]) * widened(B[k][j]);
      C[i][j] = acc;
    }}
}}
"""
HALF = """
static inline float of_half(uint16_t h)
{
  const uint32_t w = (uint32_t)h << 16, sign = w & UINT32_C(0x80000000), two_w = w + w;
  const float normal = of_bits((two_w >> 4) + (UINT32_C(0xE0) << 23)) * 0x1.0p-112f;
  const float small = of_bits((two_w >> 17) | (UINT32_C(126) << 23)) - 0.5f;
  return of_bits(sign | (two_w < UINT32_C(1) << 27 ? to_bits(small) : to_bits(normal)));
}
"""
NARROW = """
static inline uint16_t narrowed(float s)
{
  pun u;
  u.value = s;
  if ((u.bits & 0x7fffffff) > 0x7f800000)
    return (u.bits >> 16) | 64;
  return (uint32_t)(u.bits + (0x7fff + ((u.bits >> 16) & 1))) >> 16;
}
"""
F = (
    "void f(int n, {0} a[restrict n], {1} b[restrict n]) "
    "{{ for (int k = 0; k < n; k++) {{ {2} }} }}"
)
LOOPS = {
    "halves": HALF + F.format("uint16_t", "float", "b[k] = of_half(a[k]);"),
    "bfloats": NARROW + F.format("float", "uint16_t", "b[k] = narrowed(a[k]);"),
    "doubles": F.format(
        "double", "uint64_t", "union wide w; w.d = a[k] * 3; w.n ^= 1ull << 63; "
        "b[k] = w.n + (w.d < 0);"
    ),
    "pointers": F.format(
        "float", "float",
        "float x = a[k] + 1, y; int32_t i = *(int32_t *)&x; i = 0x5f3759df - (i >> 1); "
        "y = *(float *)&i; b[k] = y * (1.5f - 0.5f * x * y * y);",
    ),
    "copies": F.format(
        "float", "int", "float x = a[k]; int y; memcpy(&y, &x, sizeof y); b[k] = y >> 3 ^ (int)x;"
    ),
}  # fmt: skip
NOT_READ = {
    "address": "union { float f; uint32_t i; } u; float *p = &u.f; *p = h; return u.f;",
    "other size": "union { double f; uint32_t i; } u; u.f = 0; u.i = h; return u.f;",
    "volatile": "volatile union { float f; uint32_t i; } u; u.i = h; return u.f;",
    "step": "union { float f; uint32_t i; } u; u.i = h; u.i++; return u.f;",
    "kept": "static union { float f; uint32_t i; } u; u.i += h; return u.f;",
}


def plan(text: str, function: str = "f") -> Plan:
    return emit.kernel(lx.loads(text)[function].tile(contract=False).derivation, fp=SEPARATE)


@pytest.mark.parametrize("case", WIDEN)
def test_products_are_tiled(case: str) -> None:
    done = lx.loads(HEAD + PRODUCT.format(WIDEN[case]))["mm"].tile()
    assert done.recipe == "register"


@pytest.mark.device
@pytest.mark.parametrize("case", ["union", "memcpy"])
def test_products_are_identical(case: str) -> None:
    text = HEAD + PRODUCT.format(WIDEN[case])
    sizes = [{"M": 33, "U": 17, "N": 70}]
    assert_runs_agree(plan(text, "mm"), CSource(text=text), sizes, 3)


@pytest.mark.parametrize("case", LOOPS)
def test_bits_by_the_text_of_kernels(case: str) -> None:
    p = plan(HEAD + LOOPS[case])
    given = arguments(p.start, {"n": 37}, 1)
    after = copy.deepcopy(given)
    execute(p, after)
    if case == "halves":  # a function of the file, which the interpreter does not run
        given["b"] = given["a"].view(np.float16).astype(np.float32)
    else:
        Program(p.start).run(given)
    assert not compare({k: v for k, v in given.items() if isinstance(v, np.ndarray)}, after)


@pytest.mark.device
def test_the_drop_ins_compute_what_the_functions_did(tmp_path: Path) -> None:
    programs = []
    for number, text in enumerate(LOOPS.values()):
        text = HEAD + text.replace("void f(", f"void f{number}(")
        done = lx.loads(text)[f"f{number}"].offload(contract=False).derivation
        programs.append(Compared(done, text, (arguments(done.start, {"n": 1003}, 1),)))
    assert_all_same(tmp_path, programs)


@pytest.mark.parametrize("case", NOT_READ)
def test_other_unions_are_not_read(case: str) -> None:
    with pytest.raises(LoopxformError):
        lx.loads(HEAD + PRODUCT.format(NOT_READ[case]))["mm"].tile()
