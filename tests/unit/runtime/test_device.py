"""Devices, profiles, builds and launches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from loopxform.errors import ArgumentError, DeviceError, UsageError
from loopxform.runtime import device as device_module
from loopxform.runtime import probe
from loopxform.runtime.build import ASYNCHRONOUS, ROUNDED, build, options_for
from loopxform.runtime.c.device import c_device
from loopxform.runtime.device import DeviceInfo, devices, place_on_bus
from loopxform.runtime.launch import BufferParam, Launcher, LocalParam, ScalarParam
from loopxform.runtime.opencl_queue import OpenCLQueue
from loopxform.runtime.peak import measured
from loopxform.runtime.profiles import limits_of
from loopxform.runtime.queues import queue_on
from loopxform.runtime.resident import Resident
from loopxform.runtime.selection import choose
from loopxform.targets.profile import PROFILES, profile

AXPY = """\
__kernel void axpy(int n, float a, __global const float *x, __global float *y) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
"""
PARAMS = (
    ScalarParam("n", "int32"),
    ScalarParam("a", "float32"),
    BufferParam("x", "float32", written=False),
    BufferParam("y", "float32"),
)


@pytest.fixture
def here() -> DeviceInfo:
    return choose()


@pytest.fixture
def opencl() -> DeviceInfo:
    return devices()[0]


@pytest.mark.opencl
def test_devices_are_found_by_index_place_and_name(opencl: DeviceInfo) -> None:
    for d in devices():
        assert choose(str(d.index)) == choose(d.place) == d
        assert choose(d.name.upper()).name == d.name
    assert opencl.compute_units >= 1
    assert opencl.vector_widths["float"] >= 1


@pytest.mark.opencl
def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_DEVICE", "no such device")
    with pytest.raises(DeviceError, match="no device matches 'no such device'") as e:
        choose()
    assert any(note.startswith("0  0:0  ") for note in e.value.notes)
    assert e.value.status == 2
    assert choose("0").index == 0
    monkeypatch.setenv("LOOPXFORM_DEVICE", "0:0")
    assert choose().place == "0:0"
    with pytest.raises(DeviceError):
        choose("99")


@pytest.fixture
def without_opencl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LOOPXFORM_DEVICE", raising=False)
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    device_module.devices.cache_clear()
    yield
    device_module.devices.cache_clear()


@pytest.mark.usefixtures("without_opencl")
def test_a_machine_without_opencl_runs_kernels_as_c() -> None:
    assert choose().place == "c"
    assert choose("c+tsan").place == "c+tsan"
    with pytest.raises(DeviceError, match="pyopencl cannot be imported"):
        choose("0")


@pytest.mark.usefixtures("without_opencl")
def test_a_machine_with_nothing_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    c_device.cache_clear()
    try:
        with pytest.raises(DeviceError, match="pyopencl cannot be imported") as e:
            choose()
        assert "no-such-compiler not found" in e.value.render()
        assert 'pip install "pyopencl[pocl]"' in e.value.render()
        with pytest.raises(DeviceError, match="no-such-compiler not found"):
            choose("c")
    finally:
        c_device.cache_clear()


@pytest.mark.opencl
def test_a_device_that_does_not_build_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOPXFORM_DEVICE", raising=False)
    monkeypatch.setattr(probe, "SOURCE", "__kernel void lx_probe(__global int *a) { a[0] = hm; }")
    clear = (probe._failure.cache_clear, probe._asked.clear)
    for forget in clear:
        forget()
    told = list[str]()
    try:
        for _ in range(2):
            assert choose(skipped=lambda d, e: told.append(f"{d} {e.notes}")).place == "c"
    finally:
        for forget in clear:
            forget()
    assert len(told) == len(devices())
    assert all("hm" in x for x in told)


@pytest.mark.opencl
def test_a_machine_without_a_platform() -> None:
    code = "from loopxform.runtime.selection import choose; print(choose().place)"
    env = {"OCL_ICD_VENDORS": "/nowhere", "OCL_ICD_FILENAMES": "", "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "c\n"


def test_importing_the_runtime_does_not_import_pyopencl() -> None:
    names = ["build", "device", "launch", "oclgrind", "oclgrind_report", "profiles"]
    code = f"import sys, {', '.join(f'loopxform.runtime.{n}' for n in names)}\n"
    subprocess.run(
        [sys.executable, "-c", code + "assert 'pyopencl' not in sys.modules"], check=True
    )


def test_profiles() -> None:
    assert profile("H100").registers == 255
    assert profile("generic").local_bytes == 48 * 1024
    assert all(name == p.name for name, p in PROFILES.items())
    with pytest.raises(UsageError, match="no device profile 'h1000'"):
        profile("h1000")


@pytest.mark.device
def test_limits_of_a_device(here: DeviceInfo) -> None:
    limits = limits_of(here)
    assert limits.group_size == here.max_group_size
    assert limits.local_bytes == here.local_bytes
    assert limits.registers > 0


@pytest.mark.parametrize(
    ("name", "measured"), [("NVIDIA H100 80GB HBM3", True), ("NVIDIA L40", False)]
)
def test_times_of_tiles_are_those_of_the_device(name: str, measured: bool) -> None:
    device = replace(
        c_device("c"),
        platform="NVIDIA CUDA",
        name=name,
        handle=SimpleNamespace(compute_capability_major_nv=9),
    )
    limits, tuned = limits_of(device), PROFILES["h100"]
    assert limits.tile_times == (tuned.tile_times if measured else ())
    assert limits.transpose_operands == (tuned.transpose_operands if measured else None)
    assert limits.costs.launch == (tuned.costs.launch if measured else 0)
    assert limits.peak == (tuned.peak if measured else 0)
    assert limits.bandwidth == (tuned.bandwidth if measured else 0)


@pytest.mark.device
def test_numpy_arrays_are_copied_in_and_out(here: DeviceInfo) -> None:
    x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
    launcher = Launcher(here, AXPY, "axpy", PARAMS)
    nanoseconds = launcher.launch([10, 2.0, x, y], [16], [8])
    assert np.array_equal(y, 1 + 2 * np.arange(10, dtype=np.float32))
    assert nanoseconds is not None
    assert nanoseconds > 0
    assert launcher.group_limit() >= 1
    assert launcher.launch([0, 2.0, x[:0], y[:0]], [0], None) == 0


@pytest.mark.device
def test_one_array_given_twice_is_one_buffer(here: DeviceInfo) -> None:
    x = np.arange(8, dtype=np.float32)
    launcher = Launcher(here, AXPY, "axpy", PARAMS)
    launcher.launch([8, 2.0, x, x], [8], [8])
    assert np.array_equal(x, 3 * np.arange(8, dtype=np.float32))
    with pytest.raises(ArgumentError, match="partly overlaps"):
        launcher.launch([4, 2.0, x[:4], x[2:6]], [8], [8])


@pytest.mark.opencl
def test_device_arrays_stay_wopencl_they_are(opencl: DeviceInfo) -> None:
    import pyopencl as cl
    import pyopencl.array as cla

    queue = cl.CommandQueue(cl.Context([opencl.handle]))
    x = cla.to_device(queue, np.arange(4, dtype=np.float32))
    y = cla.zeros(queue, 4, np.float32)
    launcher = Launcher(opencl, AXPY, "axpy", PARAMS, queue=OpenCLQueue(queue))
    assert launcher.launch([4, 3.0, x, y], [4], [4]) is None  # this queue does not profile
    launcher.launch([4, 3.0, x.base_data, y], [4], [4])
    assert y.get().tolist() == [0, 6, 12, 18]


@pytest.mark.device
def test_wrong_arguments_are_refused(here: DeviceInfo) -> None:
    launcher = Launcher(here, AXPY, "axpy", PARAMS)
    x = np.zeros(4, np.float32)
    for bad in (x.astype(np.float64), np.zeros(8, np.float32)[::2], [1.0]):
        with pytest.raises(ArgumentError, match="y must be"):
            launcher.launch([4, 1.0, x, bad], [4], [4])
    with pytest.raises(ArgumentError, match="takes 4 arguments, 3"):
        launcher.launch([4, 1.0, x], [4], [4])
    with pytest.raises(DeviceError, match="does not run"):
        launcher.launch([4, 1.0, x, x.copy()], [here.max_group_size * 2], [here.max_group_size * 2])
    with pytest.raises(DeviceError, match="no kernel f"):
        Launcher(here, AXPY, "f", PARAMS)


@pytest.mark.device
def test_every_element_type_and_local_memory(here: DeviceInfo) -> None:
    source = """\
