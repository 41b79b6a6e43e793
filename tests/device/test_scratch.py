"""Arrays of the caller's that nobody reads after a call, `#pragma loopxform scratch(t)`: not
written, not copied, and never taken for what they are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_project import Compared, assert_all_same
from conftest import Golden
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.cli import main
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

Capture = pytest.CaptureFixture[str]

EDGES = """\
#pragma loopxform scratch(t)
void edges(int h, int w, const float in[h][w], float *t, float out[h][w])
{
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      t[y * w + x] = in[y][x - 1] + in[y][x + 1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      out[y][x] = t[(y - 1) * w + x] + t[(y + 1) * w + x];
}
"""
HALF = """\
#pragma loopxform scratch(t, u)
void half(int h, int w, const float in[2 * h][2 * w], float t[h][2 * w], float u[h][w],
          float out[h][w])
{
  for (int y = 0; y < h; y++)
    for (int x = 0; x < 2 * w; x++)
      t[y][x] = in[2 * y][x] + in[2 * y + 1][x];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      u[y][x] = t[y][2 * x] + t[y][2 * x + 1];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[y][x] = 2 * u[y][x + 1 > w - 1 ? w - 1 : x + 1];
}
"""
ROWS, BLOCKS = {"fuse_stages": (4, 16)}, {"tile_stages": (4, 8, 16)}
CASES = {"edges": (EDGES, ROWS), "half": (HALF, BLOCKS), "apart": (EDGES, {"fuse_stages": ()})}
SHAPES = ((1, 1), (2, 3), (9, 30), (17, 41))


def plan(case: str) -> Plan:
    text, form = CASES[case]
    (routine,) = lx.loads(text)
    return emit.kernel(routine.offload(contract=False, **form).derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_what_is_read_is_that_of_the_c(case: str) -> None:
    sizes = [{"h": h, "w": w} for h, w in SHAPES]
    assert_runs_agree(plan(case), CSource(text=CASES[case][0]), sizes, 5)


@pytest.mark.parametrize("case", ["edges", "half"])
def test_the_kernel_has_no_use_for_it(case: str) -> None:
    p = plan(case)
    arrays = {a.param.name for a in p.kernels[0].arguments if hasattr(a, "param")}
    assert arrays == {"in", "out"}
    moved = {b.param.name: (b.into, b.back) for b in p.buffers}
    assert all(moved[name] == (None, None) for name in p.start.scratch)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["edges", "apart"])
def test_no_finding_in_the_simulator(case: str) -> None:
    p = plan(case)
    every = [arguments(p.start, {"h": h, "w": w}, 3) for h, w in ((1, 7), (9, 21))]
    report, _ = simulate_all(p, every)
    assert report.clean, report.findings


@pytest.mark.device
def test_a_scratch_array_that_overlaps_another_is_refused() -> None:
    (routine,) = lx.loads(EDGES)
    call = routine.offload(fuse_stages=(4, 16)).compile()
    image = np.ones((30, 20), "float32")
    with pytest.raises(lx.LoopxformError, match="overlap"):
        call(h=20, w=20, t=image[10:].ravel(), out=np.ones((20, 20), "float32"), **{"in": image})


OVERLAPPING = """\
#include <stdio.h>
#include <string.h>
#include "edges_opencl.h"
static void as_written(int h, int w, const float *in, float *t, float *out)
{
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      t[y * w + x] = in[y * w + x - 1] + in[y * w + x + 1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      out[y * w + x] = t[(y - 1) * w + x] + t[(y + 1) * w + x];
}
static int differs(void)
{
  static float a[1000], b[1000], x[400], y[400];
  for (int apart = 0; apart < 401; apart += 80) {
    for (int n = 0; n < 1000; n++)
      a[n] = b[n] = (float)(n * 7 % 13);
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    as_written(20, 20, a, a + apart, x);
    edges(20, 20, (void *)b, b + apart, (void *)y);
    if (memcmp(x, y, sizeof x))
      return 1;
  }
  return 0;
}
"""


@pytest.mark.opencl_sdk
def test_written_programs(tmp_path: Path) -> None:
    """The host compares addresses: where arrays overlap, the loops run as they were."""
    (routine,) = lx.loads(EDGES)
    done = routine.offload(contract=False, fuse_stages=(4, 16))
    program = Compared(done.derivation, EDGES, caller=OVERLAPPING)
    assert_all_same(tmp_path, [program], LOOPXFORM_VERBOSE="0")


REFUSED = {
    "unknown": EDGES.replace("scratch(t)", "scratch(q)"),
    "number": EDGES.replace("scratch(t)", "scratch(h)"),
    "empty": EDGES.replace("scratch(t)", "scratch()"),
    "input": EDGES.replace("scratch(t)", "scratch(t, in)"),
    "local": "#pragma loopxform scratch(b)\nvoid f(int n, float *a) "
    "{ float b[n]; for (int i = 0; i < n; i++) { b[i] = i; a[i] = b[i]; } }\n",
    "in front of a loop": "void f(int n, float *a, float *t) {\n#pragma loopxform scratch(t)\n"
    "  for (int i = 0; i < n; i++) { t[i] = i; a[i] = t[i]; } }\n",
    "structs": "struct p { float v[8]; };\n#pragma loopxform scratch(s)\n"
    "void f(int n, struct p *s, float *restrict a)\n"
    "{ for (int i = 0; i < 8; i++) s->v[i] = i; for (int i = 0; i < 8; i++) a[i] = s->v[i]; }\n",
    "partly": "#pragma loopxform scratch(t)\nvoid f(int n, float *a, float *t)\n"
    "{\n  for (int i = 1; i < n; i++) t[i] = i;\n  for (int i = 0; i < n; i++) a[i] = t[i];\n}\n",
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(
    case: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(REFUSED[case])
    assert main(["offload", "f.c", "--dry-run"]) in (1, 2)
    golden.check(capsys.readouterr().err)


def offload(text: str, *options: str) -> int:
    Path("f.c").write_text(text)
    return main(["offload", "f.c", "--dry-run", "--report", *options])


def test_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    plain = EDGES.partition("\n")[2]
    assert offload(plain, "--scratch", "t") == 0
    assert "kept      t  " in capsys.readouterr().out
    assert offload(plain) == 0
    assert "out       t  " in capsys.readouterr().out
    assert offload(plain, "--scratch", "in") == 2
    assert "'in' may be read before it is written" in capsys.readouterr().err
    assert offload(plain, "--scratch", "outt") == 2
    assert "did you mean 'out'?" in capsys.readouterr().err
    file = lx.loads(plain)
    assert file.offload(scratch=["t"]).regions[0].done.routine.function.scratch == ("t",)
    with pytest.raises(lx.LoopxformError, match="array parameter 'q'"):
        file["edges"].offload(scratch=["q"])


def test_a_part_of_a_function_writes_what_the_rest_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Nobody reads it after the call; the statements behind the loops do."""
    monkeypatch.chdir(tmp_path)
    behind = '  printf("%g", t[w + 1]);\n}\n'
    text = f"#include <stdio.h>\n{EDGES[: EDGES.rindex('}')]}{behind}"
    assert offload(text) == 0
    assert "out       t  " in capsys.readouterr().out


@pytest.mark.device
def test_run_does_not_compare_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "#pragma loopxform scratch(t)\nvoid f(int n, float *restrict t, float *restrict a)\n"
        "{ for (int i = 0; i < n; i++) { t[i] = i; a[i] = 2 * t[i]; } }\n"
    )
    Path("f.c").write_text(text)
    assert main(["run", "f.c", "--size", "n=100"]) == 0
    assert "100 elements of a are identical" in capsys.readouterr().out
