"""Divisors that stop processors where the program does not divide: written code divides ahead of
it."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx

BODIES = {
    "returned": "if (!k) return; int w = n / k; for (int i = 0; i < w; i++) a[i] += n % k; "
    "for (int i = w; i < n; i++) a[i] = i / k;",
    "assumed": "if (k != 0 && n % k == 0) for (int i = 0; i < n / k; i++) "
    "for (int j = 0; j < k; j++) a[i * k + j] = i - j;",
    "exchanged": "for (int t = 0; t < k; t++) for (int i = 0; i < n / k; i++) "
    "a[i * k + t] += n % k;",
}
"""Statements that divide by `k` where it is not 0."""

MAIN = """
#include <stdio.h>
void f(int n, int k, int *restrict a);
int main(void)
{
  int a[40] = {0};
  for (int k = 0; k < 5; k++)
    f(36, k, a);
  for (int i = 0; i < 40; i++)
    printf("%d ", a[i]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("case", "target"),
    [("returned", "host"), ("assumed", "device"), ("exchanged", "device"), ("exchanged", "openmp")],
)
def test_nothing_is_divided_by_0(case: str, target: str, tmp_path: Path) -> None:
    array = "a[restrict 40]" if target == "host" else "*restrict a"
    _check(f"void f(int n, int k, int {array}) {{ {BODIES[case]} }}", MAIN, target, tmp_path)


LEAST = """
void f(int n, long a, long b, int x[restrict n][8])
{
  for (int i = 0; i < n; i++)
    for (long j = 0; j < a / b + a % b; j++)
      x[i][j] += 1;
}
"""
CALLS = """
#include <limits.h>
#include <stdio.h>
void f(int n, long a, long b, int x[restrict n][8]);
int main(void)
{
  int x[2][8] = {{0}};
  f(2, -6, -1, x);
  f(0, LONG_MIN, -1, x);
  for (int i = 0; i < 8; i++)
    printf("%d ", x[1][i]);
  return 0;
}
"""


@pytest.mark.parametrize("target", ["device", "openmp"])
def test_the_least_number_is_not_divided_by_minus_1(target: str, tmp_path: Path) -> None:
    _check(LEAST, CALLS, target, tmp_path)


def _check(text: str, main: str, target: str, folder: Path) -> None:
    """What is written for a function prints what your C does."""
    require_opencl()
    f = lx.loads(text)["f"]
    done = f.offload() if target == "host" else f.tile()
    files = done.openmp.files if target == "openmp" else done.opencl.files
    for name, written in {**files, "user.c": text, "main.c": main}.items():
        (folder / name).write_text(written)
    sources = [name for name in files if name.endswith(".c")]
    printed = []
    for app, parts in (("plain", ["user.c"]), ("app", sources)):
        options = [*STRICT, *PLAIN, "-fopenmp", "main.c", *parts, "-o", app, "-lOpenCL", "-lm"]
        built = cc(folder, *options)
        assert not built.returncode, built.stderr
        printed.append(run_app(folder / app))
    assert [p.returncode for p in printed] == [0, 0]
    assert printed[0].stdout == printed[1].stdout
