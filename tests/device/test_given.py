"""Arrays that may be left out: a null pointer does in the written files what it did in the user's
C, on the device too, and nothing is read through it."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, STRICT, cc, require_opencl, run_app

import loopxform as lx

FILE = """\
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void linear(int n, int m, const float *x, const float *bias, const float *gain, float *y)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float v = bias != NULL ? bias[j] : 0.5f;
      for (int k = 0; k < m; k++)
        v += x[i * m + k] * (float)(k + j);
      if (gain)
        v *= gain[j];
      y[i * m + j] = v;
    }
}

void either(int n, const float *x, float *y, float *copy)
{
  if (x) {
    for (int i = 0; i < n; i++)
      y[i] += x[i];
  } else {
    for (int i = 0; i < n; i++)
      y[i] = 3;
  }
  for (int i = 0; i < n; i++)
    if (copy != 0 && y[i] > 2)
      copy[i] = y[i];
}

void shifted(int n, const float p[n], const int flag[n], float y[n])
{
  for (int i = 0; i < n - 2; i++)
    if (flag[i])
      y[i] = p[i + 2];
}

void moved(int n, const float *p, const float *x, float *y)
{
  const float *q = p;
  for (int i = 0; i < n; i++)
    if (n > 2)
      y[i] += q[i];
  q = x;
  for (int i = 0; i < n; i++)
    y[i] += q[i];
}

static float total(int n, const float *a)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s = s * 0.5 + a[i];
  return (float)s;
}

int main(void)
{
  enum { N = 19, M = 11 };
  float x[N * M], y[N * M], bias[M], gain[M], copy[N];
  for (int i = 0; i < N * M; i++)
    x[i] = (float)(i % 7) * 0.25f, y[i] = 0;
  for (int i = 0; i < M; i++)
    bias[i] = (float)i, gain[i] = 1.5f;
  for (int i = 0; i < N; i++)
    copy[i] = -1;
  const float *volatile none = NULL;
  int never[N] = {0};
  shifted(N, none, never, y);
  moved(N, x, x, y);
  for (int which = 0; which < 4; which++) {
    linear(N, M, x, which & 1 ? bias : NULL, which & 2 ? gain : NULL, y);
    printf("%a\\n", (double)total(N * M, y));
    either(N, which & 1 ? x : NULL, y, which & 2 ? copy : NULL);
    printf("%a %a\\n", (double)total(N, y), (double)total(N, copy));
  }
  return 0;
}
"""


def plain(folder: Path) -> str:
    """What the user's own program prints."""
    (folder / "layers.c").write_text(FILE)
    assert cc(folder, *PLAIN, "layers.c", "-o", "plain").returncode == 0
    return run_app(folder / "plain").stdout


@pytest.mark.parametrize("sanitized", [False, True], ids=["strict", "sanitized"])
def test_offloaded(tmp_path: Path, *, sanitized: bool) -> None:
    """The device does it with an array and without, and where a call touches no element of it."""
    require_opencl()
    expected = plain(tmp_path)
    done = lx.load(tmp_path / "layers.c").offload(contract=False)
    names = {r.region.name.partition("_")[0] for r in done.regions}
    assert {"linear", "either"} <= names
    done.write(tmp_path / "out")
    options = [*PLAIN, *(SANITIZED if sanitized else [*STRICT, "-std=c11"])]
    built = cc(tmp_path / "out", *options, "layers_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    quiet = {"ASAN_OPTIONS": "detect_leaks=0", "LOOPXFORM_VERBOSE": "1"}
    found = run_app(tmp_path / "out" / "app", **quiet)
    assert (found.returncode, found.stdout) == (0, expected)
    host = "running the loops on the host"
    told = [f"layers.c:32: shifted: p is a null pointer; {host}"]
    assert [x.rpartition("/")[2] for x in found.stderr.splitlines()] == told, found.stderr


def test_the_header_declares_the_users_function(tmp_path: Path) -> None:
    """In C++ too: the number behind a pointer is the kernel's."""
    (tmp_path / "layers.c").write_text(FILE)
    tiled = lx.load(tmp_path / "layers.c")["linear"].tile(contract=False)
    header = tiled.opencl.files["layers_opencl.h"]
    assert "const float *bias, const float *gain, float *y);" in header
    declared = [x for x in header.splitlines() if x.startswith("void linear(")]
    assert declared
    assert not any("given" in x for x in declared)


def test_tiled_c_runs_the_users_loops(tmp_path: Path) -> None:
    """There, tiles might be read of an array that is not there."""
    expected = plain(tmp_path)
    tiled = lx.load(tmp_path / "layers.c")["linear"].tile(limits="cpu", contract=False)
    for name, text in tiled.openmp.files.items():
        (tmp_path / name).write_text(text)
    (written,) = (n for n in tiled.openmp.files if n.endswith(".c"))
    assert "bias is a null pointer" in (tmp_path / written).read_text()
    other = FILE.replace("void linear(", "void unused(")
    prototype = "void linear(int, int, const float *, const float *, const float *, float *);\n"
    (tmp_path / "rest.c").write_text(prototype + other)
    built = cc(tmp_path, *PLAIN, *SANITIZED, written, "rest.c", "-o", "app", "-lm")
    assert built.returncode == 0, built.stderr
    found = run_app(tmp_path / "app", ASAN_OPTIONS="detect_leaks=0")
    assert (found.returncode, found.stdout, found.stderr) == (0, expected, "")


STRUCTS = """\
typedef struct { float re, im; } C;
typedef struct { int m; float *w; } S;
void dots(int n, const C *restrict a, const S *s, float *restrict d)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float t = 0;
      for (int k = 0; k < s->m; k++)
        t += (a[i * s->m + k].re - a[i * s->m + k].im) * s->w[k * n + j];
      d[i * n + j] = t;
    }
}
"""


def test_tiled_c_asks_for_structs_by_their_pointer(tmp_path: Path) -> None:
    """Tiles of members are copied; the array that may be null is that of the structs."""
    (tmp_path / "dots.c").write_text(STRUCTS)
    files = lx.load(tmp_path / "dots.c")["dots"].tile(limits="cpu", contract=False).openmp.files
    (text,) = (t for n, t in files.items() if n.endswith(".c"))
    assert text.count("if (!a)") == 1
    assert text.count("if (!s_w)") == 1
    (tmp_path / "written.c").write_text(text)
    built = cc(tmp_path, *STRICT, "-Wno-unknown-pragmas", *PLAIN, "-c", "written.c")
    assert built.returncode == 0, built.stderr
