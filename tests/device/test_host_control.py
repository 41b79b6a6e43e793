"""Control flow of the host around kernels: what the user's C does, on a device, in the simulator
and as C."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import (
    Compared,
    assert_all_same,
    assert_same,
    caller_of,
    project_of,
    require_opencl,
    run_app,
)
from deriving import derived
from harness import assert_runs_agree, simulate_launches

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import ArgumentError
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

STEPS_IN_TIME = """\
void turned(int T, int n, float a[restrict n], float b[restrict n])
{
  int h = n / 2;
  for (int t = 0; t < T; t++) {
    float c[n];
    for (int i = 1; i < n - 1; i++)
      c[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int p = t; p < n - 1; p++)
      a[p] = p > 0 ? c[p] + t : b[p];
    h = h - 1;
    if (t % 2 == 0) {
      for (int q = 0; q < h; q++)
        b[q] = a[q] + b[q];
    } else
      for (int r = h; r > 0; r--)
        b[r] = a[r] * h;
  }
}
"""
"""A loop of the host, a scalar that it sets, a condition, a temporary, bounds that move."""

BACKWARDS = """\
void backwards(int n, int m, int a[restrict n][m])
{
  for (int k = n - 2; k >= 0; k -= 2)
    for (int l = k; l < n - 1; l++)
      for (int i = 0; i < m; i++)
        a[l][i] = a[l + 1][i] + a[k][i];
}
"""
"""Two loops of the host, one of them backwards."""

FAR = """\
void far(int T, int s, int n, int a[restrict n])
{
  for (int t = 0; t < T; t++)
    for (int i = t * s; i < n; i += 1000000)
      if (i >= 0)
        a[i] = a[i] + t;
}
"""
"""Where s is far below 0, the number of iterations is more than an int holds."""


def on_items(*loops: str) -> tuple[str, ...]:
    """The steps that run each iteration of parallel loops on a work-item of groups of four."""
    every = ("parallelise {}", "stripmine {} 4", "map {}{} group.x", "map {} thread.x")
    return tuple(step.format(v, v) for v in loops for step in every)


PROGRAMS = {
    "steps-in-time": (
        STEPS_IN_TIME,
        ("reverse r", *on_items("i", "p", "q", "r")),
        ({"T": 5, "n": 40}, {"T": 1, "n": 3}, {"T": 0, "n": 10}, {"T": 7, "n": 129}),
    ),
    "backwards": (
        BACKWARDS,
        on_items("i"),
        ({"n": 9, "m": 5}, {"n": 1, "m": 1}, {"n": 4, "m": 17}),
    ),
    "far": (FAR, on_items("i"), ({"T": 3, "s": 1, "n": 8}, {"T": 2, "s": -1000, "n": 5})),
}


@cache
def plan(name: str) -> Plan:
    text, steps, _ = PROGRAMS[name]
    return emit.kernel(derived(text, *steps), fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("name", PROGRAMS)
def test_bit_identical_to_the_c_program(name: str) -> None:
    text, _, every = PROGRAMS[name]
    assert_runs_agree(plan(name), CSource(text=text), every, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_finding_in_the_simulator(name: str) -> None:
    fn = plan(name).start
    sizes = {**PROGRAMS[name][2][0], "n": 7}
    args = arguments(fn, sizes, 3)
    report, found = simulate_launches(plan(name), args)
    assert report.clean, report.findings
    Program(fn).run(args)
    assert found
    assert not compare({k: args[k] for k in found}, found)


UNDER_CONDITIONS = {
    "sum": "if (n > 0) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s; } "
    "b[n + 1] = k;",
    "either": (
        "if (k > 0) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s; }"
        " else if (n > 1) { int s = a[0]; for (int i = 1; i < n; i++) if (a[i] > s) s = a[i];"
        " b[1] = s; }"
    ),
    "running": "if (k < 3) { int s = k; for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; } } "
    "b[n + 1] = k;",
}


@pytest.mark.device
@pytest.mark.parametrize("name", UNDER_CONDITIONS)
def test_parts_under_conditions_of_the_host(name: str) -> None:
    """A loop that reduces, or has running values, is computed in parts there too."""
    params = "int n, int k, const int a[restrict n + 1], int b[restrict n + 2]"
    text = f"void f({params}) {{ {UNDER_CONDITIONS[name]} }}\n"
    done = lx.loads(text)["f"].offload(fp="strict")
    assert any("partial results" in p.why for p in done.parts)
    sizes = tuple({"n": n, "k": k} for n in (0, 1, 2, 300, 5000) for k in (0, 3))
    assert_runs_agree(emit.kernel(done.derivation, fp=SEPARATE), CSource(text=text), sizes, 3)


@pytest.mark.slow
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    programs = []
    for text, steps, sizes in PROGRAMS.values():
        done = derived(text, *steps)
        every = tuple(arguments(done.start, x, 1) for x in sizes)
        programs.append(Compared(done, text, every))
    assert_all_same(tmp_path, programs)


FARTHER = {"T": 3, "s": -1073741824, "n": 5}
TOO_FAR = "n - s*t + 4000000 overflows"


def test_the_drop_in_where_a_launch_cannot_be_made(tmp_path: Path) -> None:
    """The last step in time could not be: nothing has changed by then, and the host does it all."""
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(FAR)
    done = derived(FAR, *PROGRAMS["far"][1])
    app = project_of(tmp_path, done, file).build(
        caller_of(done.start, arguments(done.start, FARTHER, 1))
    )
    text = f"loopxform: far.c:1: far: {TOO_FAR}; running the loops on the host\n"
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"), text)


@pytest.mark.device
def test_arrays_stay_as_they_are_where_a_launch_cannot_be_made() -> None:
    args = arguments(plan("far").start, FARTHER, 1)
    before = args["a"].copy()
    with pytest.raises(ArgumentError, match="overflows"):
        CompiledKernel(plan("far"), choose())(**args)
    assert (args["a"] == before).all()
