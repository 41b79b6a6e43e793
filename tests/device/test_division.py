"""What is permitted of floating point, when the kernels are built: by written C and from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import LEVELS, PERMITTED, Level
from loopxform.runtime.build import RELAXED, ROUNDED, options_for
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose

QUOTIENTS = """
void f(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
  for (int i = 0; i < n; i++)
    c[i] = a[i] / b[i];
}
"""
SHIM = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
/* The first device computes with floats as FLOATS says; tells the options of each build. */
cl_int own_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t n, void *at, size_t *size)
{
  const cl_int status = clGetDeviceInfo(d, what, n, at, size);
  if (what == CL_DEVICE_SINGLE_FP_CONFIG && at != NULL)
    *(cl_device_fp_config *)at = FLOATS;
  return status;
}
cl_int own_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                          void (CL_CALLBACK *told)(cl_program, void *), void *data)
{
  printf("built with %s\\n", options);
  return clBuildProgram(p, n, d, options, told, data);
}
"""
MAIN = """
#include <stdio.h>
void f(int n, const float *restrict a, const float *restrict b, float *restrict c);
int main(void)
{
  static float a[100], b[100], c[100];
  int wrong = 0;
  for (int i = 0; i < 100; i++)
    a[i] = i, b[i] = 3;
  f(100, a, b, c);
  for (int i = 0; i < 100; i++)
    wrong += c[i] < i / 3.001f || c[i] > i / 2.999f;
  return printf("%d wrong\\n", wrong), wrong;
}
"""


ORDINARY = "CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST"
CONFIGS = {
    "as C": (f"CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | CL_FP_DENORM | {ORDINARY}", ""),
    "divides in its own way": (f"CL_FP_DENORM | {ORDINARY}", "does not divide floats as C does"),
    "flushes subnormals": (
        f"CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | {ORDINARY}",
        "the device lacks subnormal floats",
    ),
    "rounds to zero": (
        "CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | CL_FP_DENORM | CL_FP_INF_NAN",
        "or rounding to nearest",
    ),
}


@pytest.mark.parametrize("device", CONFIGS)
@pytest.mark.parametrize("level", LEVELS)
def test_how_written_c_divides(level: Level, device: str, tmp_path: Path) -> None:
    """`strict` leaves the loops to the host where the floats of the device are not those of C."""
    require_opencl()
    config, why = CONFIGS[device]
    rounds = "DIVIDE" in config
    (tmp_path / "f.c").write_text(QUOTIENTS)
    (tmp_path / "shim.c").write_text(SHIM)
    (tmp_path / "main.c").write_text(MAIN)
    lx.load(tmp_path / "f.c").offload(fp=level).write(tmp_path)
    own = [f"-D{name}=own_{name}" for name in ("clGetDeviceInfo", "clBuildProgram")]
    assert cc(tmp_path, *PLAIN, "-c", *own, "f_opencl.c").returncode == 0
    files = ["f_opencl.o", "shim.c", "main.c", f"-DFLOATS=({config})", "-o", "app"]
    built = cc(tmp_path, *STRICT, *PLAIN, *files, "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    done = run_app(tmp_path / "app", LOOPXFORM_VERBOSE="1")
    assert done.stdout.endswith("0 wrong\n")
    on_device = level != "strict" or not why
    assert ("built with" in done.stdout) == on_device
    assert why in done.stderr or on_device
    if on_device:
        assert (ROUNDED in done.stdout) == (rounds and level != "fast")


def test_options_from_python() -> None:
    device = replace(choose(), correctly_rounded=True)
    assert ROUNDED in options_for(device)
    assert ROUNDED not in options_for(device, division="device")
    assert options_for(device, division="relaxed")[0] == RELAXED
    assert ROUNDED not in options_for(replace(device, correctly_rounded=False))


@pytest.mark.device
@pytest.mark.parametrize("level", LEVELS)
def test_kernels_from_python(level: Level) -> None:
    device = choose()
    tiled = lx.loads(QUOTIENTS)["f"].tile(fp=level)
    a, b, c = (np.arange(1, 101, dtype=np.float32) for _ in range(3))
    if level == "strict" and not device.correctly_rounded:
        with pytest.raises(lx.LoopxformError, match="does not divide floats as C does"):
            tiled.compile()
        return
    tiled.compile()(100, a, 3 * b, c)
    assert np.allclose(c, a / (3 * b), rtol=1e-6)


def test_strict_refuses_devices_that_round_in_their_own_way() -> None:
    plan = emit.kernel(lx.loads(QUOTIENTS)["f"].tile().derivation, fp=PERMITTED["strict"])
    device = replace(choose(), correctly_rounded=False)
    with pytest.raises(lx.LoopxformError, match="does not divide floats as C does"):
        CompiledKernel(plan, device)


def test_strict_refuses_devices_without_subnormals() -> None:
    """Where there are floats; arithmetic on other types is the same everywhere."""
    device = replace(choose(), ieee_floats=False)
    for text, refused in ((QUOTIENTS, True), (QUOTIENTS.replace("float", "int"), False)):
        derivation = lx.loads(text)["f"].tile().derivation
        CompiledKernel(emit.kernel(derivation), device)
        strict = emit.kernel(derivation, fp=PERMITTED["strict"])
        if refused:
            with pytest.raises(lx.LoopxformError, match="lacks subnormal floats"):
                CompiledKernel(strict, device)
        else:
            CompiledKernel(strict, device)
