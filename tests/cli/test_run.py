"""`run`: what is compared how closely, and runs that would not be safe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopxform import loads
from loopxform.cli import main
from loopxform.codegen import render
from loopxform.verify.tolerance import Tolerance, tolerance_of

FLAT = """void f(int n, int m, float *restrict A, float *restrict C)
{
  for (int i = 0; i < m; i++)
    for (int k = 0; k < m; k++)
      C[i * n + k] = A[i * n + k] + 1;
}
"""
SUMS = """#include <math.h>
void f(int n, float A[n][n], double D[n], float C[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < n; k++)
        s += expf(A[i][k]) * sinf(A[k][j]) - powf(A[k][j], 0.3f) - exp(D[k]);
      C[i][j] = s;
    }
}
"""

SMALL = ("--Ty", "4", "--Tx", "4", "--Tk", "4", "--Ry", "2", "--Rx", "2")

Capture = pytest.CaptureFixture[str]


def run(text: str, tmp_path: Path, *options: str) -> int:
    (tmp_path / "f.c").write_text(text)
    return main(["run", str(tmp_path / "f.c"), *options])


# ---------------------------------------------------------------- assumptions


@pytest.mark.device
def test_sizes_that_break_an_assumption_are_not_run(tmp_path: Path, capsys: Capture) -> None:
    assert run(FLAT, tmp_path, "--size", "n=5,m=800") == 2
    out, err = capsys.readouterr()
    assert out == ""
    message = "f is transformed for m <= n only; not for m=800, n=5 [LX064]"
    assert f"error: {message}" in err
    assert "   = help: give sizes for which m <= n" in err
    assert run(FLAT, tmp_path, "--size", "n=8,m=5") == 0


@pytest.mark.device
def test_sizes_beyond_an_array_are_not_run(tmp_path: Path, capsys: Capture) -> None:
    text = "void f(int n, int m, float a[n][3], float b[m]) {"
    text += " for (int i = 0; i < m; i++) for (int j = 0; j < 3; j++) a[i][j] = b[i]; }"
    assert run(text, tmp_path, "--size", "n=4,m=40000") == 2
    out, err = capsys.readouterr()
    assert out == ""
    message = "with these sizes f touches a[39999], and a has 4 (dimension 1) [LX064]"
    assert f"error: {message}" in err
    assert "   = help: give sizes for which m <= n" in err
    assert run(text, tmp_path, "--size", "n=4,m=4") == 0
    assert run(text, tmp_path, "--size", "n=4,m=0") == 0


@pytest.mark.device
def test_scalars_that_lead_outside_are_not_run(tmp_path: Path, capsys: Capture) -> None:
    text = "void f(int n, int k, int a[n][n], int b[n]) {"
    text += " for (int i = 0; i < n; i++) b[i] = a[k - 1][i]; }"
    for k in (0, 5):
        assert run(text, tmp_path, "--size", f"n=4,k={k}") == 2
        out, err = capsys.readouterr()
        assert out == ""
        message = f"a[k - 1, i] is outside of a: k - 1 is {k - 1}, and there are 4 [LX064]"
        assert f"f.c:1:82: error: {message}" in err
    assert run(text, tmp_path, "--size", "n=4,k=4") == 0
    assert run(text.replace("b[i] =", "if (k < 5) b[i] ="), tmp_path, "--size", "n=4,k=3") == 0


# ---------------------------------------------------------------- tolerance


@pytest.mark.device
def test_functions_of_the_device_may_differ_a_little(tmp_path: Path, capsys: Capture) -> None:
    assert run(SUMS, tmp_path, "--size", "n=40", *SMALL) == 0
    out = capsys.readouterr().out
    assert "equal, within the tolerance for the device's exp, expf, powf, sinf, to your C's" in out
    assert run(SUMS, tmp_path, "--size", "n=40", *SMALL, "--fp-contract", "on") == 0
    out = capsys.readouterr().out
    assert "within the tolerance for contraction and the device's exp," in out


@pytest.mark.device
def test_a_wrong_kernel_is_found_all_the_same(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = render.fill
    monkeypatch.setattr(render, "fill", lambda t, **v: fill(t, **v).replace("- pow", "+ pow"))
    assert run(SUMS, tmp_path, "--size", "n=40", *SMALL) == 1
    assert "DIFFERENT     C[0][0]" in capsys.readouterr().out


@pytest.mark.device
def test_functions_that_are_exact_are_compared_exactly(tmp_path: Path, capsys: Capture) -> None:
    text = SUMS.replace("expf(", "sqrtf(").replace("sinf(", "fabsf(")
    text = text.replace("powf(A[k][j], 0.3f)", "floorf(A[k][j])").replace(
        "exp(D[k])", "fma(D[k], 2, 1)"
    )
    assert run(text, tmp_path, "--size", "n=40", *SMALL) == 0
    assert "are identical to your C's" in capsys.readouterr().out


def test_the_tolerance_is_of_the_coarser_type_and_the_worst_function() -> None:
    allowed = tolerance_of(loads(SUMS)["f"].function, contract=False)
    assert allowed == Tolerance(("exp", "expf", "powf", "sinf"), contract=False)
    single, double = np.zeros(1, np.float32), np.array([2.0, -4.0, np.inf])
    unit = float(np.finfo(np.float32).eps)
    assert allowed.relative(single) == allowed.relative(double) == 64 * 17 * unit
    assert allowed.absolute(double) == 4 * allowed.relative(double)
    assert allowed.relative(np.zeros(1, np.int32)) == 0
    only = Tolerance(("exp",), contract=False)
    assert only.relative(double) == 64 * 4 * float(np.finfo(np.float64).eps)
    assert Tolerance((), contract=True).relative(single) == 1e-4
    assert Tolerance((), contract=False).exact
