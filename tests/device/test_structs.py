"""Structs on a device: the user's memory as it is, whatever members the loops use."""

from __future__ import annotations

import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from harness import assert_agrees, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import ArgumentError
from loopxform.floating_point import SEPARATE
from loopxform.schedule.params import Tiles
from loopxform.verify.check_run import arguments

COMPLEX = """
typedef struct { double re, im; } cplx;
void f(int n, int m, const cplx a[n][m], const cplx *b, cplx *restrict c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      cplx s = {0, 0};
      for (int k = 0; k < m; k++) {
        s.re += a[i][k].re * b[k * n + j].re - a[i][k].im * b[k * n + j].im;
        s.im += a[i][k].re * b[k * n + j].im + a[i][k].im * b[k * n + j].re;
      }
      c[i * n + j] = s;
    }
}"""

NESTED = """
#include <stdbool.h>
typedef struct { int n; float scale; unsigned char tag; float w[3]; } par;
struct vec { float x, y; };
typedef struct {
  char c; float pos[3]; struct { short a; float b; } in; struct vec v[2]; bool half; double d;
} P;
struct many { int rows; float *a; P *ps; } ;
struct G { float in[4][4]; int k; } g;
void f(par q, const par *r, P *restrict p, struct many *m, P grid[q.n][7])
{
  for (int i = 0; i < q.n; i++) {
    p[i].pos[0] += q.scale * p[i].in.a + q.w[2] + m->rows;
    p[i].pos[2] = r->scale + p[i].v[1].y * m->a[i] + m->ps[i].d;
    p[i].half = p[i].pos[0] > 1;
    p[i].c -= g.in[1][2] * g.k + grid[i][3].d + r->tag;
    p[i].v[i % 2].x = p[i].half ? 1 : p[i].v[1].x;
  }
}"""

MATRICES = """
struct mat { int rows, cols; float *a; };
void f(const struct mat *A, const struct mat *B, struct mat *C)
{
  for (int i = 0; i < A->rows; i++)
    for (int j = 0; j < B->cols; j++) {
      float s = 0;
      for (int k = 0; k < A->cols; k++)
        s += A->a[i * A->cols + k] * B->a[k * B->cols + j];
      C->a[i * C->cols + j] = s;
    }
}"""

ACCESSORS = """
typedef struct { int rows, cols; double *data; } mat;
static double get(const mat *m, int i, int j) { return m->data[i * m->cols + j]; }
static void set(mat *m, int i, int j, double v) { m->data[i * m->cols + j] = v; }
void f(const mat *A, const mat *B, mat *C)
{
  int i, j, k;
  for (i = 0; i < A->rows; i++)
    for (j = 0; j < B->cols; j++) {
      double s = 0;
      for (k = 0; k < A->cols; k++)
        s += get(A, i, k) * get(B, k, j);
      set(C, i, j, s);
    }
}"""

BODIES = """
#include <math.h>
typedef struct { float x, y, z, m; } body;
typedef struct { float v[3]; } vel;
void f(int n, float dt, body *restrict p, vel *restrict v)
{
  for (int i = 0; i < n; i++) {
    float ax = 0, ay = 0;
    for (int j = 0; j < n; j++) {
      body d = p[j];
      d.x -= p[i].x; d.y -= p[i].y;
      float r = sqrtf(d.x * d.x + d.y * d.y + 1e-6f);
      ax += d.x * d.m / r;
      ay += d.y * d.m / r;
    }
    v[i].v[0] += dt * ax;
    v[i].v[1] += dt * ay;
  }
}"""

SIZES = {
    COMPLEX: {"n": 33, "m": 19},
    NESTED: {"q.n": 70, "g.k": 3, "m.rows": 5, "r.tag": 200},
    MATRICES: {"A.rows": 33, "A.cols": 20, "B.cols": 30, "C.cols": 31},
    ACCESSORS: {"A.rows": 33, "A.cols": 20, "B.cols": 30, "C.cols": 31},
    BODIES: {"n": 100},
}
PRODUCTS = (COMPLEX, MATRICES, ACCESSORS)
TILES = Tiles(4, 4, 4, 2, 2)


