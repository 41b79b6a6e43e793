"""Loops as different programmers write them: the kernels compute what the user's C does."""

from __future__ import annotations

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

TEXTS = {
    "pixels_by_pointer": """void f(int n, const unsigned char *rgb, unsigned char *restrict grey) {
      const unsigned char *end = rgb + 3 * n;
      while (rgb < end) { int r = *rgb++; int g = *rgb++; int b = *rgb++;
        *grey++ = (77 * r + 150 * g + 29 * b) >> 8; } }""",
    "branches": """void f(int n, float a[n + 1], const float b[n + 1], float c[n + 1]) {
      for (int i = 0; i < n - 1; i++) { if (b[i] < 0.5f) goto other; a[i] = c[i] + b[i];
        goto next; other: c[i + 1] = a[i] * b[i]; next:; } }""",
    "unsigned_blocks": """void f(unsigned n, float *restrict c, const float *a) {
      for (unsigned ii = 0; ii < n; ii += 16) { unsigned e = ii + 16; if (e > n) e = n;
        for (unsigned jj = 0; jj < n; jj += 8) for (unsigned i = ii; i < e; i++)
          for (unsigned j = jj; j < (jj + 8 < n ? jj + 8 : n); j++) c[j*n + i] = a[i*n + j]; } }""",
    "down_to_the_wrap": """void f(unsigned long n, float *restrict y, const float *a,
        const float *x) {
      for (unsigned long i = n - 1; i < n; i--) { float s = 0;
        for (unsigned long j = n - 1; j != -1; --j) s += a[i*n + j] * x[j];
        y[i] = s; } }""",
    "early_taps": """void f(int n, float *restrict y, const float *x, const float *h) {
      for (int i = 0; i < n; i++) { float s = 0;
        for (int k = 0; k < 9; k++) { if (i - k < 0) break; s += h[k] * x[i - k]; }
        y[i] = s; } }""",
}
SIZES = ({"n": 37}, {"n": 1}, {"n": 2}, {"n": 0}, {"n": 64})


@pytest.mark.device
@pytest.mark.parametrize("name", TEXTS)
def test_bit_identical_to_the_c_program(name: str) -> None:
    done = lx.loads(TEXTS[name])["f"].offload(contract=False)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=TEXTS[name]), SIZES, 3)
