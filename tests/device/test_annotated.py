"""Annotated functions on a device: what the user's C does, and the user's loops where what was
assumed does not hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_project import (
    PLAIN,
    assert_same,
    caller_of,
    cc,
    preamble_of,
    project_of,
    require_opencl,
    run_app,
)

import loopxform as lx
from loopxform.api.mapped import MappedRoutine
from loopxform.errors import ArgumentError

pytestmark = pytest.mark.device

SHIFTED = """\
#pragma loopxform assume(m >= n && m < 500)
void shifted(int n, int m, int *restrict a, int *restrict s)
{
#pragma loopxform parallel tile(Tx=32)
  for (int i = 0; i < n; i++)
    a[i + m] = 2 * a[i] + s[i];
}
"""

SCALED = """\
void scaled(unsigned n, long m, float *a, float *b)
{
#pragma loopxform noalias(a, b) assume(n > 2 && m % 4 == 0)
#pragma loopxform check tile(Ty=1, Tx=8)
  for (unsigned i = 0; i < n; i++)
    a[i] = b[i] * m;
}
"""

PRODUCT = """\
void product(int m, long n, float a[m][9], float b[9][n], float c[restrict m][n])
{
#pragma loopxform tile(specialise(m=20, n=12), Ty=2, Tx=2, Ry=4, Rx=4, Tk=4, vector=4)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < 9; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
"""

SAYS = "loopxform: {name}.c:{line}: {name}: {why}; running the loops on the host\n"


def mapped(text: str, how: str) -> MappedRoutine:
    (f,) = lx.loads(text)
    return f.tile(contract=False) if how == "tile" else f.offload(contract=False)


@pytest.mark.parametrize("how", ["tile", "offload"])
def test_what_is_assumed_is_asked_before_it_runs(tmp_path: Path, how: str) -> None:
    """With m < n every iteration reads what an earlier one wrote."""
    require_opencl()
    done = mapped(SHIFTED, how)
    source = tmp_path / "shifted.c"
    source.write_text(SHIFTED)
    project = project_of(tmp_path, done.derivation, source)

    def given(n: int, m: int) -> dict[str, object]:
        return {"n": n, "m": m, "a": np.empty(n + m, "i4"), "s": np.empty(n, "i4")}

    fn = done.routine.function
    app = project.build(caller_of(fn, given(40, 40), given(7, 90)))
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))
    for n, m, why in ((40, 3, "m >= n"), (600, 601, "m < 500")):
        app = project.build(caller_of(fn, given(n, m)))
        said = SAYS.format(name="shifted", line=2, why=f"the assumption {why} does not hold")
        assert_same(run_app(app, LOOPXFORM_VERBOSE="1"), said)


@pytest.mark.parametrize("how", ["tile", "offload"])
def test_sizes_that_are_numbers_are_asked_before_it_runs(tmp_path: Path, how: str) -> None:
    require_opencl()
    done = mapped(PRODUCT, how)
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    project = project_of(tmp_path, done.derivation, source)
    fn = done.routine.function

    def given(m: int, n: int) -> dict[str, object]:
        a, c = np.empty((m, 9), "f4"), np.empty((m, n), "f4")
        return {"m": m, "n": n, "a": a, "b": np.empty((9, n), "f4"), "c": c}

    assert_same(run_app(project.build(caller_of(fn, given(20, 12))), LOOPXFORM_VERBOSE="1"))
    for m, n, why in ((21, 12, "m == 20"), (20, 16, "n == 12")):
        app = project.build(caller_of(fn, given(m, n)))
        said = SAYS.format(name="product", line=1, why=f"the assumption {why} does not hold")
        assert_same(run_app(app, LOOPXFORM_VERBOSE="1"), said)


@pytest.mark.parametrize("how", ["tile", "offload"])
def test_arrays_that_overlap_in_spite_of_noalias_run_as_c(tmp_path: Path, how: str) -> None:
    require_opencl()
    done = mapped(SCALED, how)
    source = tmp_path / "scaled.c"
    source.write_text(SCALED)
    fn = done.routine.function
    text = (
        preamble_of(fn)
        + """
int main(void)
{
  static float first[90], second[90];
  for (int n = 0; n < 90; n++) first[n] = second[n] = number() * 0.37f;
  user_scaled(50, 4, first + 1, first);
  scaled(50, 4, second + 1, second);
  puts(memcmp(first, second, sizeof first) == 0 ? "same" : "differs");
  return 0;
}
"""
    )
    project = project_of(tmp_path, done.derivation, source)
    says = SAYS.format(name="scaled", line=1, why="a and b overlap")
    assert_same(run_app(project.build(text), LOOPXFORM_VERBOSE="1"), says)
    fine = {"n": 33, "m": 8, "a": np.empty(33, "f4"), "b": np.empty(33, "f4")}
    assert_same(run_app(project.build(caller_of(fn, fine)), LOOPXFORM_VERBOSE="1"))
    odd = {**fine, "m": 7}
    says = SAYS.format(name="scaled", line=1, why="the assumption m % 4 == 0 does not hold")
    assert_same(run_app(project.build(caller_of(fn, odd)), LOOPXFORM_VERBOSE="1"), says)


FILE = """\
#include <stdio.h>
#define N 400
#pragma loopxform assume(n > 2) tile(Tx=32)
double work(int n, int m, double *restrict a, double *restrict b)
{
  int i, j;
#pragma loopxform ignore
  for (i = 0; i < n; i++)
    for (j = 0; j < 1; j++)
      a[i] = i + 0.5;
#pragma loopxform assume(m >= n)
#pragma loopxform tile(Tx=64) parallel
  for (i = 0; i < n; i++)
    b[i] = 2 * a[i] + m;
  for (i = 0; i < n - 1; i++)
    a[i] += b[i + 1];
  printf("%f\\n", a[3]);
  for (i = 0; i < n; i++)
    b[i] += a[i];
  return b[n / 2];
}
#pragma loopxform ignore
static void fill(int n, double *a)
{
  for (int i = 0; i < n; i++) a[i] = i;
}
void scops(int n, int *a)
{
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < n; i++) a[i] += t;
#pragma scop
    for (int i = 0; i < n; i++) a[i] *= 2;
    for (int i = 0; i < n; i++) a[i] += 2;
#pragma endscop
    for (int i = 0; i < n; i++) a[i] -= 1;
  }
}
int main(void)
{
  static double a[N], b[N];
  static int c[N];
  fill(N, a);
  printf("%f\\n", work(N, N, a, b));
  printf("%f\\n", work(N, 5, a, b));
  printf("%f\\n", work(2, 5, a, b));
  scops(N, c);
  printf("%d %d\\n", c[0], c[N - 1]);
  return 0;
}
"""


def test_a_file_with_parts_on_the_device_and_parts_left_alone(tmp_path: Path) -> None:
    """The sizes that `assume` and `tile` ask for reach the parts of a function; the two nests of
    the scop are fused.
    """
    require_opencl()
    done = lx.loads(FILE, "file.c").offload(contract=False)
    lines = [[p.loc.line for p in r.done.parts if p.loc] for r in done.regions]
    assert lines == [[13, 15], [18], [32]]
    sizes = [[p.tiled.sizes["Tx"] for p in r.done.parts if p.tiled] for r in done.regions]
    assert sizes == [[64, 32], [32], [16]]
    assert {(name, e.loc.line) for name, e in done.left if e.loc} == {
        ("work", 8),
        ("scops", 30),
        ("scops", 35),
    }
    for name, text in {**done.files, "file.c": FILE}.items():
        (tmp_path / name).write_text(text)
    printed = []
    for name in ("file", "file_opencl"):
        more = ["-lOpenCL", "-lm"] if name != "file" else []
        built = cc(tmp_path, "-std=c99", *PLAIN, f"{name}.c", "-o", name, *more)
        assert built.returncode == 0, built.stderr
        printed.append(run_app(tmp_path / name, LOOPXFORM_VERBOSE="1"))
    plain, device = printed
    assert plain.stdout == device.stdout
    said = device.stderr.splitlines()
    assert [line.split(": ", 2)[2].partition(";")[0] for line in said] == [
        "work_1: the assumption m >= n does not hold",
        "work_1: the assumption n > 2 does not hold",
        "work_2: the assumption n > 2 does not hold",
    ]


def test_the_callable_of_python_asks_too() -> None:
    compiled = mapped(SHIFTED, "tile").compile()
    a, s = np.arange(80, dtype="i4"), np.ones(40, "i4")
    compiled(40, 40, a, s)
    assert (a[40:] == 2 * np.arange(40) + 1).all()
    with pytest.raises(ArgumentError, match="m >= n"):
        compiled(40, 3, a, s)
