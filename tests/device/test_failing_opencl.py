"""Written programs where OpenCL fails: whichever call it is, once or from then on, the result is
that of the user's C, and no object of OpenCL stays behind. All of it under the sanitizers for
addresses, leaks and undefined behaviour."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from c_project import (
    PLAIN,
    SANITIZED,
    STRICT,
    cc,
    checks_of,
    preamble_of,
    project_of,
    require_opencl,
    run_app,
)
from harness import CORPUS, given, sizes_of, tiled

import loopxform as lx
from loopxform.codegen.host import runtime
from loopxform.schedule.params import Tiles
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments

TILES = Tiles(4, 4, 8, 2, 2)
SHIM = Path(__file__).with_name("failing_opencl.c")
WRAPPED = re.findall(
    r"\b(?:ASK|HOLD|RELEASE|MAKE)\((cl\w+)|\bfailing_((?:cl[A-Z]|[a-z]*alloc)\w*)\(",
    SHIM.read_text(),
)
NAMES = sorted({a or b for a, b in WRAPPED} - {"name"})

LIBRARIES = ["-lOpenCL", "-lm"]
DRIVERS = ["libpocl", "libLLVM", "libclang", "libhwloc", "libOpenCL", "ld-linux"]
"""Whose leaks are not ours: the objects that they hold for us are counted by the shim."""

SHIMMED = """
void failing_start(long from, long to), failing_limits(long most, int width);
void failing_maker(int id, int major);
const char *failing_options(void);
long failing_calls(void), failing_live(void), failing_launches(void);
long failing_copies(void);
void failing_late(long bytes);
long failing_late_writes(void), failing_early_writes(void);
"""

FAILING = """
static int fail(const char *what, long from, long to)
{
  return printf("%s: calls %ld to %ld fail\\n", what, from, to), 1;
}

int main(void)
{
  for (int forever = 0; forever < 2; forever++)
    for (long from = 1;; from++) {
      const long to = forever ? 1000000 : from;
      failing_start(from, to);
      if (differs())
        return fail("differs", from, to);
      if (failing_calls() < from) {
        loopxform_release();
        if (failing_live() != 0 || failing_launches() == 0)
          return fail("at the end", from, to);
        printf("%ld calls\\n", failing_calls());
        break;
      }
      failing_start(1, 0);
      if (differs())
        return fail("differs later", from, to);
      loopxform_release();
      if (failing_live() != 0)
        return fail("leaves something behind", from, to);
    }
  return 0;
}
"""


ON_BUFFERS = """
int main(void)
{
  enum { M = 9, U = 7, N = 11 };
  static float a[M][U], b[U][N], c[M][N], expected[M][N];
  cl_platform_id platform;
  cl_device_id device;
  for (int n = 0; n < M * U; n++) a[n / U][n % U] = number() * 0.37f;
  for (int n = 0; n < U * N; n++) b[n / N][n % N] = number() * 0.37f;
  user_mm(M, U, N, a, b, expected);
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem A = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL);
  cl_mem B = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof b, b, NULL);
  cl_mem C = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof c, c, NULL);
  long from = 0;
  do {
    failing_start(++from, from);
    const int status = mm_cl(queue, M, U, N, A, B, C);
    clEnqueueReadBuffer(queue, C, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL);
    if (status == CL_SUCCESS && memcmp(c, expected, sizeof c) != 0)
      return printf("call %ld: differs\\n", from), 1;
    if (failing_calls() >= from)
      loopxform_release();
    if (failing_calls() >= from && failing_live() != 0)
      return printf("call %ld: leaves something behind\\n", from), 1;
  } while (failing_calls() >= from);
  failing_start(1, 0);
  if (mm_cl(queue, M, U, N, A, B, C) != CL_SUCCESS || failing_calls() > 20)
    return puts("the program is built anew"), 1;
  loopxform_release();
  if (failing_live() != 0)
    return puts("leaves something behind"), 1;
  clReleaseMemObject(A), clReleaseMemObject(B), clReleaseMemObject(C);
  clReleaseCommandQueue(queue), clReleaseContext(context);
  printf("%ld calls\\n", from);
  return 0;
}
"""


def run_it(app: Path, *args: object, **more: str) -> subprocess.CompletedProcess[str]:
    file = app.parent / "drivers"
    file.write_text("".join(f"leak:{name}\n" for name in DRIVERS))
    options = f"suppressions={file}:print_suppressions=0"
    return run_app(app, *args, LSAN_OPTIONS=options, **more)


SPLICED = """
static double tab[8];

