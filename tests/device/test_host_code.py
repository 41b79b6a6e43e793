"""The written C files in a C project: compiled without a warning, linked against the system's
OpenCL, and run beside the user's own function."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from c_project import (
    PLAIN,
    STRICT,
    Compared,
    Project,
    assert_all_same,
    assert_same,
    caller_of,
    cc,
    preamble_of,
    project_of,
    require_opencl,
    run_app,
)
from harness import CORPUS, given, program, sizes_of, tiled
from tilings import tile

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import EmitError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.runtime.oclgrind import run_under_oclgrind
from loopxform.schedule.params import Tiles

TILES = Tiles(4, 4, 8, 2, 2)


@pytest.fixture(autouse=True)
def _system_opencl() -> None:
    require_opencl()


def project(folder: Path, name: str, tiles: Tiles = TILES) -> Project:
    return project_of(folder, tiled(name, tiles).derivation, CORPUS / f"{name}.c")


# ---------------------------------------------------------------- callers


def preamble(name: str) -> str:
    return preamble_of(program(name))


def caller(name: str, *every: dict[str, int]) -> str:
    """Runs the user's function and the drop-in on equal arrays for each set of sizes."""
    return caller_of(program(name), *(given(name, sizes, 1) for sizes in every))


# ---------------------------------------------------------------- the drop-in


def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    programs = []
    for name in ("mm", "gemm", "mm_flat", "batched", "mm_bool_and", "distances"):
        sizes = [sizes_of(name, *s) for s in ((33, 17, 29), (1, 1, 1), (16, 16, 16))]
        every = tuple(given(name, s, 1) for s in sizes)
        derivation = tiled(name, TILES).derivation
        programs.append(Compared(derivation, (CORPUS / f"{name}.c").read_text(), every))
    assert_all_same(tmp_path, programs)


def test_global_arrays(tmp_path: Path) -> None:
    text = (
        preamble("mm_macro")
        + """
extern float A[19][22], B[22][13], C[19][13];
int main(void)
{
  static float expected[19][13];
  for (int n = 0; n < 19 * 22; n++) A[n / 22][n % 22] = number() * 0.37f;
  for (int n = 0; n < 22 * 13; n++) B[n / 13][n % 13] = number() * 0.37f;
  user_mm_macro();
  memcpy(expected, C, sizeof C);
  memset(C, 0, sizeof C);
  mm_macro();
  puts(memcmp(expected, C, sizeof C) == 0 ? "same" : "differs");
  return 0;
}
"""
    )
    assert_same(run_app(project(tmp_path, "mm_macro").build(text), LOOPXFORM_VERBOSE="1"))


