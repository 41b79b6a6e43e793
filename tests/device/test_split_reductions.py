"""Reductions in two kernels on a device: what the user's C computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_same, caller_of, project_of, require_opencl, run_app
from harness import CORPUS, arrays_after, assert_runs_agree, simulate

from loopxform.api.reading import loads
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

OVERFLOWING = """\
void f(int M, int U, int N, const int *restrict A, short B[restrict U][N], long C[restrict M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int sum = 0;
      short least = 77;
      for (int k = 0; k < U; k++) {
        sum -= ((k + 1) & 2 ? 1500000000 : -1500000000) + A[i * U + k];
        if (B[k][j] < least)
          least = B[k][j];
      }
      C[i][j] += (long)sum * least;
    }
}
"""
"""Sums of parts leave the range of int, the whole sum does not."""

WHOLE = """\
void f(int M, int U, int N, const double A[restrict M][U], double C[restrict M])
{
  for (int i = 0; i < M; i++) {
    double t = N;
    for (int k = 0; k < U; k++)
      t += (A[i][k] < 0 ? -1 : 1) * k;
    C[i] = t;
  }
}
"""
"""Sums of whole numbers are exact in any order."""

TEXTS = {
    "overflowing": OVERFLOWING,
    "whole": WHOLE,
    **{name: (CORPUS / f"{name}.c").read_text() for name in ("max_plus", "max_if", "mm_bool_and")},
}
SIZES = ((1, 1, 1), (9, 14, 6), (8, 16, 8), (2, 70, 5), (5, 0, 3), (0, 4, 4), (3, 4, 0))


def derived(case: str, chunk: int = 3) -> Derivation:
    (routine,) = loads(TEXTS[case])
    sizes = {"Ty": 2, "Tx": 4, "Tk": chunk}
    options = Options(Rk=1 if case == "overflowing" else 2, reassociate=case == "whole")
    return tile(routine.function, sizes, "naive", options=options).derivation


def sizes_of(m: int, u: int, n: int) -> dict[str, int]:
    return {"M": m, "U": u, "N": n}


@pytest.mark.device
@pytest.mark.parametrize("case", TEXTS)
def test_bit_identical_to_the_c_program(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(TEXTS[case])
    for chunk in (1, 3, 32) if case in ("overflowing", "whole") else (3,):
        plan = emit.kernel(derived(case, chunk), fp=SEPARATE)
        assert len(plan.kernels) == 2
        assert_runs_agree(plan, CSource(str(file)), (sizes_of(*sizes) for sizes in SIZES), 5)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", TEXTS)
def test_no_finding_in_the_simulator(case: str) -> None:
    plan = emit.kernel(derived(case), fp=SEPARATE)
    args = arguments(plan.start, sizes_of(5, 8, 7), 3)
    report = simulate(plan, args)
    assert report.clean, report.findings
    found = arrays_after(plan, report)
    Program(plan.start).run(args)
    assert not compare({k: args[k] for k in found}, found)


@pytest.mark.parametrize(
    "case",
    [
        "overflowing",
        *(pytest.param(n, marks=pytest.mark.slow) for n in TEXTS if n != "overflowing"),
    ],
)
def test_the_drop_in_computes_what_the_function_did(case: str, tmp_path: Path) -> None:
    """Silent although verbose where there is work: the device did it all."""
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(TEXTS[case])
    done = derived(case)
    app = project_of(tmp_path, done, file)
    for every, words in (
        ([s for s in SIZES if 0 not in s], {"LOOPXFORM_VERBOSE": "1"}),
        ([s for s in SIZES if 0 in s], {}),
    ):
        args = [arguments(done.start, sizes_of(*s), 1) for s in every]
        assert_same(run_app(app.build(caller_of(done.start, *args)), **words))