static double sum(int n, const double *x)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i];
  return s;
}

double work(int n, double x[n], double y[n])
{
  if (n < 2)
    return -1;
  for (int i = 0; i < 8; i++)
    tab[i] = i * 0.5;
  for (int i = 1; i < n - 1; i++)
    y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3 + tab[i % 8];
  const double s = sum(n, y);
  for (int i = 0; i < n; i++)
    x[i] = y[i] * s;
  return s;
}
"""

ROWS = """
double work(int n, double **a, double *const *b)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 0.5 + b[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] += b[j][i];
  return a[0][0];
}
"""
BY_ROWS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "work_opencl.h"
enum { N = 6 };
double work(int n, double **a, double *const *b), user_work(int n, double **a, double *const *b);

static int differs(void)
{
  double data[2][2][N][N], *rows[2][2][N];
  for (int n = 0; n < 4 * N * N; n++)
    (&data[0][0][0][0])[n] = n % (2 * N * N) * 0.37;
  for (int n = 0; n < 4 * N; n++)
    (&rows[0][0][0])[n] = data[n / (2 * N)][n / N % 2][n % N];
  return work(N, rows[0][0], rows[0][1]) != user_work(N, rows[1][0], rows[1][1]) ||
         memcmp(data[0], data[1], sizeof data[0]) != 0;
}
"""

IN_ORDER = """
double work(int n, double x[n], double y[n])
{
  for (int i = 0; i < n; i++)
    y[i] = x[i] * 0.5 + y[i];
  for (int i = 1; i < n; i++)
    x[i] = x[i] * y[i] + x[i - 1] / (1 + y[i - 1] * x[i - 1]);
  for (int i = 0; i < n; i++)
    y[i] = x[i] - y[i];
  return 1;
}
"""

COMPARED = """
#include <stdio.h>
#include <string.h>
#include "work_opencl.h"
enum { N = 100 };
double work(int n, double x[n], double y[n]), user_work(int n, double x[n], double y[n]);

static int differs(void)
{
  static double x[2][N], y[2][N];
  for (int n = 0; n < N; n++) {
    x[0][n] = x[1][n] = n * 0.37;
    y[0][n] = y[1][n] = 3 - n * 0.11;
  }
  return work(N, x[0], y[0]) != user_work(N, x[1], y[1]) || memcmp(x[0], x[1], sizeof x[0]) != 0 ||
         memcmp(y[0], y[1], sizeof y[0]) != 0;
}
"""


def build(
    folder: Path,
    derivation: Derivation,
    source: Path,
    caller: str,
    copies: Mapping[str, int] | None = None,
) -> Path:
    """The program; its written file calls the shim, and has other sizes of `copies`. Where the
    user's loops allocate memory, it does not fail: they cannot go on without."""
    name = derivation.start.name
    project_of(folder, derivation, source)
    redefine(folder / f"{name}_opencl.c", copies or {})
    allocates = "abort()" in (folder / f"{name}_opencl.c").read_text()
    return link(folder, name, caller, [n for n in NAMES if not (allocates and n.endswith("alloc"))])


def redefine(written: Path, numbers: Mapping[str, int]) -> None:
    """Sizes of copies, in place of those for large arrays."""
    text = written.read_text()
    for name, number in numbers.items():
        text, changed = re.subn(rf"#define {name} .*", f"#define {name} {number}", text)
        assert changed == 1
    written.write_text(text)


