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
from loopxform.codegen.host.tensor_probe import tensor_probe
from loopxform.codegen.render import c_string
from loopxform.frontend import parse_file
from loopxform.ir.tensor_tiles import INSTRUCTIONS, OF_TEXT
from loopxform.ir.types import USHORT
from loopxform.ir.warp_groups import GROUP_INSTRUCTIONS
from loopxform.recipes.tile import tile
from loopxform.runtime.build import build
from loopxform.runtime.device import context, pyopencl
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

ITEMS = 512
DOUBLES = r"""#define LX_MMA_16_8_4(c0, c1, c2, c3, a0, a1, b) { \
  shown[lane][0] = a0; shown[lane][1] = a1; shown[lane][2] = b; barrier(1); \
  for (int n = 0; n < 4; n++) { \
    const int k = TERM, left = 4 * row + k, right = 8 * place + k; \
    const double x = shown[left][0], y = shown[left][1]; \
    const double u = shown[right][2], v = shown[right + 4][2]; \
    c0 = fma(x, u, c0); c1 = fma(x, v, c1); c2 = fma(y, u, c2); c3 = fma(y, v, c3); \
  } \
  barrier(1); }
"""
BYTES = r"""#define NAME(c0, c1, c2, c3, a0, a1, a2, a3, b0, b1) { \
  shown[lane][0] = a0; shown[lane][1] = a1; shown[lane][2] = a2; shown[lane][3] = a3; \
  shown[lane][4] = b0; shown[lane][5] = b1; barrier(1); \
  for (int n = 0; n < 32; n++) { \
    const int w = n / 4, left = 4 * row + w % 4, right = 8 * place + w % 4, further = w / 4; \
    const int x = (LEFT)(shown[left][2 * further] >> n % 4 * 8); \
    const int y = (LEFT)(shown[left][2 * further + 1] >> n % 4 * 8); \
    const int u = (RIGHT)(shown[right][4 + further] >> (TERM) % 4 * 8); \
    const int v = (RIGHT)(shown[right + 4][4 + further] >> (TERM) % 4 * 8); \
    c0 += x * u; c1 += x * v; c2 += y * u; c3 += y * v; \
  } \
  barrier(1); }
"""
HALVES = r"""#define NAME(c0, c1, c2, c3, a0, a1, a2, a3, b0, b1) { \
  shown[lane][0] = a0; shown[lane][1] = a1; shown[lane][2] = a2; shown[lane][3] = a3; \
  shown[lane][4] = b0; shown[lane][5] = b1; barrier(1); \
  for (int n = 0; n < 16; n++) { \
    const int w = n / 2, left = 4 * row + w % 4, right = 8 * place + w % 4, further = w / 4; \
    const float x = value(shown[left][2 * further] >> n % 2 * 16); \
    const float y = value(shown[left][2 * further + 1] >> n % 2 * 16); \
    const float u = value(shown[right][4 + further] >> (TERM) % 2 * 16); \
    const float v = value(shown[right + 4][4 + further] >> (TERM) % 2 * 16); \
    c0 += x * u; c1 += x * v; c2 += y * u; c3 += y * v; \
  } \
  barrier(1); }
float value(uint bits) { const ushort h = bits; return vload_half(0, (const __private half *)&h); }
"""
FLOATS = r"""#define NAME(c0, c1, c2, c3, a0, a1, a2, a3, b0, b1) { \
  shown[lane][0] = a0; shown[lane][1] = a1; shown[lane][2] = a2; shown[lane][3] = a3; \
  shown[lane][4] = b0; shown[lane][5] = b1; barrier(1); \
  for (int n = 0; n < 8; n++) { \
    const int w = TERM, left = 4 * row + n % 4, right = 8 * place + w % 4; \
    const int a = n / 4 * 2, b = 4 + w / 4; \
    const float x = as_float(shown[left][a]), y = as_float(shown[left][a + 1]); \
    const float u = as_float(shown[right][b]), v = as_float(shown[right + 4][b]); \
    c0 += x * u; c1 += x * v; c2 += y * u; c3 += y * v; \
  } \
  barrier(1); }
"""
MAIN = """
#include "f_opencl.c"
#include <stdio.h>
#define LINES (sizeof lx_tile_lines / sizeof lx_tile_lines[0])

int main(void)
{
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_program program;
  int agrees;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
    return 1;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  program = lx_comparison(context, device, lx_tile_lines, LINES, "");
  agrees = program != NULL && lx_results_agree(context, device, program, "lx_tiles", 32);
  printf("%d %d", agrees, lx_multiplies_tiles(context, device));
  if (program != NULL)
    clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
"""


BFLOATS = HALVES.replace("vload_half(0, (const __private half *)&h)", "as_float((uint)h << 16)")
EXCHANGED = {"unsigned short": BFLOATS, "double": DOUBLES, "_Float16": HALVES, "float": FLOATS}