@pytest.mark.parametrize("name", ["mm", "gemm", "mm_flat"])
def test_sizes_of_zero(tmp_path: Path, name: str) -> None:
    sizes = [sizes_of(name, *s) for s in ((0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (2, 1, 1))]
    assert_same(run_app(project(tmp_path, name).build(caller(name, *sizes))))


def test_negative_sizes_do_nothing(tmp_path: Path) -> None:
    text = (
        preamble("mm_flat")
        + """
int main(void)
{
  float a[4] = {0}, c[4] = {5, 6, 7, 8};
  a[0] = number();
  mm_flat(-1, 2, 2, a, a, c);
  mm_flat(2, 2, -3, a, a, c);
  mm_flat(2, -2147483647, -2147483647 - 1, a, a, c);
  puts(c[0] == 5 && c[1] == 6 && c[2] == 7 && c[3] == 8 ? "same" : "differs");
  return 0;
}
"""
    )
    assert_same(run_app(project(tmp_path, "mm_flat").build(text)))


def test_two_threads_at_once(tmp_path: Path) -> None:
    """A C function without static data may be called from several threads; so may the drop-in."""
    text = (
        preamble("mm_flat")
        + """
#include <pthread.h>
enum { ROUNDS = 1000, THREADS = 4, LARGEST = 8 * 8 };

static void *work(void *which)
{
  const int n = *(int *)which;
  float a[LARGEST], expected[LARGEST], c[LARGEST];
  long wrong = 0;
  for (int k = 0; k < n * n; k++)
    a[k] = (float)(k % 11) * 0.37f;
  user_mm_flat(n, n, n, a, a, expected);
  for (int r = 0; r < ROUNDS; r++) {
    memset(c, 0, sizeof c);
    mm_flat(n, n, n, a, a, c);
    wrong += memcmp(c, expected, (size_t)(n * n) * sizeof(float)) != 0;
  }
  return (void *)wrong;
}

int main(void)
{
  int n[THREADS] = {3, 4, 5, 8};
  pthread_t threads[THREADS];
  long wrong = number() < 0;
  float one = 1, result;
  mm_flat(1, 1, 1, &one, &one, &result);
  for (int t = 0; t < THREADS; t++)
    pthread_create(&threads[t], NULL, work, &n[t]);
  for (int t = 0; t < THREADS; t++) {
    void *found;
    pthread_join(threads[t], &found);
    wrong += (long)found;
  }
  if (wrong)
    printf("%ld wrong\\n", wrong);
  else
    puts("same");
  return 0;
}
"""
    )
    app = project(tmp_path, "mm_flat").build(text, "-pthread")
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


# ---------------------------------------------------------------- running on the host instead

FALLS_BACK = "loopxform: mm.c:3: mm: {why}; running the loops on the host\n"


def test_overlapping_arrays_run_as_c(tmp_path: Path) -> None:
    """C starts inside A, or ends inside B: the user's loops define what that means."""
    text = (
        preamble("mm")
        + """
int main(void)
{
  enum { N = 20, SIZE = 4 * N * N };
  static float first[SIZE], second[SIZE];
  const int shift[3][3] = {{0, 2 * N * N, 7}, {0, 2 * N * N, 3 * N * N - 1}, {0, N * N, 0}};
  for (int s = 0; s < 3; s++) {
    for (int n = 0; n < SIZE; n++)
      first[n] = second[n] = (number() - 5) * 0.0625f;
    const int *at = shift[s];
    user_mm(N, N, N, (void *)(first + at[0]), (void *)(first + at[1]), (void *)(first + at[2]));
    mm(N, N, N, (void *)(second + at[0]), (void *)(second + at[1]), (void *)(second + at[2]));
    if (memcmp(first, second, sizeof first) != 0)
      return printf("differs at %d\\n", s), 1;
  }
  puts("same");
  return 0;
}
"""
    )
    app = project(tmp_path, "mm").build(text)
    why = [FALLS_BACK.format(why=f"{x} and C overlap") for x in "ABA"]
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"), "".join(why))
    assert_same(run_app(app))
    assert_same(run_app(app, LOOPXFORM_VERBOSE="0"))


def test_without_a_device(tmp_path: Path) -> None:
    """Told of each call, and only where wanted."""
    sizes = [sizes_of("mm", *s) for s in ((5, 6, 7), (9, 9, 9))]
    app = project(tmp_path, "mm").build(caller("mm", *sizes))
    empty = tmp_path / "vendors"
    empty.mkdir()
    assert_same(run_app(app, OCL_ICD_VENDORS=str(empty)))
    done = run_app(app, OCL_ICD_VENDORS=str(empty), LOOPXFORM_VERBOSE="1")
    why = ("clGetPlatformIDs", "an earlier call of OpenCL")
    failed = [f"{call} failed: CL_PLATFORM_NOT_FOUND_KHR (-1001)" for call in why]
    assert_same(done, "".join(FALLS_BACK.format(why=x) for x in failed))


def test_with_a_device_that_is_not_there(tmp_path: Path) -> None:
    app = project(tmp_path, "mm").build(caller("mm", sizes_of("mm", 5, 6, 7)))
    done = run_app(app, LOOPXFORM_VERBOSE="1", LOOPXFORM_DEVICE="no such device")
    assert_same(done, FALLS_BACK.format(why="no OpenCL device"))


QUIET = """
static int next[512], head[64], key[512];
void bytes(int *a, unsigned char n) { for (unsigned char i = 0; i < n; i++) a[i] += 3; }
void shorts(int *a, short n) { for (short i = n; i > 0; i--) a[i - 1]++; }
void chains(int n)
{
  for (int b = 0; b < 64; b++)
    head[b] = -1;
  for (int i = 0; i < n; i++) {
    int b = key[i] & 63;
    next[i] = head[b];
    head[b] = i;
  }
}
typedef enum { PLAIN, HALF, UNIT, SQUARE, SIGN, LAST } shape;
void bend(const float *x, int n, shape s, float *y)
{
  for (int i = 0; i < n; i++)
    y[i] *= s == PLAIN ? x[i] : s == HALF ? x[i] / 2 : s == SQUARE ? x[i] * x[i]
            : s == SIGN ? -x[i] : 1;
}
"""


def test_types_and_constants_that_compilers_warn_of(tmp_path: Path) -> None:
    """Sizes of narrow types, which are far from the end of int, arrays of a constant size that the
    host works on, and conditions that no number of an unsigned type fails."""
    file = tmp_path / "quiet.c"
    file.write_text(QUIET)
    lx.load(file).offload().write(tmp_path)
    assert "lx_by_host_chains" in (tmp_path / "quiet_opencl.c").read_text()
    built = cc(tmp_path, *STRICT, *PLAIN, "-c", "quiet_opencl.c")
    assert built.returncode == 0, built.stderr


def test_a_tile_that_no_device_has_room_for(tmp_path: Path) -> None:
    """64 MiB of local memory, over which PoCL would end the process."""
    app = project(tmp_path, "mm", Tiles(4, 4, 1 << 20, 2, 2)).build(
        caller("mm", sizes_of("mm", 5, 6, 7))
    )
    done = run_app(app, LOOPXFORM_VERBOSE="1")
    why = "the device has too little local memory, too small groups, or no double"
    assert_same(done, FALLS_BACK.format(why=why))


# ---------------------------------------------------------------- the device recipe, the header


def test_arrays_that_are_on_the_device(tmp_path: Path) -> None:
    """In a context of the caller; twice, and once more after the drop-in has built its own."""
    text = (
        """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
"""
        + preamble("mm")
        + """
int main(void)
{
  enum { M = 21, U = 13, N = 10 };
  static float a[M][U], b[U][N], c[M][N], expected[M][N];
  cl_platform_id platform;
  cl_device_id device;
  cl_mem A, B, C;
  for (int n = 0; n < M * U; n++) a[n / U][n % U] = number() * 0.37f;
  for (int n = 0; n < U * N; n++) b[n / N][n % N] = number() * 0.37f;
  user_mm(M, U, N, a, b, expected);
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  A = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL);
  B = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof b, b, NULL);
  C = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof c, c, NULL);
  for (int turn = 0; turn < 3; turn++) {
    if (turn == 2)
      mm(M, U, N, a, b, c);
    memset(c, 0, sizeof c);
    clEnqueueWriteBuffer(queue, C, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL);
    if (mm_cl(queue, M, U, N, A, B, C) != CL_SUCCESS)
      return puts("failed"), 1;
    clEnqueueReadBuffer(queue, C, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL);
    if (memcmp(c, expected, sizeof c) != 0)
      return puts("differs"), 1;
  }
  if (mm_cl(queue, M, U, N, A, C, C) != CL_MEM_COPY_OVERLAP)
    return puts("an overlap is not seen"), 1;
  if (mm_cl(queue, 0, U, N, A, B, C) != CL_SUCCESS)
    return puts("nothing to do is not a failure"), 1;
  if (mm_cl(NULL, M, U, N, A, B, C) == CL_SUCCESS)
    return puts("a missing queue is not seen"), 1;
  loopxform_release();
  memset(c, 0, sizeof c);
  mm(M, U, N, a, b, c);
  puts(memcmp(c, expected, sizeof c) == 0 ? "same" : "differs");
  loopxform_release();
  return 0;
}
"""
    )
    assert_same(run_app(project(tmp_path, "mm").build(text), LOOPXFORM_VERBOSE="1"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("name", ["mm", "mm_bool_and", "mm_flat", "batched", "mm_macro", "mm_c89"])
def test_the_header_in_cpp(tmp_path: Path, name: str) -> None:
    made = project(tmp_path, name)
    include = f'#include "{name}_opencl.h"\n'
    opencl = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
    text = f"{opencl}{include}{include}void *f = (void *)&{name}_cl; void *g = (void *)&{name};\n"
    for number, body in enumerate([include, text]):
        (made.folder / f"{number}.cpp").write_text(body)
        command = ["g++", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]
        done = subprocess.run(
            [*command, f"{number}.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_static_objects_are_out_of_reach() -> None:
    text = """static float A[8][8], B[8][8]; float C[8][8];
void f(void) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { float acc = 0;
  for (int k = 0; k < 8; k++) acc += A[i][k] * B[k][j]; C[i][j] = acc; } }"""
    derivation = tile(parse_file("f.c", text=text).unit.functions[0], TILES).derivation
    for write in (emit.opencl, emit.openmp):
        with pytest.raises(EmitError, match="'A' is static"):
            write(derivation, stem="f", origin="f.c", version="test")


TABLES = """
#include <math.h>
#define SCALE (1.0f / 4)
static const int w[2][3] = {{1, -2, 3}, {4}};
enum { HALF = 2 };
static const float by[] = {SCALE, [1] = 0x1p-3f, 1 / INFINITY}, offset = 1.f / HALF;
void f(int n, int rows, const int at[n], float x[rows][3], float y[n])
{
  for (int i = 0; i < n; i++) {
    float s = offset;
    for (int k = 0; k < 3; k++)
      s += by[0] * w[0][k] * x[at[i]][k] + by[1] * w[1][k] + by[2];
    y[i] = s;
  }
}
"""
CALLER = """
#define f user_f
#include "f.c"
#undef f
#include "f_opencl.h"
#include <string.h>
int main(void)
{
  int at[40]; float x[7][3], y[40] = {0}, z[40] = {1};
  for (int i = 0; i < 40; i++) at[i] = i * 3 % 7;
  for (int i = 0; i < 7; i++) for (int k = 0; k < 3; k++) x[i][k] = i + k * .25f;
  user_f(40, 7, at, x, y);
  f(40, 7, at, x, z);
  return memcmp(y, z, sizeof y) != 0;
}
"""


def test_tables_of_numbers_come_along(tmp_path: Path) -> None:
    """And `f_cl` takes `rows`, which no loop mentions, to know whether x is touched."""
    derivation = tile(parse_file("f.c", text=TABLES).unit.functions[0], TILES).derivation
    made = emit.opencl(derivation, stem="f", origin="f.c", version="test", fp=SEPARATE)
    for file, text in {**made.files, "f.c": TABLES, "main.c": CALLER}.items():
        (tmp_path / file).write_text(text)
    assert "int f_cl(cl_command_queue lx_queue, int n, int rows," in made.files["f_opencl.h"]
    built = cc(tmp_path, *STRICT, *PLAIN, "f_opencl.c", "main.c", "-o", "app", "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    done = run_app(tmp_path / "app", LOOPXFORM_VERBOSE="1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("table", ["float w[4]", "const float w[4] = {g}", "const float w[4]"])
def test_other_static_objects_do_not(table: str) -> None:
    text = f"const int g; static {table};"
    text += "void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = w[i % 4]; }"
    (fn,) = parse_file("f.c", text=text).unit.functions
    with pytest.raises(EmitError, match="'w' is static"):
        emit.kernel(tile(fn, TILES).derivation)


@pytest.mark.oclgrind
def test_the_drop_in_under_the_simulator(tmp_path: Path) -> None:
    """The whole path: buffers have the exact size, the launch covers every element once."""
    app = project(tmp_path, "mm").build(caller("mm", sizes_of("mm", 11, 7, 9)))
    report = run_under_oclgrind([str(app)])
    assert report.clean, report.findings[0]
    assert report.counts["lx_mm"].stores["global"].count == 11 * 9
