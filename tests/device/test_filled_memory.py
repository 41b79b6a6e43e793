"""Kernels of functions that fill and copy memory with calls of the C library."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import Compared, assert_all_same
from harness import assert_agrees, assert_runs_agree, simulate

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

INSIDE = """
#include <string.h>
void f(int n, int m, const float a[n][3], float b[n][m], unsigned char c[n][8])
{
  for (int i = 0; i < n; i++) {
    float t[3];
    memcpy(t, a[i], sizeof t);
    memset(c[i], i, 8);
    memmove(c[i] + 1, c[i], 7);
    unsigned w;
    memcpy(&w, c[i] + 2, sizeof w);
    w *= 77;
    memcpy(c[i] + 4, &w, sizeof w);
    memset(b[i], 0, m * sizeof(float));
    b[i][0] = t[2] * t[1] + c[i][1];
  }
}"""

BESIDE = """
#include <string.h>
void f(int n, int m, float sum[n], const float a[n][m], float b[n][m], int last[n][m])
{
  memset(sum, 0, n * sizeof *sum);
  memset(last, 0xff, sizeof(int) * n * m);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sum[i] += a[i][j];
  memcpy(b, a, sizeof(float) * n * m);
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      b[i][j] = b[i][j - 1] + sum[i];
}"""

SIZES = {"n": 20, "m": 9}


@pytest.mark.device
def test_calls_inside_of_loops() -> None:
    assert_agrees(INSIDE, SIZES)


@pytest.mark.oclgrind
def test_calls_inside_of_loops_under_oclgrind() -> None:
    plan = emit.kernel(lx.loads(INSIDE)["f"].tile(contract=False).derivation, fp=SEPARATE)
    report = simulate(plan, arguments(plan.written, {"n": 5, "m": 4}, 1))
    assert report.clean, report.findings[0]


@cache
def offloaded() -> OffloadedRoutine:
    return lx.loads(BESIDE)["f"].offload(contract=False)


@pytest.mark.device
def test_calls_beside_loops() -> None:
    plan = emit.kernel(offloaded().derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=BESIDE), [SIZES, {"n": 1, "m": 1}], 5)


def test_calls_beside_loops_in_a_c_program(tmp_path: Path) -> None:
    done = offloaded().derivation
    every = tuple(arguments(done.start, sizes, 1) for sizes in (SIZES, {"n": 1, "m": 2}))
    assert_all_same(tmp_path, [Compared(done, BESIDE, every)])