__kernel void f(__global uchar *b, __global short *s, __global ulong *l, uchar flag,
                __local short *t) {
  int i = get_global_id(0);
  t[i] = s[i]; barrier(CLK_LOCAL_MEM_FENCE);
  b[i] = b[i] != flag; s[i] = t[3 - i] * 2; l[i] += 1;
}"""
    params = (
        BufferParam("b", "bool"),
        BufferParam("s", "int16"),
        BufferParam("l", "uint64"),
        ScalarParam("flag", "bool"),
        LocalParam("t", 8),
    )
    b = np.array([True, False, True, False])
    s, wide = np.arange(4, dtype=np.int16), np.full(4, 2**64 - 2, np.uint64)
    Launcher(here, source, "f", params).launch([b, s, wide, True], [4], [4])
    assert b.tolist() == [False, True, False, True]
    assert s.tolist() == [6, 4, 2, 0]
    assert wide.tolist() == [2**64 - 1] * 4


@pytest.mark.opencl
@pytest.mark.parametrize(
    ("platform", "major", "copies"),
    [("NVIDIA CUDA", 9, True), ("NVIDIA CUDA", 7, False), ("NVIDIA CUDA", None, False)],
)
def test_asynchronous_copies_are_for_devices_that_make_them(
    opencl: DeviceInfo, platform: str, major: int | None, copies: bool
) -> None:
    """NVIDIA's, from compute capability 8.0 on."""
    handle = (
        SimpleNamespace() if major is None else SimpleNamespace(compute_capability_major_nv=major)
    )
    device = replace(opencl, platform=platform, handle=handle)
    assert (ASYNCHRONOUS in options_for(device)) == copies
    assert ASYNCHRONOUS not in options_for(opencl)