def shim_threads(written: Path) -> None:
    """Threads of its own may not start either."""
    written.write_text(written.read_text().replace('"pthread_create"', '"failing_pthread_create"'))


PIECES = {
    "LX_PIECES_FROM": 1,
    "LX_PIECE_BYTES": 64,
    "LX_LEAST_PIECE": 64,
    "LX_COPIERS": 3,
    "LX_PIN_FROM": 1,
}
LENT = {"LX_LENT_FROM": 1}


def link(folder: Path, name: str, caller: str, shimmed: list[str]) -> Path:
    shim_threads(folder / f"{name}_opencl.c")
    (folder / "caller.c").write_text(caller)
    renamed = [f"-D{n}=failing_{n}" for n in shimmed]
    parts = ["written.o", "user.o", "caller.c", str(SHIM)]
    steps = (
        [*STRICT, *PLAIN, *SANITIZED, *renamed, "-c", f"{name}_opencl.c", "-o", "written.o"],
        [*PLAIN, *SANITIZED, *parts, "-o", "app", *LIBRARIES],
    )
    for step in steps:
        done = cc(folder, *step)
        assert done.returncode == 0, done.stderr
    return folder / "app"


def test_the_shim_is_in_front_of_every_call() -> None:
    every = {"tuned": True, "asks_warp": True, "has_matrices": True}
    every |= {"has_loops_in_order": True, "shares": True}
    text = runtime.text("test", **every) + (SHIM.parents[2] / "templates/entry.c.j2").read_text()
    assert set(re.findall(r"\b(cl[A-Z]\w*|[a-z]*alloc)\(", text)) == set(NAMES)


@pytest.mark.parametrize("name", ["gemm", pytest.param("batched", marks=pytest.mark.slow)])
def test_a_tiled_nest(tmp_path: Path, name: str) -> None:
    """Its program is on disk from the first run on."""
    require_opencl()
    done = tiled(name, TILES).derivation
    args = given(name, sizes_of(name, 9, 7, 11), 1)
    caller = checks_of(done.start, args) + SHIMMED + FAILING
    app, cache = build(tmp_path, done, CORPUS / f"{name}.c", caller), tmp_path / "cache"
    judge(run_it(app, LOOPXFORM_CACHE=str(cache)), 30)
    assert list((cache / "programs").iterdir())


@pytest.mark.parametrize(
    ("name", "copies", "how"),
    [
        pytest.param("mm", PIECES, "pieces", marks=pytest.mark.slow),
        pytest.param(
            "gemm",
            PIECES | {"LX_PIECE_BYTES": 128, "LX_LEAST_PIECE": 128},
            "pieces",
            marks=pytest.mark.slow,
        ),
        ("gemm", LENT, ""),
    ],
)
def test_copies(tmp_path: Path, name: str, copies: dict[str, int], how: str) -> None:
    """In pieces by threads, which may not start; on the caller's memory, which is as it was."""
    require_opencl()
    done = tiled(name, TILES).derivation
    args = given(name, sizes_of(name, 9, 7, 11), 1)
    caller = checks_of(done.start, args) + SHIMMED + FAILING
    app = build(tmp_path, done, CORPUS / f"{name}.c", caller, copies)
    judge(run_it(app, LOOPXFORM_COPIES=how), 30)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("two_products", {"n": 9, "m": 10, "k": 5, "l": 6, "alpha": 1.5, "beta": 0.7}),
        ("cholesky_right", {"n": 4}),
        ("converging", {"n": 4, "most": 2, "small": 0.1}),
    ],
)
@pytest.mark.slow
def test_a_whole_function(tmp_path: Path, name: str, sizes: dict[str, int | float]) -> None:
    require_opencl()
    file = CORPUS / "programs" / f"{name}.c"
    done = lx.load(file)[name].offload(contract=False).derivation
    caller = checks_of(done.start, arguments(done.start, sizes, 1)) + SHIMMED + FAILING
    judge(run_it(build(tmp_path, done, file, caller)), 40)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "caller", "where"),
    [
        pytest.param(SPLICED, COMPARED, "never", id="regions"),
        pytest.param(ROWS, BY_ROWS, "never", id="rows"),
        pytest.param(IN_ORDER, COMPARED, "parts", id="in order"),
    ],
)
def test_a_file(tmp_path: Path, text: str, caller: str, where: str) -> None:
    """Some of the user's own statements run between its parts, and see what they left; matrices lie
    behind pointers to rows; the host runs what one work-item would do."""
    require_opencl()
    file = tmp_path / "work.c"
    file.write_text(text)
    lx.load(file).offload(contract=False).write(tmp_path)
    user = [*PLAIN, "-c", "-Dwork=user_work", "work.c", "-o", "user.o"]
    assert cc(tmp_path, *user).returncode == 0
    app = link(tmp_path, "work", caller + SHIMMED + FAILING, NAMES)
    judge(run_it(app, LOOPXFORM_HOST=where), 30)