def exchanged(macro: str, term: str) -> str:
    """The test of one product, of which the terms are taken in some order; of bytes, those of the
    right operand alone."""
    i = INSTRUCTIONS[macro]
    text = tensor_probe((i,))
    start = text.index("#define LX_MMA")
    end = text.index("\n\n", start)
    product = EXCHANGED.get(i.left.c, BYTES).replace("TERM", term)
    for name, value in (("NAME", macro), ("LEFT", i.left.cl), ("RIGHT", i.right.cl)):
        product = product.replace(name, value)
    text = text[:start] + product + text[end:]
    shown = "double shown[32][3]" if i.left.c == "double" else "uint shown[32][6]"
    return text.replace("  uint count = 0;", f"  __local {shown};\n  uint count = 0;")


@pytest.mark.device
@pytest.mark.parametrize(("term", "agrees"), [("n", True), ("(n ^ 3)", False), ("n ^ 1", False)])
@pytest.mark.parametrize("macro", [i.macro for i in OF_TEXT.values()])
def test_terms_in_another_order_are_found(macro: str, term: str, agrees: bool) -> None:
    cl, where = pyopencl(), choose()
    program = build(where, exchanged(macro, term)).program
    wrong = np.ones(ITEMS, np.uint32)
    with cl.CommandQueue(context(where), where.handle) as queue:
        counts = cl.Buffer(context(where), cl.mem_flags.WRITE_ONLY, wrong.nbytes)
        cl.Kernel(program, "lx_tiles")(queue, wrong.shape, (32,), counts)
        cl.enqueue_copy(queue, wrong, counts)
    assert wrong.any() != agrees
    assert agrees or (wrong > 0).mean() > 0.9


HALF_VALUE = "float half_value(ushort x) { return vload_half(0, (const __private half *)&x); }\n"
TOGETHER = r"""
float value(__local ushort *tile, __local ushort *at, ulong shape, uint line, uint k, int panels)
{
  const uint lead = (shape >> 16 & 0x3FFF) * 16, stride = (shape >> 32 & 0x3FFF) * 16;
  const uint row = 256 >> (shape >> 62), pieces = row / 16, first = 2 * (at - tile);
  uint byte = first + line / 8 * stride + line % 8 * row + 2 * k;
  if (panels)
    byte = first + line / 64 * lead + k / 8 * stride + k % 8 * 128 + line % 64 * 2;
  byte ^= byte / 128 % pieces * 16;
  return VALUE(tile[byte / 2]);
}
#define LX_SEEN_BY_WARPS()
#define LX_WARPS_START()
#define LX_WARPS_DONE_64(c)
#define LX_WARPS_DONE_128(c)
#define NAME(c, a, a_shape, b, b_shape) { \
  for (uint h = 0; h < 2; h++) for (uint j = 0; j < COLUMNS; j++) for (uint k = 0; k < 16; k++) \
    c[h][j] += value(&left_tile[0][0], a, a_shape, row + 8 * h, TERM, 0) * \
               value(right_tile, b, b_shape, j / 2 * 8 + 2 * place + j % 2, k, PANELS); }
"""


@pytest.mark.device
@pytest.mark.parametrize("macro", GROUP_INSTRUCTIONS)
def test_products_of_warps_are_compared(macro: str) -> None:
    """Of what a device reads where the shapes of operands say, and of other terms."""
    cl, where, i = pyopencl(), choose(), GROUP_INSTRUCTIONS[macro]
    text = tensor_probe((), (i,))
    start = text.index("#define LX_SEEN_BY_WARPS")
    end = text.index("/* Registers", start)
    for term, agrees in (("k", True), ("(k ^ 1)", False)):
        product = TOGETHER.replace("TERM", term).replace("NAME", macro)
        product = product.replace("COLUMNS", str(i.tile.across // 4)).replace(
            "PANELS", str(int(i.panels))
        )
        value = "as_float((uint)(x) << 16)" if i.type == USHORT else "half_value(x)"
        before = f"{HALF_VALUE}#define VALUE(x) {value}\n"
        program = build(where, text[:start] + before + product + text[end:]).program
        wrong = np.ones(ITEMS, np.uint32)
        with cl.CommandQueue(context(where), where.handle) as queue:
            counts = cl.Buffer(context(where), cl.mem_flags.WRITE_ONLY, wrong.nbytes)
            cl.Kernel(program, "lx_warps")(queue, wrong.shape, (128,), counts)
            cl.enqueue_copy(queue, wrong, counts)
        assert wrong.any() != agrees
        assert agrees or (wrong > 0).all()


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
        lines = "".join(f"  {c_string(x)},\n" for x in rows(exchanged("LX_MMA_16_8_4", "n")))
        first = host.index("\n", start) + 1
        host = host[:first] + lines + host[host.index("\n};", first) + 1 :]
    for name, text in {**files, "f_opencl.c": host, "main.c": MAIN}.items():
        (tmp_path / name).write_text(text)
    program = tmp_path / "main"
    built = cc(tmp_path, *STRICT[:3], "main.c", "-o", "main", "-lOpenCL", "-lm")
    assert not built.returncode, built.stderr
    answer = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert answer == f"{int(agrees)} 0"
