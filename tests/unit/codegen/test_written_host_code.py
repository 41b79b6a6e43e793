"""Host code compiles without a warning: conditions that compilers can decide, and numbers that only
some of its functions have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import loopxform as lx

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
}


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("name", TEXTS)
def test_no_warning(name: str, tmp_path: Path) -> None:
    lx.loads(TEXTS[name], "t.c").offload("f").write(tmp_path)
    subprocess.run(["cc", *STRICT, "t_opencl.c"], cwd=tmp_path, check=True)
