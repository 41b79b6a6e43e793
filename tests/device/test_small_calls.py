"""The user's loops are a version: written C leaves to them the calls that they have done sooner
than a device would have."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx
from loopxform.codegen.host import runtime

ADD = """
#include <math.h>
void add(int n, const float *restrict a, float *restrict b)
{
  for (int i = 0; i < n; i++)
    b[i] += sqrtf(a[i]);
}
"""
MAIN = """
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
void add(int n, const float *restrict a, float *restrict b);
int loopxform_device(const char *name);
int main(int count, char **words)
{
  const int n = atoi(words[1]), calls = atoi(words[2]);
  float *a = malloc(sizeof(float) * (size_t)n), *b = calloc((size_t)n, sizeof(float));
  int wrong = 0;
  for (int i = 0; i < n; i++)
    a[i] = (float)(i % 7 * (i % 7));
  for (int c = 0; c < calls; c++) {
    errno = 0;
    add(n, a, b);
    wrong += errno != 0;
    wrong += count > 3 && !loopxform_device(words[3]);
  }
  for (int i = 0; i < n; i++)
    wrong += b[i] != (float)calls * (float)(i % 7);
  free(a), free(b);
  return printf("%d wrong\\n", wrong), wrong != 0;
}
"""
SHIM = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>
cl_int own_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *a,
                                  const size_t *b, const size_t *c, cl_uint m, const cl_event *e,
                                  cl_event *f)
{
  char name[64] = "";
  clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
  fprintf(stderr, "%s\\n", strcmp(name, "lx_add") == 0 ? "launched" : "measured");
  return clEnqueueNDRangeKernel(q, k, n, a, b, c, m, e, f);
}
"""
OPERATIONS = 104
"""Of an iteration: two loads, a square root, an addition, a store."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    return built_in(tmp_path_factory.mktemp("small"))


def built_in(folder: Path, *defines: str) -> Path:
    """The program, and its `defines` in place of what its C defines."""
    for name, text in (("add.c", ADD), ("main.c", MAIN), ("shim.c", SHIM)):
        (folder / name).write_text(text)
    lx.load(folder / "add.c").offload().write(folder)
    written = folder / "add_opencl.c"
    for line in defines:
        pattern = rf"#define {line.split()[0]} .*"
        text, changed = re.subn(pattern, f"#define {line}", written.read_text())
        assert changed == 1
        written.write_text(text)
    own = "-DclEnqueueNDRangeKernel=own_clEnqueueNDRangeKernel"
    assert cc(folder, *PLAIN, "-c", own, "add_opencl.c").returncode == 0
    files = ["add_opencl.o", "shim.c", "main.c", "-o", "app"]
    built = cc(folder, *STRICT, *PLAIN, *files, "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    return folder / "app"


def rates_file(
    cache: Path, build: float = 1e-4, key: int = 1, device: str = "", warp: int = 1
) -> None:
    """What a process may have measured of the device that LOOPXFORM_DEVICE asks for: one that
    launches and copies in no time."""
    find, launch, copy, byte, item, many = 1e-4, 1e-6, 1e-7, 1e-15, 1e-15, 1e-18
    body = struct.pack("<7dQQ", find, build, launch, copy, byte, item, many, key, warp)
    head = f"rates {runtime.LAYOUT}\n{device}".encode()
    (cache / "programs").mkdir(parents=True)
    (cache / "programs" / f"{fnv_1a(head):016x}").write_bytes(
        head + struct.pack("<Q", fnv_1a(body)) + body
    )


def assert_measured(cache: Path, before: int) -> None:
    """The rates are those of a device, and no longer those of the key `before`."""
    kept = [x.read_bytes() for x in (cache / "programs").iterdir()]
    (rates,) = (struct.unpack("<7dQQ", x[-72:]) for x in kept if x.startswith(b"rates"))
    assert rates[-2] != before
    assert rates[-1] == 1  # work-items in lockstep, on a CPU
    assert all(0 < x < 100 for x in rates[:-2]), rates


def fnv_1a(data: bytes) -> int:
    found = 14695981039346656037
    for byte in data:
        found = (found ^ byte) * 1099511628211 % 2**64
    return found


@pytest.mark.parametrize(("n", "calls"), [(1000, 1), (1000, 50), (2_000_000, 3)])
def test_what_the_host_has_done_before_a_device_begins(app: Path, n: int, calls: int) -> None:
    done = run_app(app, n, calls, LOOPXFORM_HOST="", LOOPXFORM_VERBOSE="1")
    assert done.stdout == "0 wrong\n"
    said = (
        f"add.c:3: add: on the host, done before a device begins ({OPERATIONS * n:.3g} operations)"
    )
    lines = done.stderr.splitlines()
    assert [said in line for line in lines] == [True] * calls


@pytest.mark.parametrize(
    ("said", "n", "calls", "launches"),
    [
        ("never", 10, 3, 3),
        ("always", 20_000_000, 2, 0),
        (str(OPERATIONS * 1000), 999, 2, 0),
        (str(OPERATIONS * 1000), 1000, 2, 2),
        ("0", 10, 1, 1),
    ],
)
def test_what_the_user_asks_for(app: Path, said: str, n: int, calls: int, launches: int) -> None:
    done = run_app(app, n, calls, LOOPXFORM_HOST=said)
    assert (done.stdout, done.stderr) == ("0 wrong\n", "launched\n" * launches)
    told = run_app(app, n, calls, LOOPXFORM_HOST=said, LOOPXFORM_VERBOSE="1").stderr
    asked = f"on the host, as was asked for ({OPERATIONS * n:.3g} operations)\n"
    assert told.count(asked) == calls - launches


@pytest.mark.parametrize("said", ["-1", "sometimes", "1e3x", "nan"])
def test_what_is_no_wish_is_said_and_ignored(app: Path, said: str) -> None:
    done = run_app(app, 10, 1, LOOPXFORM_HOST=said)
    expected = f"LOOPXFORM_HOST={said}: not always, never, parts or a number of operations\n"
    assert (done.stdout, done.stderr) == ("0 wrong\n", f"loopxform: {expected}")


def test_a_device_is_measured_where_its_rates_are_not_its_own(app: Path, tmp_path: Path) -> None:
    """The file says of another device that it is quick: a call begins, measures this one, and
    keeps the rates. The next process knows them, and starts nothing."""
    rates_file(tmp_path)
    n = 5_000_000
    cache = {"LOOPXFORM_CACHE": str(tmp_path), "LOOPXFORM_HOST": ""}
    first = run_app(app, n, 2, LOOPXFORM_VERBOSE="1", **cache)
    assert first.stdout == "0 wrong\n"
    assert 0 < first.stderr.count("measured") < 400
    assert_measured(tmp_path, 1)
    again = run_app(app, n, 2, LOOPXFORM_VERBOSE="1", **cache)
    assert again.stdout == "0 wrong\n"
    assert "measured" not in again.stderr
    pattern = (
        r"s on the host, \S+ s on the device \(launches: 1, bytes: \d+\), "
        r"\S+ s until it begins \(5.2e\+08 operations\)"
    )
    lines = [x for x in again.stderr.splitlines() if "on the host: " in x]
    assert all(re.search(pattern, x) for x in lines)
    assert len(lines) + again.stderr.count("launched") == 2


def test_a_device_is_measured_before_anything_is_built_for_it(tmp_path: Path) -> None:
    """Nobody has measured it, and that costs nothing here. However long builds may take, they are
    waited for only with its own rates, and a call of some milliseconds is not worth one."""
    require_opencl()
    rates_file(tmp_path, build=1e6, key=0)
    quick = built_in(tmp_path, "LX_MEASURING 1e-9")
    cache = {"LOOPXFORM_CACHE": str(tmp_path), "LOOPXFORM_HOST": ""}
    done = run_app(quick, 5_000_000, 1, LOOPXFORM_VERBOSE="1", **cache)
    assert done.stdout == "0 wrong\n"
    assert "the host is sooner than this device; running the loops on the host" in done.stderr
    assert "measured" in done.stderr
    assert "launched" not in done.stderr
    assert_measured(tmp_path, 0)


@pytest.mark.parametrize(
    "damage", [lambda x: x[:-1], lambda x: x[:-9] + b"!" + x[-8:], bytes.upper]
)
def test_a_damaged_file_says_nothing(app: Path, tmp_path: Path, damage: object) -> None:
    rates_file(tmp_path)
    (kept,) = (tmp_path / "programs").iterdir()
    assert callable(damage)
    kept.write_bytes(damage(kept.read_bytes()))
    cache = {"LOOPXFORM_CACHE": str(tmp_path), "LOOPXFORM_HOST": ""}
    done = run_app(app, 15_000_000, 1, LOOPXFORM_VERBOSE="1", **cache)
    assert done.stdout == "0 wrong\n"
    assert "measured" not in done.stderr  # of a device that nobody knows one call is not enough


def test_errno_stays_where_no_rates_are_kept(app: Path, tmp_path: Path) -> None:
    cache = {"LOOPXFORM_CACHE": str(tmp_path), "LOOPXFORM_HOST": ""}
    done = run_app(app, 5_000_000, 1, LOOPXFORM_VERBOSE="1", **cache)
    assert "on the host: " in done.stderr
    assert done.stdout == "0 wrong\n"


def test_without_a_device_each_call_says_so(app: Path, tmp_path: Path) -> None:
    """The first asks for one, as what was measured of it says that it is quick."""
    rates_file(tmp_path, device="none")
    none = {"LOOPXFORM_DEVICE": "none", "LOOPXFORM_CACHE": str(tmp_path), "LOOPXFORM_HOST": ""}
    done = run_app(app, 5_000_000, 3, LOOPXFORM_VERBOSE="1", **none)
    assert done.stdout == "0 wrong\n"
    first, *others = done.stderr.splitlines()
    assert "no OpenCL device; running the loops on the host" in first
    assert len(others) == 2
    assert all("on the host, as there is no device (5.2e+08 operations)" in x for x in others)
    chosen = run_app(app, 5_000_000, 3, "", LOOPXFORM_VERBOSE="1", **none)
    assert chosen.stdout == "0 wrong\n"
    assert "as there is no device" not in chosen.stderr


def test_silent_unless_asked(app: Path) -> None:
    assert run_app(app, 10, 1, LOOPXFORM_HOST="").stderr == ""


def test_a_tuned_limit(tmp_path: Path) -> None:
    """`add.host` of add.tuning: in the written C, and the environment goes before it."""
    from loopxform.__main__ import main

    (tmp_path / "add.c").write_text(ADD)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "add.tuning").write_text(f"add.host={OPERATIONS * 1000}\n")
    for command in ("offload", "tile"):
        folder = tmp_path / command
        assert main([command, str(tmp_path / "add.c"), "-o", str(folder), "--quiet"]) == 0
        files = [f"{command}/add_opencl.c", "main.c", "-o", "app"]
        built = cc(tmp_path, *STRICT, *PLAIN, *files, "-lOpenCL", "-lm")
        assert built.returncode == 0, built.stderr
        told = {"LOOPXFORM_VERBOSE": "1"}
        small = run_app(tmp_path / "app", 999, 1, LOOPXFORM_HOST="", **told)
        assert "on the host, as was asked for" in small.stderr
        assert run_app(tmp_path / "app", 1000, 1, LOOPXFORM_HOST="", **told).stderr == ""
        assert run_app(tmp_path / "app", 999, 1, **told).stderr == ""


# ---------------------------------------------------------------- kernels for lockstep

HEAT = """
void heat(int steps, int n, double a[restrict n][n][n], double b[restrict n][n][n])
{
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          b[i][j][k] = 0.125 * (a[i + 1][j][k] + a[i - 1][j][k]) + 0.75 * a[i][j][k];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[i][j][k] = 0.125 * (b[i + 1][j][k] + b[i - 1][j][k]) + 0.75 * b[i][j][k];
  }
}
"""
HEAT_MAIN = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
enum { N = 48 };
static double a[N][N][N], b[N][N][N];
void heat(int steps, int n, double a[restrict n][n][n], double b[restrict n][n][n]);
cl_int own_clGetPlatformIDs(cl_uint n, cl_platform_id *ids, cl_uint *count)
{
  fprintf(stderr, "found\\n");
  return clGetPlatformIDs(n, ids, count);
}
int main(void)
{
  for (int i = 0; i < N * N * N; i++)
    (&a[0][0][0])[i] = i % 5;
  heat(200, N, a, b);
  for (int i = 0; i < N * N * N; i++)
    b[0][0][0] += (&a[0][0][0])[i];
  return printf("%.17g\\n", b[0][0][0]) < 0;
}
"""


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    folder = tmp_path_factory.mktemp("heat")
    for name, text in (("heat.c", HEAT), ("main.c", HEAT_MAIN)):
        (folder / name).write_text(text)
    lx.load(folder / "heat.c").offload(contract=False).write(folder)
    assert "1 < lx_device_warp()" in (folder / "heat_opencl.c").read_text()
    own = "-DclGetPlatformIDs=own_clGetPlatformIDs"
    assert cc(folder, *PLAIN, "-c", own, "heat_opencl.c").returncode == 0
    built = cc(folder, *STRICT, *PLAIN, "heat_opencl.o", "main.c", "-o", "app", "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    return folder / "app"


def test_no_device_is_found_to_weigh_up_a_call(heat: Path, tmp_path: Path) -> None:
    """That takes longer than many a call: what runs in lockstep is supposed, as rates are."""
    (tmp_path / "none").mkdir()
    plain = run_app(heat, LOOPXFORM_HOST="", LOOPXFORM_CACHE=str(tmp_path / "none"))
    assert "found" not in plain.stderr
    forced = run_app(heat, LOOPXFORM_HOST="never")
    assert "found" in forced.stderr
    assert forced.stdout == plain.stdout


def test_a_device_of_another_kind_than_was_supposed(heat: Path, tmp_path: Path) -> None:
    """The call was weighed up with other kernels: your loops run it."""
    own = {"LOOPXFORM_HOST": "", "LOOPXFORM_VERBOSE": "1"}
    rates_file(tmp_path / "measured")
    run_app(heat, LOOPXFORM_CACHE=str(tmp_path / "measured"), **own)
    kept = [x.read_bytes() for x in (tmp_path / "measured" / "programs").iterdir()]
    (key,) = (struct.unpack("<Q", x[-16:-8])[0] for x in kept if x.startswith(b"rates"))
    assert key != 1
    plain = run_app(heat, LOOPXFORM_HOST="always").stdout
    for warp, refused in ((1, False), (32, True)):
        cache = tmp_path / str(warp)
        rates_file(cache, key=key, warp=warp)
        done = run_app(heat, LOOPXFORM_CACHE=str(cache), whole=True, **own)
        assert "found" in done.stderr
        assert ("was not known when the call was weighed up" in done.stderr) == refused
        assert ("heat: on the device" in done.stderr) != refused
        assert done.stdout == plain
