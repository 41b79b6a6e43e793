"""The kernel that decides whether the tensor units of a device are used, with products of tiles
that work-items exchange through local memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_project import STRICT, cc, require_opencl

from loopxform.codegen import emit
from loopxform.codegen.host.embedded import rows
from loopxform.codegen.host.runtime import tensor_probe
from loopxform.codegen.render import c_string
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.runtime.build import build
from loopxform.runtime.device import context, pyopencl
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

ITEMS = 512
EXCHANGED = r"""#define LX_MMA_16_8_4(c0, c1, c2, c3, a0, a1, b) { \
  shown[lane][0] = a0; shown[lane][1] = a1; shown[lane][2] = b; barrier(1); \
  for (int n = 0; n < 4; n++) { \
    const int k = TERM, left = 4 * row + k, right = 8 * place + k; \
    const double x = shown[left][0], y = shown[left][1]; \
    const double u = shown[right][2], v = shown[right + 4][2]; \
    c0 = fma(x, u, c0); c1 = fma(x, v, c1); c2 = fma(y, u, c2); c3 = fma(y, v, c3); \
  } \
  barrier(1); }
"""
MAIN = """
#include "f_opencl.c"
#include <stdio.h>

int main(void)
{
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
    return 1;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  printf("%d %d", lx_tiles_agree(context, device), lx_multiplies_tiles(context, device));
  clReleaseContext(context);
  return 0;
}
"""


def exchanged(term: str) -> str:
    """The test with products of which the terms are taken in some order."""
    text = tensor_probe()
    start = text.index("#define LX_MMA")
    end = text.index("\n\n", start)
    product = EXCHANGED.replace("TERM", term)
    text = text[:start] + product + text[end:]
    return text.replace("  uint count = 0;", "  __local double shown[32][3];\n  uint count = 0;")


@pytest.mark.device
@pytest.mark.parametrize(("term", "agrees"), [("n", True), ("3 - n", False), ("n ^ 1", False)])
def test_terms_in_another_order_are_found(term: str, agrees: bool) -> None:
    cl, where = pyopencl(), choose()
    program = build(where, exchanged(term)).program
    wrong = np.ones(ITEMS, np.uint32)
    with cl.CommandQueue(context(where), where.handle) as queue:
        counts = cl.Buffer(context(where), cl.mem_flags.WRITE_ONLY, wrong.nbytes)
        cl.Kernel(program, "lx_tiles")(queue, wrong.shape, (32,), counts)
        cl.enqueue_copy(queue, wrong, counts)
    assert wrong.any() != agrees
    assert agrees or (wrong > 0).mean() > 0.9


PRODUCT = """\
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("agrees", [True, False])
def test_the_host_asks_the_device(agrees: bool, tmp_path: Path) -> None:
    """A device that builds no such product has none; and nothing is taken of one that is not
    NVIDIA's."""
    require_opencl()
    (fn,) = parse_file("f.c", text=PRODUCT).unit.functions
    asked = Options(tensor_units=True)
    derivation = tile(fn, {}, None, PROFILES["h100"], options=asked).derivation
    files = emit.opencl(derivation, stem="f", origin="f.c", version="1").files
    host = files["f_opencl.c"]
    if agrees:
        start = host.index("static const char *lx_tile_lines[] = {\n")
        lines = "".join(f"  {c_string(x)},\n" for x in rows(exchanged("n")))
        first = host.index("\n", start) + 1
        host = host[:first] + lines + host[host.index("\n};", first) + 1 :]
    for name, text in {**files, "f_opencl.c": host, "main.c": MAIN}.items():
        (tmp_path / name).write_text(text)
    program = tmp_path / "main"
    built = cc(tmp_path, *STRICT[:3], "main.c", "-o", "main", "-lOpenCL", "-lm")
    assert not built.returncode, built.stderr
    answer = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert answer == f"{int(agrees)} 0"
