"""Programs of several kernels on a device, in the simulator and as C: what the user's C does."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import assert_same, caller_of, project_of, require_opencl, run_app
from deriving import derived
from harness import arrays_after, simulate

from loopxform.api.reading import loads
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.device import devices
from loopxform.runtime.oclgrind import run_under_oclgrind
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import arguments, run
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

PASSED_ON = """\
void f(int n, int m, float a[restrict n][m], float b[restrict m][n], int c[restrict 3])
{
  float t[m][n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      t[j][i] = a[i][j];
  for (int p = 0; p < m; p++)
    for (int q = 0; q < n; q++)
      b[p][q] = t[p][q] - t[m - 1 - p][n - 1 - q];
  if (m > 6)
    for (int r = 0; r < 3; r++)
      c[r] = (b[r][0] > 0) + c[r];
}
"""
"""Each nest reads what others than its own work-item of the nest before it wrote."""

STEPS = (
    *("parallelise i", "parallelise p", "parallelise r"),
    *("stripmine i 4", "stripmine p 4", "stripmine r 2"),
    *("map ii group.x", "map pp group.x", "map rr group.x"),
    *("map i thread.x", "map p thread.x", "map r thread.x"),
)
SIZES = ({"n": 9, "m": 5}, {"n": 5, "m": 8}, {"n": 1, "m": 1}, {"n": 64, "m": 33})


@cache
def plan() -> Plan:
    return emit.kernel(derived(PASSED_ON, *STEPS), fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_bit_identical_to_the_c_program(tmp_path: Path, sizes: dict[str, int]) -> None:
    file = tmp_path / "f.c"
    file.write_text(PASSED_ON)
    found = run(plan(), CSource(str(file)), choose(), sizes, 3)
    assert found.ok, found.mismatches
    assert found.arrays == ("b", "c")


@pytest.mark.opencl
def test_device_arrays_in_a_queue_without_order() -> None:
    import numpy as np
    import pyopencl as cl
    import pyopencl.array as cla

    from loopxform.runtime.kernel import CompiledKernel
    from loopxform.runtime.opencl_queue import OpenCLQueue

    anarchy = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    here = devices()[0]
    context = cl.Context([here.handle])
    try:
        queue = cl.CommandQueue(context, properties=anarchy)
    except cl.Error:
        pytest.skip("the device has no such queue")
    a = np.arange(12 * 7, dtype=np.float32).reshape(12, 7)
    x, y = cla.to_device(queue, a), cla.zeros(queue, (7, 12), np.float32)
    z = cla.zeros(queue, 3, np.int32)
    queue.finish()
    CompiledKernel(plan(), here, queue=OpenCLQueue(queue))(12, 7, x, y, z)
    assert np.array_equal(y.get(), a.T - a.T[::-1, ::-1])
    assert z.get().tolist() == [0, 0, 0]


@pytest.mark.oclgrind
def test_no_finding_in_the_simulator() -> None:
    fn = loads(PASSED_ON)["f"].function
    args = arguments(fn, {"n": 6, "m": 7}, 3)
    report = simulate(plan(), args)
    assert report.clean, report.findings
    found = arrays_after(plan(), report)
    Program(fn).run(args)
    assert not compare({k: args[k] for k in found}, found)


@pytest.mark.oclgrind
def test_an_element_that_is_not_passed_on_is_noticed() -> None:
    """The simulator sees that the last column is read and was never set."""
    args = arguments(loads(PASSED_ON)["f"].function, {"n": 6, "m": 7}, 3)

    def broken(text: str) -> str:
        assert "j < m" in text
        return text.replace("j < m", "j < m - 1", 1)

    assert {f.kind for f in simulate(plan(), args, broken).findings} == {"uninitialized"}


@pytest.mark.slow
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(PASSED_ON)
    done = derived(PASSED_ON, *STEPS)
    every = [arguments(done.start, sizes, 1) for sizes in SIZES if sizes["m"] > 6]
    app = project_of(tmp_path, done, file).build(caller_of(done.start, *every))
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


def test_the_drop_in_where_an_array_is_not_touched(tmp_path: Path) -> None:
    """Only the first two kernels run."""
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(PASSED_ON)
    done = derived(PASSED_ON, *STEPS)
    app = project_of(tmp_path, done, file).build(
        caller_of(done.start, arguments(done.start, {"n": 9, "m": 5}, 1))
    )
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


@pytest.mark.oclgrind
def test_the_drop_in_under_the_simulator(tmp_path: Path) -> None:
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(PASSED_ON)
    done = derived(PASSED_ON, *STEPS)
    app = project_of(tmp_path, done, file).build(
        caller_of(done.start, arguments(done.start, {"n": 5, "m": 7}, 1))
    )
    report = run_under_oclgrind([str(app)])
    assert report.clean, report.findings[0]
    assert report.counts["lx_f_2"].stores["global"].count == 5 * 7