@pytest.mark.device
@pytest.mark.parametrize("text", list(SIZES))
def test_structs(text: str) -> None:
    assert_agrees(text, SIZES[text], TILES if text in PRODUCTS else None)


@pytest.mark.oclgrind
@pytest.mark.parametrize("text", list(SIZES))
def test_structs_under_oclgrind(text: str) -> None:
    given = asdict(TILES) if text in PRODUCTS else {}
    plan = emit.kernel(lx.loads(text)["f"].tile(contract=False, **given).derivation, fp=SEPARATE)
    small = {**SIZES[text], "n": 9} if "n" in SIZES[text] else SIZES[text]
    report = simulate(plan, arguments(plan.written, small, 1))
    assert report.clean, report.findings[0]


def test_members_are_staged() -> None:
    tiled = lx.loads(COMPLEX)["f"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    assert tiled.tiled.recipe == "register"
    assert "typedef struct { double re; double im; } lx_cplx;" in tiled.kernel
    assert "__global const lx_cplx *restrict a," in tiled.kernel
    assert re.search(r"a_re_loc\[.*\] = .*a\[.*\]\.re\b", tiled.kernel)


@pytest.mark.device
def test_structs_from_python() -> None:
    routine = lx.loads(MATRICES)["f"]
    kernel = routine.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile()
    one = routine.dtype("A")
    assert one.fields is not None
    assert (one.itemsize, one.fields["a"][1]) == (16, 8)
    rng = np.random.default_rng(1)
    a, b = rng.random((5, 7), np.float32), rng.random((7, 6), np.float32)
    c = np.zeros((5, 6), np.float32)
    mats = [np.array([(*x.shape, 0)], one) for x in (a, b, c)]
    kernel(*mats, A_a=a, B_a=b, C_a=c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    with pytest.raises(ArgumentError, match="is called without its global variable 'C_a'"):
        kernel(*mats, A_a=a, B_a=b)
    with pytest.raises(ArgumentError, match="A must be a struct of"):
        kernel(a, *mats[1:], A_a=a, B_a=b, C_a=c)
    body = lx.loads(COMPLEX)["f"]
    x = np.ones((2, 2), body.dtype("a"))
    z = np.zeros(4, x.dtype)
    body.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile()(2, 2, x, x.reshape(-1), z)
    assert z["re"].tolist() == [0, 0, 0, 0]
    assert z["im"].tolist() == [4, 4, 4, 4]


MAIN = """
#include <stdio.h>
#include <stdlib.h>
%s
int main(void)
{
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, 5, 6}, c[4] = {0};
  struct mat A = {2, 3, a}, B = {3, 2, b}, C = {2, 2, c}, none = {2, 2, a};
  f(&A, &B, &C);
  printf("%%g %%g %%g %%g\\n", c[0], c[1], c[2], c[3]);
  none.rows = 0;
  f(&none, &B, &C);
  none.rows = 2; none.cols = 2;
  f(&none, &C, &none); /* the product overwrites its operand: the loops as they are */
  printf("%%g %%g %%g %%g\\n", a[0], a[1], a[2], a[3]);
  return 0;
}
"""


@pytest.mark.slow
@pytest.mark.opencl_sdk
@pytest.mark.device
def test_structs_in_a_c_project(tmp_path: Path) -> None:
    tiled = lx.loads(MATRICES, "mats.c")["f"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    tiled.write(tmp_path)
    (tmp_path / "own.c").write_text(MAIN % MATRICES)
    (tmp_path / "main.c").write_text(
        MAIN
        % MATRICES.split("void f")[0].replace(
            "};", "};\nvoid f(const struct mat *, const struct mat *, struct mat *);"
        )
    )
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"]

    def output(*files: str) -> str:
        command = ["cc", *strict, *files, "-o", "app", "-lOpenCL", "-lm"]
        subprocess.run(command, cwd=tmp_path, check=True)
        told = {"LOOPXFORM_VERBOSE": "1", "LOOPXFORM_HOST": "never"}
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **told}
        done = subprocess.run(
            ["./app"], cwd=tmp_path, check=True, env=env, capture_output=True, text=True
        )
        errors.append(done.stderr)
        return done.stdout

    errors: list[str] = []
    assert output("own.c") == output("main.c", "mats_opencl.c")
    assert ": on the device" in errors[-1]
