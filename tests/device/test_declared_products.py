"""Matrices whose rows or columns are numbered by several loops (`y[i*w + j][k]` of `y[h*w][9]`), as
im2col writes them: each loop in parallel, and the results of the C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx
from loopxform.verify import interp
from loopxform.verify.cref import CSource, Library

STYLES = {
    "whole": (
        "int h, int w, const float x[restrict h + 2][w + 2], float y[restrict h*w][9]",
        """for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
    for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      y[i*w + j][3*r + s] = x[i + r][j + s];""",
    ),
    "inside": (
        "int h, int w, const float x[restrict h][w], float y[restrict (h - 2)*(w - 2)][9]",
        """for (int i = 0; i < h - 2; i++) for (int j = 0; j < w - 2; j++)
    for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      y[i*(w - 2) + j][3*r + s] = x[i + r][j + s];""",
    ),
    "padded": (
        "int h, int w, const float x[restrict h][w], float y[restrict h*w][9]",
        """for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
    for (int r = -1; r <= 1; r++) for (int s = -1; s <= 1; s++) {
      int p = i + r, q = j + s;
      if (p < 0 || p >= h || q < 0 || q >= w) y[i*w + j][3*(r + 1) + s + 1] = 0;
      else y[i*w + j][3*(r + 1) + s + 1] = x[p][q];
    }""",
    ),
    "channels": (
        "int c, int h, int w, int k, int pad, const float x[restrict c][h][w], "
        "float y[restrict h*w][c*k*k]",
        """for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
    for (int l = 0; l < c; l++) for (int r = 0; r < k; r++) for (int s = 0; s < k; s++) {
      int p = i + r - pad, q = j + s - pad;
      y[i*w + j][(l*k + r)*k + s] = p >= 0 && p < h && q >= 0 && q < w ? x[l][p][q] : 0;
    }""",
    ),
    "columns": (
        "int c, int h, int w, int k, const float x[restrict c][h][w], "
        "float y[restrict c*k*k][(h - k + 1)*(w - k + 1)]",
        """int oh = h - k + 1, ow = w - k + 1;
  for (int l = 0; l < c; l++) for (int r = 0; r < k; r++) for (int s = 0; s < k; s++)
    for (int i = 0; i < oh; i++) for (int j = 0; j < ow; j++)
      y[(l*k + r)*k + s][i*ow + j] = x[l][i + r][j + s];""",
    ),
}
KEPT = {
    "other-loops": "for (int t = 0; t < h*w; t++) y[t][0] = 1;",
    "rows-that-overlap": "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) y[i + j][0] = 1;",
    "longer-rows": "for (int i = 0; i < h; i++) for (int j = 0; j <= w; j++) y[i*w + j][0] = 1;",
}
IN_ORDER = """for (int i = 1; i < h; i++) for (int j = 0; j < w; j++)
    y[i*w + j][0] = y[i*w - w + j][0] * 0.5f + y[i*w + j][1];"""
FILE = """#include <stdio.h>
{functions}
void in_order(int h, int w, float y[restrict h*w][9])
{{
  {in_order}
}}
int main(void)
{{
  static float x[4000], y[40000];
  for (int n = 0; n < 4000; n++) x[n] = (float)(n * 37 % 101);
  whole(9, 11, (void *)x, (void *)y);
  inside(3, 17, (void *)x, (void *)(y + 2000));
  inside(2, 17, (void *)x, (void *)(y + 3000));
  padded(7, 6, (void *)x, (void *)(y + 4000));
  channels(3, 8, 5, 2, 1, (void *)x, (void *)(y + 6000));
  channels(2, 5, 5, 3, 0, (void *)x, (void *)(y + 8000));
  channels(0, 5, 5, 3, 0, (void *)x, (void *)(y + 9000));
  columns(3, 9, 7, 3, (void *)x, (void *)(y + 10000));
  columns(3, 2, 7, 3, (void *)x, (void *)(y + 15000));
  in_order(9, 11, (void *)y);
  double s = 0;
  for (int n = 0; n < 40000; n++) s += (n % 97 + 1) * (double)y[n];
  printf("%.17g\\n", s);
  return 0;
}}
"""


def function(name: str) -> str:
    params, body = STYLES[name]
    return f"void {name}({params})\n{{\n  {body}\n}}\n"


@pytest.mark.slow
def test_programs_print_the_same(tmp_path: Path) -> None:
    require_opencl()
    text = FILE.format(functions="".join(map(function, STYLES)), in_order=IN_ORDER)
    (tmp_path / "columns.c").write_text(text)
    done = lx.load(tmp_path / "columns.c").offload(fp="strict")
    for region in done.regions:
        parts = {p.kind for p in region.done.parts}
        name = region.region.name
        assert name not in STYLES or parts == {"kernel"}, name
    said = assert_file_prints_the_same(tmp_path / "columns.c", done, sanitized=True)
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert ran >= set(STYLES), said


@pytest.mark.parametrize("name", STYLES)
def test_every_loop_is_parallel(name: str) -> None:
    assert {v.parallel for v in lx.loads(function(name))[name].check()} == {"yes"}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_product_keeps_its_shape(name: str) -> None:
    routine = lx.loads(f"void f(int h, int w, float y[h*w][9]) {{ {KEPT[name]} }}")["f"]
    (y,) = (p for p in routine.function.params if p.array)
    assert not routine.function.assumes
    assert len(y.shape) == 2
    assert not y.declared


SIZES = {"c": 2, "h": 6, "w": 5, "k": 2, "pad": 1}


def drawn(name: str) -> dict[str, object]:
    """Arguments with the shapes that C declares."""
    random = np.random.default_rng(3)
    shapes = {
        "whole": ((8, 7), (30, 9)),
        "inside": ((6, 5), (12, 9)),
        "padded": ((6, 5), (30, 9)),
        "channels": ((2, 6, 5), (30, 8)),
        "columns": ((2, 6, 5), (8, 20)),
    }[name]
    x, y = (random.random(shape, dtype=np.float32) for shape in shapes)
    return {**{n: v for n, v in SIZES.items() if f"int {n}," in STYLES[name][0]}, "x": x, "y": y}


@pytest.mark.device
@pytest.mark.parametrize("name", STYLES)
def test_arrays_have_the_shape_that_c_declares(name: str) -> None:
    """In the kernel, in tiled C, and in the interpreter."""
    routine = lx.loads(function(name))[name]
    done = routine.tile()
    (tiled,) = done.openmp.files.values()
    library = Library(CSource(text=function(name)), [routine.function])
    other = Library(CSource(text=tiled, flags=("-fopenmp",)), [routine.function])
    ways = (
        lambda given: library.run(name, given),
        lambda given: other.run(name, given),
        lambda given: done.compile()(**given),
        lambda given: interp.run(done.derivation.start, given),
    )
    results = []
    for way in ways:
        given = drawn(name)
        way(given)
        results.append(given["y"])
    assert all(np.array_equal(y, results[0]) for y in results[1:])
