"""Gather quotients: those by one divisor together, in a loop of one iteration."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from c_project import cc
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.errors import TransformError

TEXT = """
void f(int n, const float a[restrict n], const float b[restrict n], float y[restrict n],
       float r[restrict n], float s[restrict n])
{
  for (int i = 0; i < n; i++) {
    const float d = y[i] + 1;
    BODY
  }
}
"""
MAPPED = ("parallelise i", "stripmine i 4 i_g", "map i_g group.x", "map i thread.x")
TWO = "r[i] = 2 + a[i] / d; s[i] = b[i] / d;"


def _of(body: str) -> str:
    return TEXT.replace("BODY", body)


LISTINGS = {
    "two": (_of(TWO), "gather-quotients i"),
    "one-statement": (_of("r[i] = a[i] / d - b[i] / d * (a[i] / d);"), "gather-quotients i"),
    "branches": (
        _of("if (a[i] > 0) { r[i] = a[i] / d; s[i] = b[i] / d; } else { r[i] = a[i] / d; }"),
        "gather-quotients i",
    ),
    "two-divisors": (
        _of("const float e = b[i]; r[i] = a[i] / d + b[i] / e; s[i] = b[i] / d - a[i] / e;"),
        "gather-quotients i",
    ),
    "divisor-read": (_of("r[i] = a[i] / y[i]; s[i] = b[i] / y[i];"), "gather-quotients i"),
    "same-text": (
        _of("float t = a[i]; r[i] = t / d; t = 3 + d; s[i] = t / d - b[i] / d * (t / d);"),
        "gather-quotients i",
    ),
    "inside": (_of("r[i] = a[i] / d / d + b[i] / d;"), "gather-quotients i"),
    "some": (
        _of("r[i] = a[i] / d; const float t = r[i] / d; s[i] = b[i] / d + t;"),
        "gather-quotients i",
    ),
}
REFUSALS = {
    "one": (_of("r[i] = a[i] / d; s[i] = d / a[i];"), "gather-quotients i"),
    "constant": (_of("r[i] = a[i] / 3.0f; s[i] = b[i] / 3.0f;"), "gather-quotients i"),
    "set-between": (_of("r[i] = a[i] / d; s[i] = r[i] / d;"), "gather-quotients i"),
    "divisor-set": (_of("r[i] = a[i] / y[i]; y[i] = 3; s[i] = b[i] / y[i];"), "gather-quotients i"),
    "choice": (_of("r[i] = d > 0 ? a[i] / d : b[i] / d;"), "gather-quotients i"),
    "doubles": (_of("r[i] = a[i] / (1.0 * d); s[i] = b[i] / (1.0 * d);"), "gather-quotients i"),
    "together": (_of(TWO), "gather-quotients i", "gather-quotients once"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 5)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def _random_body(rng: random.Random) -> str:
    """Statements that divide by what they change now and then."""
    operands = ("a[i]", "b[i]", "t", "u", "d", "y[i]")

    def quotient() -> str:
        return f"{rng.choice(operands)} / {rng.choice(('d', 't', 'y[i]'))}"

    def statement() -> str:
        values = (quotient(), f"{quotient()} - {quotient()}", f"3 * ({quotient()}) / d")
        target = rng.choice(("t", "u", "r[i]", "s[i]", "y[i]"))
        text = f"{target} {rng.choice(('=', '=', '+='))} {rng.choice(values)};"
        return text if rng.random() < 0.8 else f"if (u > 0) {{ {text} r[i] = {quotient()}; }}"

    lines = [statement() for _ in range(rng.randint(2, 6))]
    return " ".join(["float t = a[i], u = b[i]; r[i] = 0; s[i] = 0;", *lines])


def test_random_bodies() -> None:
    rng, gathered = random.Random(20), 0
    for _ in range(40):
        text = _of(_random_body(rng))
        try:
            assert_step(text, "gather-quotients i", sizes=(3,))
            gathered += 1
        except TransformError:
            continue
    assert 20 < gathered < 40


def test_kernel(golden: Golden) -> None:
    steps = (*MAPPED, "gather-quotients i", "speculate once")
    text = emit.kernel(derived(_of(TWO), *steps)).source
    golden.check(text[text.index("__kernel") :])


HOST = """
#include <math.h>
#include <stdio.h>
#include <string.h>
#define __NV_CL_C_VERSION 120
#define __kernel
#define __global
#define fma fmaf
typedef unsigned uint;
static uint as_uint(float x) { uint n; memcpy(&n, &x, sizeof n); return n; }
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static int group, item;
#define get_local_id(n) item
#define get_group_id(n) group
KERNEL
int main(void)
{
  static const float some[] = {1, 0.1f, -5, 3, 0, -0.0f, 0x1p-140f, 0x1p+100f, INFINITY, NAN,
                               0x1p-130f, 0x1p+90f, -3, 0x1p-64f, 7, 0x1.fffffep+0f};
  enum { N = 16 };
  int differ = 0;
  for (int k = 0; k < N; k++)
    for (int l = 0; l < N; l++) {
      float a[N], b[N], y[N], r[N], s[N];
      for (int i = 0; i < N; i++)
        a[i] = some[i], b[i] = some[(i + l) % N], y[i] = some[k];
      for (group = 0; group < N / 4; group++)
        for (item = 0; item < 4; item++)
          lx_f(N, a, b, y, r, s);
      for (int i = 0; i < N; i++) {
        const float d = y[i] + 1, p = 2 + a[i] / d, q = b[i] / d;
        differ += as_uint(p) != as_uint(r[i]) && !(p != p && r[i] != r[i]);
        differ += as_uint(q) != as_uint(s[i]) && !(q != q && s[i] != s[i]);
      }
    }
  printf("%d", differ);
  return 0;
}
"""


@pytest.mark.parametrize("checked", [True, False])
def test_rare_operands(tmp_path: Path, checked: bool) -> None:
    steps = (*MAPPED, "gather-quotients i", "speculate once")
    text = emit.kernel(derived(_of(TWO), *steps)).source
    text = re.sub(r'asm\("rcp.*;', "r = flushed(1 / flushed(y));", text)
    text = re.sub(r"__attribute__\(\(reqd.*\)\)|#pragma OPENCL.*", "", text)
    if not checked:
        text = re.sub(r"if \(.*(\n +quick \|=)", r"if (1)\1", text)
    (tmp_path / "f.c").write_text(HOST.replace("KERNEL", text))
    cc(tmp_path, "-O1", "-ffp-contract=off", "-o", "f", "f.c", "-lm").check_returncode()
    run = subprocess.run([str(tmp_path / "f")], capture_output=True, text=True, check=True)
    assert (run.stdout == "0") is checked
