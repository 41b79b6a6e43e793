"""Kernels that begin before all arrays are on the device: as soon as those are that they have, and
no sooner. The arrays are copied in small pieces by threads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_project import PLAIN, cc, require_opencl, run_app
from calling_threads import threads_calling
from test_failing_opencl import FAILING, NAMES, PIECES, SHIMMED, judge, link, redefine, run_it

import loopxform as lx

STAGES = """
void stages(int n, int m, int which, const float *restrict a, const float *restrict b,
          float *restrict c, float *restrict d, float *restrict late)
{
  for (int i = 0; i < n; i++)
    c[i] = a[i] * 2 + c[i];
  if (which > 1)
    for (int i = 0; i < n; i++)
      d[i] = b[n - 1 - i] - c[i];
  for (int t = 0; t < which; t++)
    for (int i = 1; i < n; i++)
      c[i] = c[i - 1] * 0.25f + d[n - 1 - i] * 0.5f;
  for (int j = 0; j < m; j++)
    late[j] = late[j] * 0.5f + c[j % 7];
}
"""
"""The second kernel may not be launched, and the array of the last one is large."""

CALLER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stages_opencl.h"
enum { N = 100, M = LARGE };
void stages(int, int, int, const float *, const float *, float *, float *, float *);
void user_stages(int, int, int, const float *, const float *, float *, float *, float *);

static int wrong(int which)
{
  static const float a[N] = {1.25f, 2, [50] = 3.5f}, b[N] = {[99] = -7, [3] = 4};
  float c[2][N], d[2][N], late[2][M];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < N; i++)
      c[k][i] = (float)i * 0.37f, d[k][i] = 3 - (float)i * 0.11f;
    for (int i = 0; i < M; i++)
      late[k][i] = (float)(i % 91);
  }
  stages(N, M, which, a, b, c[0], d[0], late[0]);
  user_stages(N, M, which, a, b, c[1], d[1], late[1]);
  return memcmp(c[0], c[1], sizeof c[0]) != 0 || memcmp(d[0], d[1], sizeof d[0]) != 0 ||
         memcmp(late[0], late[1], sizeof late[0]) != 0;
}
"""
LATE = """
int main(void)
{
  for (int which = 1; which < 4; which++) {
    failing_late(sizeof(float) * M);
    if (wrong(which))
      puts("differs");
    puts(failing_early_writes() < failing_late_writes() ? "early" : "late");
  }
  loopxform_release();
  return failing_live() != 0;
}
"""


def _built(folder: Path, main: str, large: int, *, change: tuple[str, str] = ("", "")) -> Path:
    """The program in front of the shim; its last array has so many elements."""
    require_opencl()
    _write(folder, *change)
    return link(folder, "stages", CALLER.replace("LARGE", str(large)) + SHIMMED + main, NAMES)


def _write(folder: Path, pattern: str, text: str) -> None:
    (folder / "stages.c").write_text(STAGES)
    lx.load(folder / "stages.c").offload(contract=False).write(folder)
    written = folder / "stages_opencl.c"
    written.write_text(
        re.sub(pattern, text, written.read_text()) if pattern else written.read_text()
    )
    redefine(written, PIECES)
    user = [*PLAIN, "-c", "-Dstages=user_stages", "stages.c", "-o", "user.o"]
    assert cc(folder, *user).returncode == 0


def test_a_kernel_begins_before_all_is_copied(tmp_path: Path) -> None:
    """The first kernel does not wait for the large array, which is slow and the last one to be
    copied; the last kernel does."""
    app = _built(tmp_path, LATE, 3000)
    done = run_it(app, LOOPXFORM_COPIES="pieces", LOOPXFORM_VERBOSE="1", whole=True)
    assert (done.returncode, done.stdout) == (0, "early\nearly\nearly\n"), done.stderr
    assert (
        len(re.findall(r"stages: lx_stages begins: \d+ of \d+ bytes are there\n", done.stderr)) == 3
    )


@pytest.mark.slow
def test_the_copies_are_waited_for(tmp_path: Path) -> None:
    """Were kernels said to need nothing, one would read what is not there yet."""
    app = _built(
        tmp_path, LATE, 3000, change=(r"(lx_needs_stages\[\] = \{)[^}]*", r"\1 0, 0, 0, 1")
    )
    assert "differs" in run_it(app, LOOPXFORM_COPIES="pieces").stdout


@pytest.mark.slow
def test_failing_calls(tmp_path: Path) -> None:
    app = _built(tmp_path, "static int differs(void) { return wrong(2); }" + FAILING, 200)
    judge(run_it(app, LOOPXFORM_COPIES="pieces"), 60)


@pytest.mark.slow
def test_threads(tmp_path: Path) -> None:
    """Silent under the sanitizer for threads."""
    _write(tmp_path, "", "")
    main = threads_calling("wrong(1 + round % 3)", threads=4, rounds=30, release=16)
    (tmp_path / "caller.c").write_text(CALLER.replace("LARGE", "300") + main)
    options = [*PLAIN, "-g", "-fsanitize=thread"]
    parts = ["stages_opencl.c", "user.o", "caller.c", "-o", "app", "-lOpenCL", "-lm", "-pthread"]
    done = cc(tmp_path, *options, *parts)
    assert done.returncode == 0, done.stderr
    done = run_app(tmp_path / "app", LOOPXFORM_COPIES="pieces")
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")
