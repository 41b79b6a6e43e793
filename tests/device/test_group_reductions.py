"""Reductions with no parallel loop around them, and in groups: what the user's C computes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import assert_same, caller_of, project_of, require_opencl, run_app
from harness import CORPUS, arrays_after, assert_runs_agree, simulate

import loopxform as lx
from loopxform.cli import main
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

FOLDER = CORPUS / "reductions"
ROWS = """\
void rows(int n, int limit, const short x[restrict 3][n], long s[restrict 3])
{
  for (int i = 0; i < 3; i++) {
    long sum = s[i], w = limit;
    int all = 1;
    for (int k = 0; k < n; k++) {
      sum -= x[i][k] * w;
      all = x[i][k] < 100 && all;
    }
    s[i] = all ? sum : -sum;
  }
}
"""
TEXTS = {
    "rows": ROWS,
    **{n: (FOLDER / f"{n}.c").read_text() for n in ("span", "checksum", "peak", "parity")},
}
CHUNKED = {"rows": False, "span": True, "checksum": True, "peak": True, "parity": True}
"""Whether a second kernel combines the results of groups; `rows` needs what is before the loop."""


@cache
def derived(case: str, items: int) -> Derivation:
    (routine,) = lx.loads(TEXTS[case])
    options = Options(Rk=3 if CHUNKED[case] else None)
    done = tile(routine.function, {"Tx": items, "Tk": 7}, "reduce", strict=True, options=options)
    return done.derivation


def sizes_of(case: str, n: int) -> dict[str, int]:
    return {"n": n, "limit": 3} if case in ("rows", "span", "parity") else {"n": n}


@pytest.mark.parametrize(
    ("kind", "profile", "items"),
    [("int", "pocl", 8), ("float", "pocl", 8), ("float", "h100", 256), ("int", "h100", 256)],
)
def test_items_that_run_in_turn(kind: str, profile: str, items: int) -> None:
    """Each adds up terms of its own, in vectors."""
    sums = f"{kind} s = 0; for (int i = 0; i < n; i++) s += a[i]; y[0] = s;"
    text = f"void f(int n, const {kind} a[restrict n], {kind} y[restrict 1]) {{ {sums} }}"
    done = lx.loads(text)["f"].offload(limits=profile, fp="reassociate")
    partial = done.parts[0].tiled
    assert partial is not None
    assert partial.sizes["Tx"] == items


@pytest.mark.device
@pytest.mark.parametrize("items", [1, 5, 32])
@pytest.mark.parametrize("case", TEXTS)
def test_bit_identical_to_the_c_program(case: str, items: int, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(TEXTS[case])
    plan = emit.kernel(derived(case, items), fp=SEPARATE)
    assert len(plan.kernels) == 1 + CHUNKED[case]
    every = (sizes_of(case, n) for n in (0, 1, 20, 21, 22, 501))
    assert_runs_agree(plan, CSource(str(file)), every, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", TEXTS)
def test_no_race_in_the_simulator(case: str) -> None:
    plan = emit.kernel(derived(case, 20), fp=SEPARATE)
    args = arguments(plan.start, sizes_of(case, 50), 3)
    report = simulate(plan, args)
    assert report.clean, report.findings
    found = arrays_after(plan, report)
    Program(plan.start).run(args)
    assert not compare({k: args[k] for k in found}, found)


@pytest.mark.oclgrind
def test_the_simulator_sees_a_missing_barrier() -> None:
    """What the test above relies on."""
    plan = emit.kernel(derived("span", 20), fp=SEPARATE)

    def without(text: str) -> str:
        return text.replace("barrier(CLK_LOCAL_MEM_FENCE);", "")

    report = simulate(plan, arguments(plan.start, sizes_of("span", 50), 3), without)
    assert not report.clean


def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    """Silent although verbose: the device did it all."""
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(TEXTS["span"])
    done = derived("span", 20)
    app = project_of(tmp_path, done, file)
    args = [arguments(done.start, sizes_of("span", n), 1) for n in (1, 21, 300)]
    assert_same(run_app(app.build(caller_of(done.start, *args)), LOOPXFORM_VERBOSE="1"))


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "sizes"), [("dot", "n=30001"), ("dot", "n=0"), ("norm", "n=70,m=33")]
)
def test_sums_of_floats_are_near_those_of_the_c_program(
    name: str, sizes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", str(FOLDER / f"{name}.c"), "--reassociate", "--Rk", "4", "--size", sizes]
    assert main(command) == 0
    assert "verified      1 elements of out" in capsys.readouterr().out
