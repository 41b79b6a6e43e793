"""Ordinary C of every type: the kernel leaves each array as the user's C does, to the last bit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from harness import assert_agrees, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import EmitError, LoopxformError, UsageError
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments

MIXED = """
#include <stddef.h>
#include <stdint.h>
void f(int n, int m, uint8_t a[n][m], int8_t b[n][m], uint16_t c[n][m], short d[n][m],
       unsigned e[n][m], long long g[n][m], size_t h[n][m], double x[n][m], ptrdiff_t q[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] += b[i][j] * 3;
      c[i][j] <<= 13;
      d[i][j] = (short)(e[i][j] >> 1) + 'a' - '\\n' + '\\x80' - '\\'';
      e[i][j] = e[i][j] * 2654435761u + 0x7fu - 017;
      g[i][j] = (g[i][j] / -7 + g[i][j] % 4 + h[i][j] % 13u) ^ 1ll;
      h[i][j] = b[i][j] < e[i][j] ? h[i][j] : ~0ul;
      q[i][j] -= a[i][j] / b[i][j] - (b[i][j] > -1u);
      x[i][j] = 1.f * a[i][j] + 1e-3f * c[i][j] + 0x1p-3 + .5 + q[i][j];
      b[i][j] ^= 0xA5;
    }
}"""

NARROW_SUM = """
void f(int n, const unsigned char a[n][n], const signed char b[n][n], unsigned char c[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      unsigned char acc = 1;
      for (int k = 0; k < n; k++)
        acc = acc * 3 + (a[i][k] ^ b[k][j]);
      c[i][j] = acc;
    }
}"""

BOOLS = """
#include <stdbool.h>
void f(int n, int m, bool inv, bool a[n][m], bool b[m][n], bool c[n][n], int d[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      bool acc = false;
      for (int k = 0; k < m; k++)
        acc |= a[i][k] & b[k][j];
      c[i][j] = acc + 2 * inv;
      d[i][j] = c[i][j] + true + (bool)0.5;
    }
}"""

ENUMS = """
typedef enum { A, B, C } kind;
enum op { ADD, SUB = 4, NEG = SUB * 2 };
enum sign { MINUS = -1, PLUS = 1 };
void f(int n, enum sign s, kind k[n], const enum op o[n], int x[n])
{
  enum { LOCAL = 5 };
  for (int i = 0; i < n; i++) {
    x[i] = o[i] == SUB ? -x[i] : x[i] + NEG * s;
    if (o[i] - SUB < 0) x[i] = LOCAL;
    if (k[i] == B) k[i] = C;
  }
}"""

TABLES = """
static const float w[3] = { 0.25f, .5, 1 / 4.0 };
static const unsigned char mask[2][3] = { [1] = { 3, [2] = 4 }, [0] = { 1, -2 } };
static const double scale = -1e-3;
static const int shift = 2;
const short flat[2][2] = { 1, 2, 3 };
void f(int n, float x[n], float y[n])
{
  for (int i = 1; i < n - 1; i++)
    y[i] = w[0] * x[i - 1] + w[1] * x[i] + w[2] * x[i + 1] + mask[i % 2][i % 3] * scale
         + (i >> shift) + flat[i % 2][0];
}"""


@pytest.mark.device
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (MIXED, {"n": 33, "m": 17}),
        (NARROW_SUM, {"n": 37}),
        (BOOLS, {"n": 33, "m": 3, "inv": 0}),
        (BOOLS, {"n": 5, "m": 9, "inv": 1}),
        (ENUMS, {"n": 70, "s": -1}),
        (TABLES, {"n": 100}),
    ],
)
def test_types(text: str, sizes: dict[str, int]) -> None:
    assert_agrees(text, sizes)


def test_tables_lie_in_constant_memory() -> None:
    tiled = lx.loads(TABLES)["f"].tile()
    kernel = emit.kernel(tiled.derivation)
    assert "__constant float w[3] = {0.25f, .5, 1 / 4.0};" in kernel.source
    assert "__constant uchar mask[6] = {1, -2, 0, 3, 0, 4};" in kernel.source
    assert [b.param.name for b in kernel.buffers] == ["x", "y"]
    text = emit.opencl(tiled.derivation, stem="f", origin="f.c", version="0").files["f_opencl.c"]
    assert "static const unsigned char mask[2][3] = {{1, -2, 0}, {3, 0, 4}};" in text
    assert "extern const short flat[2][2];" in text


def test_a_table_that_is_not_listed_is_out_of_reach() -> None:
    tiled = lx.loads("static int t[4]; void f(int *a) { for (int i = 0; i < 4; i++) a[i] = t[i]; }")
    with pytest.raises(EmitError, match="'t' is static: a file of its own cannot reach it"):
        emit.kernel(tiled["f"].tile().derivation)


@pytest.mark.oclgrind
def test_tables_under_oclgrind() -> None:
    plan = emit.kernel(lx.loads(TABLES)["f"].tile(contract=False).derivation, fp=SEPARATE)
    assert simulate(plan, arguments(plan.start, {"n": 40}, 1)).clean


@pytest.mark.parametrize(
    ("text", "double"),
    [
        ("void f(float *a) { for (int i = 0; i < 4; i++) a[i] = a[i] * 0.5f; }", False),
        ("void f(float *a) { for (int i = 0; i < 4; i++) a[i] = a[i] * 0.5; }", True),
        (
            "double exp(double);void f(float *a) { for (int i = 0; i < 4; i++) a[i] = exp(a[i]); }",
            True,
        ),
    ],
)
def test_kernels_say_that_they_compute_in_double(text: str, *, double: bool) -> None:
    """Where a device lacks it, 0.5 would silently be a float."""
    tiled = lx.loads(text)["f"].tile()
    made = emit.opencl(tiled.derivation, stem="f", origin="f.c", version="0")
    assert ("cl_khr_fp64" in made.files["f.cl"]) == double
    assert f".doubles = {double:d},\n" in made.files["f_opencl.c"]


def test_the_host_has_the_types_of_the_kernel() -> None:
    tiled = lx.loads("void f(long n, char *a) { for (long i = 0; i < n; i++) a[i] = 1; }")[
        "f"
    ].tile()
    made = emit.opencl(tiled.derivation, stem="f", origin="f.c", version="0")
    assert "[sizeof(long) == 8 && CHAR_MIN < 0 ? 1 : -1];" in made.files["f_opencl.c"]


@pytest.mark.opencl_sdk
def test_the_host_has_the_constants_of_the_kernel(tmp_path: Path) -> None:
    """Built with -fsingle-precision-constant, 0.1 would be another number in the user's loops."""
    lx.loads("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 0.1; }", "f.c")[
        "f"
    ].tile().write(tmp_path)
    command = ["cc", "-fsyntax-only", "f_opencl.c"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    command.append("-fsingle-precision-constant")
    refused = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "lx_takes_for_granted_f" in refused.stderr


@pytest.mark.parametrize(
    "option",
    ["-m32", "-funsigned-char", "-fsingle-precision-constant", "-fshort-enums", "-fpack-struct=4"],
)
def test_options_that_change_types_or_constants_are_refused(option: str) -> None:
    with pytest.raises(UsageError, match=f"'{option}' is not modelled"):
        lx.loads("void f(int n, double *a) { }", cflags=[option])


@pytest.mark.parametrize("name", ["__fp16", "__bf16", "__float128"])
def test_types_of_compilers_are_refused_where_they_are_used(name: str) -> None:
    text = f"void f(int n, {name} *a) {{ for (int i = 0; i < n; i++) a[i] = a[i] * a[i] + 1; }}"
    text += "void g(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 1; }"
    file = lx.loads(text)
    assert file["g"].tile().kernel
    with pytest.raises(LoopxformError, match=f"'a' has type struct {name}"):
        file["f"].tile()
