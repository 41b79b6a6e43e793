"""Pipelines of `corpus/pipelines`, their stages in one kernel: what the user's C does, to the last
bit, on a device and in the simulator."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from harness import CORPUS, assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Const, For
from loopxform.ir.visit import walk
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program
from loopxform.verify.values import Wanted

FOLDER = CORPUS / "pipelines"
Numbers = dict[str, int | float]
SHAPES = ((1, 1), (2, 9), (9, 2), (7, 8), (30, 70), (65, 41))
MORE: dict[str, Numbers] = {
    "blur3": {"planes": 2},
    "unsharp_mask": {"threshold": 0.1, "weight": 0.7},
    "harris": {},
    "pyramid_blend": {},
    "interpolate": {},
    "bilateral_grid": {},
    "camera_pipe": {"strength": 20},
}
ROWS = ("blur3", "unsharp_mask", "harris")
BLOCKS = {
    "pyramid_blend": (3, 8, 16, 64),
    "interpolate": (4, 4, 8, 32),
    "bilateral_grid": (8, 16, 64),
    "camera_pipe": (3, 8, 32, 64),
}
"""Tiles of those whose stages have different scales."""


def test_every_pipeline_is_run() -> None:
    assert {p.stem for p in FOLDER.glob("*.c")} == MORE.keys()


INPUTS = {
    "bilateral_grid": {"in": Wanted("0", "1")},
    "camera_pipe": {"raw": Wanted("0", "1024"), "matrix": Wanted("-200", "400")},
}
"""Where elements say which others are read, or are of a range."""


@cache
def plan(name: str, tile: tuple[int, ...]) -> Plan:
    form = {"tile_stages" if name in BLOCKS else "fuse_stages": tile}
    done = lx.load(FOLDER / f"{name}.c")[name].offload(contract=False, **form)
    assert any("stages in one kernel" in p.about for p in done.parts)
    return emit.kernel(done.derivation, fp=SEPARATE)


CASES = [
    *((name, tile) for name in ROWS for tile in ((4, 16), (16, 64))),
    *((name, BLOCKS[name]) for name in ("interpolate", "bilateral_grid")),
    *(
        pytest.param(name, BLOCKS[name], marks=pytest.mark.slow)
        for name in ("pyramid_blend", "camera_pipe")
    ),
]


@pytest.mark.parametrize(("name", "tile"), CASES)
def test_as_the_users_c(name: str, tile: tuple[int, ...]) -> None:
    sizes = [{**MORE[name], "h": h, "w": w} for h, w in SHAPES]
    assert_runs_agree(
        plan(name, tile), CSource(str(FOLDER / f"{name}.c")), sizes, 5, inputs=INPUTS.get(name)
    )


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", MORE)
def test_no_finding_in_the_simulator(name: str) -> None:
    p = plan(name, BLOCKS.get(name, (4, 16)))
    sizes = [{**MORE[name], "h": h, "w": w} for h, w in ((1, 7), (9, 25))]
    every = [arguments(p.start, x, 3, INPUTS.get(name)) for x in sizes]
    report, after = simulate_all(p, every)
    assert report.clean, report.findings
    assert any(after)
    for args, found in zip(every, after, strict=True):
        Program(p.start).run(args)
        assert not compare({k: args[k] for k in found}, found)


def test_a_single_kernel_writes_no_temporary() -> None:
    p = plan("harris", (16, 64))
    (kernel, *_) = p.kernels
    arrays = {a.param.name for a in kernel.arguments if hasattr(a, "param")}
    assert arrays == {"in", "out"}


def test_a_cpu_runs_the_nests() -> None:
    """Rows with a barrier each are for work-items that run in lockstep."""
    image = np.ones((900, 900), "float32")
    args = {"h": 900, "w": 900, "in": image, "out": image.copy()}
    for tile, launched in ((None, [1, 2, 3]), ((32, 256), [0])):
        call = lx.load(FOLDER / "harris.c")["harris"].offload(fuse_stages=tile).compile()
        assert call.device.type == "cpu"
        assert [n for n, _ in call.parts(**args)] == launched


LOOKED_UP = """
void looked_up(int h, int w, const unsigned char in[h][w], const short curve[256],
               const int table[8], const int coarse[(h + 1) / 2][(w + 1) / 2], int out[h][w])
{
  short t[h][w], u[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      t[y][x] = curve[in[y][x]] + in[y][x - 1] + in[y][x + 1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      u[y][x] = table[t[y - 1][x] < 3 ? 3 : t[y + 1][x] & 7];
  for (int y = 1; y < h - 1; y++)
    for (int x = 2; x < w - 1; x++)
      out[y][x] = coarse[y / 2][x / 2]
                  + table[u[y][x - 1] < 0 ? 0 : u[y][x - 1] > 7 ? 7 : u[y][x - 1]];
}
"""
"""Which elements of a table are read is known to be among those that there are."""


@pytest.mark.oclgrind
def test_tables_that_data_look_up() -> None:
    done = lx.loads(LOOKED_UP)["looked_up"].offload(contract=False, fuse_stages=(4, 16))
    assert any("stages in one kernel" in x.about for x in done.parts)
    steps = [s.step for _, s in walk(done.derivation.function.body) if isinstance(s, For)]
    assert Const(2) in steps, "no tile runs without tests"
    p = emit.kernel(done.derivation, fp=SEPARATE)
    shapes = ((1, 1), (3, 2), (7, 8), (30, 70), (65, 41))
    inputs = {"table": Wanted("-9", "9"), "curve": Wanted("-300", "300")}
    sizes: list[Numbers] = [{"h": h, "w": w} for h, w in shapes]
    assert_runs_agree(p, CSource(text=LOOKED_UP), sizes, 5, inputs=inputs)
    report, after = simulate_all(p, [arguments(p.start, {"h": 21, "w": 43}, 3, inputs)])
    assert report.clean, report.findings
    assert any(after)


FAR = """
void far(int h, int w, const int in[h][w], int out[h][w])
{
  int t[h + 9][w + 9], u[h + 9][w + 9], v[h + 9][w + 9];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      t[y + 9][x + 7] = 3 * in[y][x];
  for (int y = 10; y < h + 8; y++)
    for (int x = 7; x < w + 7; x++)
      u[y][x] = t[y - 1][x] + (x > 8 ? t[y + 1][x] : y);
  for (int y = 10; y < h + 8; y++)
    for (int x = 8; x < w + 6; x++)
      v[y][x] = u[y][x - 1] + 2 * t[y][x] + u[y][x + 1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      out[y][x] = v[y + 9][x + 7] - in[y][x];
}
"""
"""Arrays stand where what they are computed from does: tiles overlap by one, not by 9."""


@pytest.mark.oclgrind
@pytest.mark.parametrize("tile", [(4, 16), (3, 2, 8)])
def test_subscripts_far_apart(tile: tuple[int, ...]) -> None:
    done = lx.loads(FAR)["far"].offload(contract=False, fuse_stages=tile)
    assert [p.about for p in done.parts if "4 stages" in p.about]
    p = emit.kernel(done.derivation, fp=SEPARATE)
    sizes: list[Numbers] = [{"h": h, "w": w} for h, w in (*SHAPES, (3, 3))]
    assert_runs_agree(p, CSource(text=FAR), sizes, 5)
    report, after = simulate_all(p, [arguments(p.start, {"h": 13, "w": 27}, 3, None)])
    assert report.clean, report.findings
    assert any(after)


FIXED = """
void fixed(const float a[40][50], float b[40][50])
{
  float t[40][50];
  for (int y = 0; y < 40; y++)
    for (int x = 1; x < 49; x++)
      t[y][x] = a[y][x - 1] + a[y][x + 1];
  for (int y = 1; y < 39; y++)
    for (int x = 1; x < 49; x++)
      b[y][x] = t[y - 1][x] + t[y + 1][x];
}
"""


def test_sizes_that_are_numbers() -> None:
    """Nothing is asked: the kernel stands for the nests."""
    file = lx.loads(FIXED)
    done = file["fixed"].offload(contract=False, fuse_stages=(8, 16))
    assert [p.about for p in done.parts] == ["2 stages in one kernel, tiles of 8 rows, 16 items"]
    assert [len(r.done.parts) for r in file.offload(fuse_stages=(8, 16)).regions] == [1]
    p = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(p, CSource(text=FIXED), [{}], 5)


@pytest.mark.parametrize("form", [{"fuse_stages": (4, 16)}, {"tile_stages": (4, 8, 16)}])
def test_arrays_that_overlap_are_refused(form: dict[str, tuple[int, ...]]) -> None:
    """Nest by nest, the result could be written over the input; tiles would see either."""
    call = lx.load(FOLDER / "harris.c")["harris"].offload(**form).compile()
    image = np.ones((30, 20), "float32")
    with pytest.raises(lx.LoopxformError, match="overlap"):
        call(h=20, w=20, **{"in": image[:20]}, out=image[10:])


MIRRORED = """
#include <stdlib.h>
void mirrored(int h, int w, const float in[h][w], float out[h][w])
{
  float t[h][w], u[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      t[y][x] = 2 * in[y][x];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      u[y][x] = t[abs(y - 1)][x] + t[h - 1 - abs(h - 1 - (y + 1))][x]
                + t[h - 1 - abs(h - 1 - abs(y - 2))][x];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = u[y][x - 1 < 0 ? 1 - x : x - 1] + u[y][x + 1 >= w ? 2 * w - 2 - (x + 1) : x + 1]
                  + u[y][x - 2 < 0 ? -1 - (x - 2) : x - 2 > w - 1 ? 2 * w - 1 - (x - 2) : x - 2];
}
"""


@cache
def mirrored() -> Plan:
    done = lx.loads(MIRRORED)["mirrored"].offload(contract=False, tile_stages=(4, 8, 16))
    assert done.parts[0].about.startswith("3 stages in one kernel")
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.device
def test_mirrored_borders() -> None:
    shapes = [(3, 2), (4, 4), (5, 3), (7, 9), (8, 8), (19, 33)]
    sizes: list[Numbers] = [{"h": h, "w": w} for h, w in shapes]
    assert_runs_agree(mirrored(), CSource(text=MIRRORED), sizes, 5)


@pytest.mark.oclgrind
def test_mirrored_borders_in_the_simulator() -> None:
    p = mirrored()
    every = [arguments(p.start, {"h": h, "w": w}, 3) for h, w in ((5, 6), (13, 9))]
    report, _ = simulate_all(p, every)
    assert report.clean, report.findings