def test_buffers_that_are_on_the_device(tmp_path: Path) -> None:
    """The caller's context, and the program that was built for it, are let go."""
    require_opencl()
    done = tiled("mm", TILES).derivation
    head = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
    caller = head + preamble_of(done.start) + SHIMMED + ON_BUFFERS
    found = run_it(build(tmp_path, done, CORPUS / "mm.c", caller))
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


ASKED = """
int main(int argc, char **argv)
{
  if (argc != 4) return 3;
  const long first = atol(argv[2]), second = atol(argv[3]);
  if (*argv[1] == 'l') failing_limits(first, (int)second);
  if (*argv[1] == 's') failing_start(first, second);
  if (*argv[1] == 'm') failing_maker((int)first, (int)second);
  const int found = differs() || differs();
  if (*argv[1] == 'm') puts(failing_options());
  loopxform_release();
  return found || failing_live() != 0;
}
"""
"""Twice a product, with what the arguments say of OpenCL: limits, start or maker."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    done = tiled("mm", TILES).derivation
    args = given("mm", sizes_of("mm", 9, 7, 11), 1)
    caller = checks_of(done.start, args) + SHIMMED + ASKED
    return build(tmp_path_factory.mktemp("product"), done, CORPUS / "mm.c", caller)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (("limits", 100, 64), ["an array is larger than the device allocates"] * 2),
        (("limits", 1 << 30, 3), ["there are more work-items than the device counts"] * 2),
        (
            ("start", 1, 1),
            [
                f"{call} failed: CL_OUT_OF_RESOURCES (-5)"
                for call in ("clGetPlatformIDs", "an earlier call of OpenCL")
            ],
        ),
    ],
)
def test_why_is_said(product: Path, limits: tuple[str, int, int], why: list[str]) -> None:
    """Of both calls, with the place in the user's file."""
    expected = [f"loopxform: mm.c:3: mm: {x}; running the loops on the host" for x in why]
    found = run_it(product, *limits, LOOPXFORM_VERBOSE="1")
    assert (found.returncode, found.stderr.splitlines()) == (0, expected)


@pytest.mark.parametrize(
    ("maker", "capability", "copies"),
    [(0x10DE, 8, True), (0x10DE, 9, True), (0x10DE, 7, False), (0x1002, 9, False)],
)
def test_asynchronous_copies_are_for_devices_that_make_them(
    product: Path, maker: int, capability: int, copies: bool
) -> None:
    """NVIDIA's, from compute capability 8.0 on. (This program has none.)"""
    found = run_it(product, "maker", maker, capability)
    assert (found.returncode, found.stderr) == (0, "")
    assert ("-DLX_ASYNC" in found.stdout.split()) == copies


def judge(done: subprocess.CompletedProcess[str], least: int) -> None:
    """So many calls of OpenCL, each of which failed twice."""
    found = [int(n) for n in re.findall(r"(\d+) calls", done.stdout)]
    assert (done.returncode, done.stderr, len(found)) == (0, "", 2), done.stdout
    assert min(found) >= least
