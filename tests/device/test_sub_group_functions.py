"""Products of tiles by Intel's functions for sub-groups, for which work-items exchange words: the
test of the device, and written programs whose host believes in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_project import STRICT, cc, require_opencl, run_app
from c_texts import MM
from emulated_sub_groups import SHOWN, emulated

from loopxform.codegen import emit
from loopxform.codegen.host.tensor_probe import tensor_probe
from loopxform.codegen.render import c_string
from loopxform.floating_point import PERMITTED
from loopxform.frontend import parse_file
from loopxform.ir.tensor_tiles import INSTRUCTIONS, SUB_GROUP_EXTENSION
from loopxform.recipes.tile import tile
from loopxform.runtime.build import build
from loopxform.runtime.device import context, pyopencl
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

FUNCTIONS = {i.macro: i for i in INSTRUCTIONS.values() if i.tile.function}
COUNTED = "  uint count = 0;"


@pytest.mark.device
@pytest.mark.parametrize(("term", "agrees"), [("k", True), ("k ^ 1", False)])
@pytest.mark.parametrize("macro", FUNCTIONS)
def test_terms_in_another_order_are_found(macro: str, term: str, agrees: bool) -> None:
    wrong = differing(macro, emulated(FUNCTIONS[macro].tile.wide, term))
    assert wrong.any() != agrees
    assert agrees or (wrong > 0).mean() > 0.9


@pytest.mark.device
@pytest.mark.parametrize("macro", ["LX_MMA_8_16_16", "LX_MMA_8_8_16_BF16"])
def test_subnormal_numbers_taken_for_zeros_are_found(macro: str) -> None:
    text = emulated(FUNCTIONS[macro].tile.wide)
    for name in ("half_of_bits(ushort h)", "bfloat_of_bits(ushort h)"):
        text = text.replace(f"{name}\n{{", f"{name}\n{{\n  if (!(h & 0x7C00)) return 0;")
    assert differing(macro, text).all()


def differing(macro: str, functions: str) -> np.ndarray[Any, Any]:
    """How many results of each work-item differ by these functions."""
    cl, where, i = pyopencl(), choose(), FUNCTIONS[macro]
    text = functions + tensor_probe((i,)).replace(COUNTED, SHOWN + COUNTED)
    program = build(where, text, (f"-DLX_SUB_GROUPS={i.tile.wide}",)).program
    wrong = np.ones(512, np.uint32)
    with cl.CommandQueue(context(where), where.handle) as queue:
        counts = cl.Buffer(context(where), cl.mem_flags.WRITE_ONLY, wrong.nbytes)
        cl.Kernel(program, "lx_sub_groups")(queue, wrong.shape, (32,), counts)
        cl.enqueue_copy(queue, wrong, counts)
    return wrong


# ---------------------------------------------------------------- programs

HALVES = MM.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
BYTES = HALVES.replace("_Float16 A", "signed char A").replace("_Float16 B", "unsigned char B")
BYTES = BYTES.replace("float", "int")

SHIM = """
#define CL_TARGET_OPENCL_VERSION 120
#include <string.h>
#include <CL/cl.h>
#define LISTED "%s"
static cl_int told(cl_device_id d, cl_device_info what, size_t room, void *to, size_t *bytes)
{
  const size_t sizes[] = {32, %d};
  if (what != 0x4108 && what != CL_DEVICE_EXTENSIONS)
    return clGetDeviceInfo(d, what, room, to, bytes);
  if (bytes != NULL)
    *bytes = what == 0x4108 ? sizeof sizes : sizeof LISTED;
  if (to != NULL && what == 0x4108)
    memcpy(to, sizes, sizeof sizes);
  else if (to != NULL)
    memcpy(to, LISTED, sizeof LISTED);
  return CL_SUCCESS;
}
#define clGetDeviceInfo told
#include "mm_opencl.c"
#include <stdio.h>
void user_mm(int M, int U, int N, TYPE A[M][U], OTHER B[U][N], SUM C[M][N])
BODY
static TYPE a[70 * 90];
static OTHER b[90 * 70];
static SUM c[70 * 70], expected[70 * 70];
int main(void)
{
  static const int shapes[][3] = {{9, 33, 35}, {33, 2, 1}, {70, 90, 65}};
  unsigned n, each, wrong = 0, seed = 1;
  for (n = 0; n < 70 * 90; n++) {
    a[n] = (TYPE)((int)((seed = seed * 1103515245u + 12345u) >> 16 & 255) - 128);
    b[n] = (OTHER)((int)((seed = seed * 1103515245u + 12345u) >> 16 & 255) - 128);
  }
  for (n = 0; n < 3; n++) {
    const int *s = shapes[n];
    mm(s[0], s[1], s[2], (void *)a, (void *)b, (void *)c);
    user_mm(s[0], s[1], s[2], (void *)a, (void *)b, (void *)expected);
    for (each = 0; each < (unsigned)(s[0] * s[2]); each++)
      wrong += c[each] != expected[each];
  }
  printf("%%u %%d", wrong, (int)known_size);
  return 0;
}
"""


def believed(host: str, size: int, probed: str, term: str) -> str:
    """The host, with texts for a device whose sub-groups exchange words, which take the terms of
    the test and those of kernels in some order; it says what it takes the device for."""
    test, kernels = (c_string(emulated(size, x))[1:-1] for x in (probed, term))
    changes = {
        "uint count = 0;": f"{SHOWN}uint count = 0;",
        "const uint item = LX_ITEM": f"{SHOWN}const uint item = LX_ITEM",
        "#pragma OPENCL FP_CONTRACT ON": f"{kernels}#pragma OPENCL FP_CONTRACT ON",
        "ulong mixed(uint n)": f"{test}ulong mixed(uint n)",
        "  static size_t known_answer;\n": "",
        "known_answer": "known_size",
        "LX_LOCAL size_t lx_multiplies": "static size_t known_size;\nLX_LOCAL size_t lx_multiplies",
    }
    for old, new in changes.items():
        assert old in host, old
        host = host.replace(old, new)
    return host


@pytest.mark.opencl_sdk
@pytest.mark.parametrize(
    ("text", "profile", "size", "probed", "term", "known", "right"),
    [
        (HALVES, "intel-xe2", 16, "k", "k", 16, True),
        (BYTES, "intel-xe-hpg", 8, "k", "k", 8, True),
        (BYTES, "intel-xe2", 16, "k ^ 1", "k ^ 1", 0, True),
        (BYTES, "intel-xe2", 16, "k", "k ^ 1", 16, False),
        (BYTES, "intel-xe2", 8, "k", "k", 0, True),
    ],
)
def test_programs_compute_what_c_does(
    text: str,
    profile: str,
    size: int,
    probed: str,
    term: str,
    known: int,
    right: bool,
    tmp_path: Path,
) -> None:
    """By sub-groups where the test of the device succeeds; and by work-items where terms are in
    another order there, or its sub-groups have another size than the kernel's."""
    require_opencl()
    (fn,) = parse_file("f.c", text=text).unit.functions
    fp = PERMITTED["reassociate"]
    sizes = {"Ty": 2, "Tx": 16, "Tk": 32, "Ry": 8, "Rx": 2}
    asked = Options(tensor_units=True).within(fp)
    derivation = tile(fn, sizes, None, PROFILES[profile], options=asked).derivation
    files = emit.opencl(derivation, stem="mm", origin="f.c", version="1", fp=fp).files
    (tmp_path / "mm_opencl.h").write_text(files["mm_opencl.h"])
    (tmp_path / "mm_opencl.c").write_text(believed(files["mm_opencl.c"], size, probed, term))
    kinds = ("_Float16", "_Float16", "float")
    if text is BYTES:
        kinds = ("signed char", "unsigned char", "int")
    main = SHIM % (SUB_GROUP_EXTENSION, size)
    for name, value in (*zip(("TYPE", "OTHER", "SUM"), kinds), ("BODY", text[text.index("{") :])):
        main = main.replace(name, value)
    (tmp_path / "main.c").write_text(main)
    built = cc(tmp_path, *STRICT[:3], "main.c", "-o", "main", "-lOpenCL", "-lm")
    assert (built.returncode, built.stderr) == (0, "")
    done = run_app(tmp_path / "main")
    wrong, found = map(int, done.stdout.split())
    assert (done.returncode, found, not wrong) == (0, known, right)