@pytest.mark.device
def test_double_and_correct_rounding(here: DeviceInfo) -> None:
    assert (ROUNDED in options_for(here)) == here.correctly_rounded
    source = """\
__kernel void f(__global const float *x, __global const float *y, __global float *q) {
  int i = get_global_id(0);
  q[2*i] = x[i] / y[i]; q[2*i + 1] = sqrt(x[i]);
}"""
    params = tuple(BufferParam(n, "float32") for n in "xyq")
    rng = np.random.Generator(np.random.PCG64(0))
    x, y = (rng.random(1000, dtype=np.float32) + np.float32(0.1) for _ in range(2))
    q = np.zeros(2000, np.float32)
    Launcher(here, source, "f", params).launch([x, y, q], [1000], None)
    if here.correctly_rounded:
        assert np.array_equal(q[::2], x / y)
        assert np.array_equal(q[1::2], np.sqrt(x))
    if here.fp64:
        wide = source.replace("float", "double")
        x64, y64, q64 = x.astype("f8"), y.astype("f8"), np.zeros(2000)
        params64 = tuple(BufferParam(n, "float64") for n in "xyq")
        Launcher(here, wide, "f", params64).launch([x64, y64, q64], [1000], None)
        assert np.array_equal(q64[::2], x64 / y64)


@pytest.mark.opencl
def test_builds_are_kept_and_failures_quote_the_compiler(opencl: DeviceInfo) -> None:
    assert build(opencl, AXPY) is build(opencl, AXPY)
    assert build(opencl, AXPY).kernels == ("axpy",)
    with pytest.raises(DeviceError, match="does not build") as e:
        build(opencl, "__kernel void f(__global int *a) { a[0] = nothing; }")
    assert "nothing" in "\n".join(e.value.notes)


# ---------------------------------------------------------------- what a device is, and can do


@pytest.mark.device
def test_the_place_of_a_gpu_is_written_as_cuda_reads_it(here: DeviceInfo) -> None:
    """Bus, and slot with function in its last three bits, as NVIDIA's extension tells them."""
    assert place_on_bus(replace(here, extensions=frozenset())) is None
    handle = SimpleNamespace(pci_bus_id_nv=0x18, pci_slot_id_nv=0x0A, pci_domain_id_nv=1)
    extensions = frozenset(["cl_nv_device_attribute_query"])
    assert place_on_bus(replace(here, extensions=extensions, handle=handle)) == "0001:18:01.2"


@pytest.mark.device
def test_what_a_device_can_do_at_most_is_measured(here: DeviceInfo) -> None:
    peak = measured(here, 1 << 24)
    assert peak.bandwidth > 0.1
    assert list(peak.gflops) == (["float", "double"] if here.fp64 else ["float"])
    ridge = peak.gflops["float"] / peak.bandwidth
    assert peak.at(ridge / 2, "float") == pytest.approx(peak.gflops["float"] / 2)
    assert peak.at(ridge * 2, "float") == peak.gflops["float"]


@pytest.mark.device
def test_arrays_that_stay_get_their_first_values_again(here: DeviceInfo) -> None:
    x, none = np.arange(5, dtype=np.float32), np.zeros(0, np.float32)
    launcher = Launcher(here, AXPY, "axpy", PARAMS)
    on_device = Resident(launcher.queue, {"n": 5, "x": x, "y": x.copy(), "z": none}, "xyz")
    assert on_device.arguments["n"] == 5
    buffers = on_device.buffers
    for _ in range(2):
        on_device.renew("yz")
        launcher.launch([5, 2.0, buffers["x"], buffers["y"]], (5,), None)
        assert (on_device.fetch("y") == 3 * x).all()
    assert on_device.fetch("z").shape == (0,)
    launcher.launch([5, 2.0, buffers["x"], buffers["y"]], (5,), None)
    assert (on_device.fetch("y") == 5 * x).all()


@pytest.mark.device
def test_an_array_without_room_on_the_device_is_an_error_of_ours(here: DeviceInfo) -> None:
    Launcher(here, AXPY, "axpy", PARAMS)
    queue = queue_on(here)
    with pytest.raises(DeviceError, match="does not do it"), queue.errors("it does not do it"):
        queue.allocate(1 << 60)
