"""Host code compiles without a warning: conditions that compilers can decide, and numbers that only
some of its functions have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host import guards
from loopxform.ir.device_facts import WARP
from loopxform.ir.nodes import Bin, Const, Var
from loopxform.ir.types import SHORT, UINT

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
TEXTS = {
    "an end of the array that is found out, where launches are shared": """
void f(int n, int m, int (*restrict b)[m + 4], const int *restrict c)
{
  for (int i = 0; i < n; i++)
    b[i][3] = i;
  for (int i = 1; i < n; i++)
    if (c[i] > n)
      b[2][m] -= i;
    else if (n < c[0])
      b[i][2] = b[i - 1][2];
}
""",
    "what every int is": """
void f(int n, int *restrict a)
{
  for (unsigned i = 4294967295u - n; i < 4294967295u; i++)
    a[i - (4294967295u - n)] += i & 7;
}
""",
    "what every truth is": """
void f(int n, int *restrict a)
{
  for (short i = n > 4; i < n; i++)
    a[i] = i;
}
""",
    "what every int without its sign is": """
void f(int n, int *restrict a)
{
  for (unsigned i = 1; i < (unsigned)n; i += 2)
    a[i + 2] = i;
}
""",
    "a pointer that may be null, to data that are read before": """
void f(int n, float *restrict a, const float *restrict x, const int *restrict k)
{
  for (int i = 0; i < n; i++) {
    a[i] += x[k[i]];
    if (k)
      a[i] += 1;
  }
}
""",
    "numbers beyond 64 bits": """
void f(int n, int *restrict a, unsigned long u)
{
  for (int i = 0; i < n; i++)
    if (n < (long)u)
      a[i + 1] = a[i];
}
""",
    "sizes of which types decide all that is asked": """
void f(unsigned char h, unsigned char w, const float *a, float *c)
{
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      c[y * w + x] = a[y * w + x - 1] + a[y * w + x + 1];
}
""",
    "planes of an array that the program has itself": """
void f(int n, int m, unsigned char p[3][n][m], const unsigned char q[3][n][m])
{
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++)
      for (int c = 0; c < 2; c++)
        p[c + 1][y][x] += q[c][y][x];
}
""",
    "structs and another array, of which a call may touch one alone": """
typedef struct { float x, y; } pair;
void f(int n, int m, pair *p, float *b)
{
  for (int i = 0; i < n; i++)
    p[i].x = i;
  for (int i = 0; i < m; i++)
    b[i] = i;
}
""",
    "rows that a variable of the file leads to": """
struct row { float *c; } rows[8];
void f(int n, int m)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      rows[i].c[j] += 1;
}
""",
}


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("name", TEXTS)
def test_no_warning(name: str, tmp_path: Path) -> None:
    lx.loads(TEXTS[name], "t.c").offload("f").write(tmp_path)
    subprocess.run(["cc", *STRICT, "t_opencl.c"], cwd=tmp_path, check=True)


@pytest.mark.opencl_sdk
def test_no_warning_of_versions_that_small_types_rule_out(tmp_path: Path) -> None:
    text = """
void mm(short M, unsigned char N, short U, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < U; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""
    lx.loads(text, "t.c")["mm"].offload(limits="h100").write(tmp_path)
    subprocess.run(["cc", *STRICT, "t_opencl.c"], cwd=tmp_path, check=True)


def test_what_types_decide_of_what_is_computed_in_int() -> None:
    d = Dialect("c", {"s": SHORT, "u": UINT})
    assert guards.told_in_int(Bin("<=", Var("s"), Const(40000)), d) == Const(1)
    wraps = Bin(">", Var("u"), Const(-1))
    assert guards.told_in_int(wraps, d) == wraps


def test_what_only_the_run_tells_is_asked() -> None:
    d = Dialect("c", {}, thresholds={WARP.name: f"{WARP.name}()"})
    assert guards.wide(Bin("<", Const(1), WARP), d) == "1 < lx_device_warp()"
