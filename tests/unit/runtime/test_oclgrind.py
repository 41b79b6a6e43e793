"""The simulator's findings and counts, on kernels with one planted error each."""

from __future__ import annotations

import numpy as np
import pytest

from loopxform.errors import DeviceError
from loopxform.runtime import oclgrind_report
from loopxform.runtime.launch import LocalParam
from loopxform.runtime.oclgrind import (
    AS_WRITTEN,
    Checks,
    run_kernel_under_oclgrind,
    run_under_oclgrind,
)
from loopxform.runtime.oclgrind_report import Accesses, OclgrindReport

SOURCE = """\
__kernel void reverse(__global const float *A, __global float *C, int n, __local float *t) {
  int l = get_local_id(0), g = get_global_id(0);
  t[l] = A[g + SHIFT];
#if SYNC
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  int from = get_local_size(0) - 1 - l;
  if (g < LIMIT) C[g] = t[from] * n;
}
"""


def reverse(*, shift: int = 0, sync: int = 1, limit: int = 64) -> OclgrindReport:
    a = np.arange(32, dtype=np.float32)
    c = np.full(32, -1, np.float32)
    options = [AS_WRITTEN, f"-DSHIFT={shift}", f"-DSYNC={sync}", f"-DLIMIT={limit}"]
    args = [a, c, np.int32(2), LocalParam("t", 32)]
    report = run_kernel_under_oclgrind(SOURCE, "reverse", args, [32], [8], options)
    assert (c == -1).all()
    return report


@pytest.mark.oclgrind
def test_a_clean_run_gives_results_and_exact_counts() -> None:
    report = reverse()
    assert report.clean
    a, c = report.arrays
    assert np.array_equal(c, a.reshape(4, 8)[:, ::-1].ravel() * 2)
    counts = report.counts["reverse"]
    assert counts.loads["global"] == Accesses(32, 128)
    assert counts.stores["global"] == Accesses(32, 128)
    assert counts.loads["local"] == counts.stores["local"] == Accesses(32, 128)
    assert counts.barriers == 32


@pytest.mark.oclgrind
def test_a_missing_barrier_is_a_race() -> None:
    report = reverse(sync=0)
    races = [f for f in report.findings if f.kind == "race"]
    assert [(f.space, f.line, f.other_line) for f in races] == [("local", 3, 8)]
    assert races[0].count > 1
    assert races[0].text == "t[l] = A[g + SHIFT];"


@pytest.mark.oclgrind
def test_a_read_out_of_bounds() -> None:
    (found,) = (f for f in reverse(shift=1).findings if f.kind == "invalid-read")
    assert (found.space, found.line, found.count) == ("global", 3, 1)
    assert str(found).startswith("line 3: Invalid read of size 4 at global memory")


@pytest.mark.oclgrind
def test_unset_local_memory_is_seen_where_it_is_used() -> None:
    source = """\
__kernel void f(__global float *C) {
  __local float t[8];
  int l = get_local_id(0);
  if (l < 6) t[l] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  C[get_global_id(0)] = t[l];
}"""
    report = run_kernel_under_oclgrind(source, "f", [np.zeros(8, np.float32)], [8], [8])
    assert [(f.kind, f.line, f.count) for f in report.findings] == [("uninitialized", 6, 2)]


@pytest.mark.oclgrind
def test_a_barrier_that_not_all_reach() -> None:
    source = """\
__kernel void f(__global float *C) {
  if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
  C[get_global_id(0)] = 1;
}"""
    report = run_kernel_under_oclgrind(source, "f", [np.zeros(8, np.float32)], [8], [8])
    assert [(f.kind, f.line) for f in report.findings] == [("divergence", 2)]


@pytest.mark.oclgrind
def test_vector_accesses_count_once() -> None:
    source = """\
__kernel void f(__global const float4 *A, __global double *C, __local short *t) {
  int g = get_global_id(0);
  float4 v = A[g];
  vstore2((double2)(v.x, v.y), g, C);
  vstore4((short4)(1), g, t);
  barrier(CLK_LOCAL_MEM_FENCE);
  C[2 * g] += vload4(g, t).x + vload3(g, (__global const float *)A).z;
}"""
    args = [np.ones(32, np.float32), np.zeros(16), LocalParam("t", 64)]
    report = run_kernel_under_oclgrind(source, "f", args, [8], [8], [AS_WRITTEN])
    counts = report.counts["f"]
    assert counts.loads["global"] == Accesses(8 + 8 + 8, 8 * 16 + 8 * 12 + 8 * 8)
    assert counts.stores["global"] == Accesses(16, 8 * 16 + 8 * 8)
    assert counts.stores["local"] == counts.loads["local"] == Accesses(8, 64)


@pytest.mark.oclgrind
def test_one_array_given_twice_is_one_buffer() -> None:
    source = """\
__kernel void f(__global float *A, __global float *B) {
  A[get_global_id(0)] = 3;
  B[get_global_id(0)] += 1;
}"""
    a = np.zeros(4, np.float32)
    report = run_kernel_under_oclgrind(source, "f", [a, a], [4], [4])
    assert [x.tolist() for x in report.arrays] == [[4.0] * 4] * 2


@pytest.mark.oclgrind
def test_large_local_memory_can_be_asked_for() -> None:
    source = "__kernel void f(__global int *C) { __local int t[20000]; t[0] = 1; C[0] = t[0]; }"
    c = np.zeros(1, np.int32)
    report = run_kernel_under_oclgrind(source, "f", [c], [1], [1], checks=Checks(local_bytes=90000))
    assert report.arrays[0][0] == 1


@pytest.mark.oclgrind
def test_a_kernel_that_does_not_build() -> None:
    with pytest.raises(DeviceError, match="failed") as e:
        run_kernel_under_oclgrind("__kernel void f() { x }", "f", [], [1], [1])
    assert "undeclared identifier 'x'" in "\n".join(e.value.notes)


def test_oclgrind_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DeviceError, match="not installed") as e:
        run_under_oclgrind(["true"])
    assert e.value.help is not None


def test_counts_of_repeated_launches_are_summed() -> None:
    text = """\
Instructions executed for kernel 'k':
           1,216 - br
             256 - load local (1,024 bytes)
              64 - call _Z6vload4mPU3AS3Kf()
              64 - call _Z7vstore4Dv4_fmPU3AS1f()
              10 - call _Z7barrierj()

the program's own output: 5 - load global (20 bytes)
Instructions executed for kernel 'k':
              64 - load local (256 bytes)
"""
    counts = oclgrind_report.counts(text)["k"]
    assert counts.instructions["br"] == 1216
    assert counts.loads == {"local": Accesses(256 + 64 + 64, 1024 + 1024 + 256)}
    assert counts.stores == {"global": Accesses(64, 1024)}
    assert counts.barriers == 10
