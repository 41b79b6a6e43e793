"""Launches that several devices share: results are those of the user's C whatever the sizes are,
whichever call fails, and however many threads call. The devices are PoCL's."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, STRICT, cc, require_opencl, run_app
from calling_threads import threads_calling
from test_failing_opencl import FAILING, NAMES, SHIMMED, judge, link, run_it

import loopxform as lx

TWO = {"POCL_DEVICES": "pthread pthread", "LOOPXFORM_DEVICES": "all"}
"""Both as that of a machine with PoCL alone, which the tests build programs for."""

NESTS = """
void product(int n, int m, int k, const float *restrict a, const float *restrict b,
             float *restrict c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int p = 0; p < k; p++)
        s += a[i * k + p] * b[p * m + j];
      c[i * m + j] = s;
    }
}

void inner(int n, int m, float a[restrict n][m], float b[restrict n][m])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) * 0.25f;
}

void table(int n, int m, float a[restrict n][70], float b[restrict n][70])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] += a[i][j] * 0.5f;
}

void sums(int n, int m, float a[restrict n][m], float s[restrict n])
{
  for (int i = 0; i < n; i++) {
    s[i] = 0;
    for (int j = 0; j < m; j++)
      s[i] += a[i][j];
  }
}

void steps(int n, int m, float a[restrict n][m], float b[restrict n][m])
{
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 0; j < m; j++)
        b[i][j] = (a[i - 1][j] + a[i][j] + a[i + 1][j]) * 0.3f;
    for (int i = 1; i < n - 1; i++)
      for (int j = 0; j < m; j++)
        a[i][j] += b[i][j] * 0.5f;
  }
}

void columns(int n, int m, float a[restrict n][m], float s[restrict m])
{
  for (int j = 0; j < m; j++) {
    float t = s[j];
    for (int i = 0; i < n; i++)
      t += a[i][j];
    s[j] = t;
  }
}
"""
CALLS = {
    "product": ("n, m, 5", "a, a + 7, b"),
    "inner": ("n, m", "M a, M b"),
    "table": ("n, m > 70 ? 70 : m", "M a, M b"),
    "sums": ("n, m", "M a, b"),
    "steps": ("n, m", "M a, M b"),
    "columns": ("n, m", "M a, b"),
}
SIZES = [(0, 5), (1, 1), (2, 3), (5, 40), (33, 17), (64, 64), (100, 3), (129, 70), (3, 600)]
CALLER = """
#include <stdio.h>
#include <string.h>
#include "nests_opencl.h"
#define M (void *)
enum {{ ROOM = 1 << 16 }};
{declarations}

static int wrong(int n, int m, int turn)
{{
  float a[2][ROOM], b[2][ROOM];
  int found = 0;
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < ROOM; i++)
      a[which][i] = (float)((i * 7 + turn) % 1000) * 0.37f, b[which][i] = 3 - (float)i * 0.11f;
{calls}
  found = memcmp(a[0], a[1], sizeof a[0]) != 0 || memcmp(b[0], b[1], sizeof b[0]) != 0;
  if (found)
    printf("differs: %d %d\\n", n, m);
  return found;
}}
"""
EACH = """
int main(int argc, char **argv)
{{
  int sizes[][2] = {{ {sizes} }}, found = 0;
  static float kept[ROOM];
  if (argc > 1 && *argv[1] == 'k') {{
    loopxform_enter(kept, sizeof kept);
    sums(64, 64, kept, kept + 64 * 64);
    loopxform_exit(kept, sizeof kept, 1);
    return 0;
  }}
  for (int which = argc > 1 ? {count} - 1 : 0; which < {count}; which++)
    for (int turn = 0; turn < 3; turn++)
      found += wrong(sizes[which][0], sizes[which][1], turn);
  loopxform_release();
  return found;
}}
"""


def _caller(main: str, functions: tuple[str, ...] = tuple(CALLS)) -> str:
    """Calls the written functions and the user's, and compares."""
    declarations, calls = list[str](), list[str]()
    for name in functions:
        sizes, arrays = CALLS[name]
        types = "int, int, int" if name == "product" else "int, int"
        pointers = {
            "product": "const float *, const float *, float *",
            "sums": "void *, float *",
            "columns": "void *, float *",
        }.get(name, "void *, void *")
        for word, which in (("", 0), ("user_", 1)):
            declarations.append(f"void {word}{name}({types}, {pointers});")
            given = arrays.replace("a,", f"a[{which}],").replace("a +", f"a[{which}] +")
            calls.append(f"  {word}{name}({sizes}, {given.removesuffix('b')}b[{which}]);")
    return CALLER.format(declarations="\n".join(declarations), calls="\n".join(calls)) + main


def _built(folder: Path, caller: str, *options: str) -> Path:
    require_opencl()
    (folder / "nests.c").write_text(NESTS)
    (folder / "caller.c").write_text(caller)
    lx.load(folder / "nests.c").offload(contract=False).write(folder)
    renamed = [f"-D{name}=user_{name}" for name in CALLS]
    for step in (
        [*PLAIN, *renamed, "-c", "nests.c", "-o", "user.o"],
        [*STRICT, *PLAIN, *options, "-c", "nests_opencl.c", "-o", "written.o"],
        *([[*PLAIN, *options, "written.o", "user.o", "caller.c", "-o", "app"]] if caller else []),
    ):
        libraries = ["-lOpenCL", "-lm", "-pthread"] if "app" in step else []
        done = cc(folder, *step, *libraries)
        assert done.returncode == 0, done.stderr
    return folder / "app"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sizes = ", ".join(f"{{ {n}, {m} }}" for n, m in SIZES)
    main = EACH.format(sizes=sizes, count=len(SIZES))
    return _built(tmp_path_factory.mktemp("devices"), _caller(main), *SANITIZED)


@pytest.mark.parametrize(
    "settings",
    [
        TWO,
        {**TWO, "LOOPXFORM_DEVICES": "1,0", "LOOPXFORM_COPIES": "whole"},
        {**TWO, "POCL_DEVICES": "pthread pthread pthread", "LOOPXFORM_DEVICES": "0:2, 0:0,1"},
    ],
)
def test_results_are_those_of_the_loops(app: Path, settings: dict[str, str]) -> None:
    """Rows that no group has, none at all, fewer than there are devices; in-place, and several
    launches in turn."""
    done = run_it(app, whole=True, LOOPXFORM_VERBOSE="1", **settings)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    shared = {x.split(": ")[2] for x in done.stderr.splitlines() if " groups on device " in x}
    assert shared == set(CALLS)


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        pytest.param("", {"POCL_DEVICES": TWO["POCL_DEVICES"]}, id="the default"),
        pytest.param("", {**TWO, "LOOPXFORM_DEVICES": "1"}, id="a list of one"),
        pytest.param("kept", TWO, id="arrays that stay on a device"),
    ],
)
def test_one_device(app: Path, given: str, settings: dict[str, str]) -> None:
    done = run_it(app, given, whole=True, LOOPXFORM_VERBOSE="1", **settings)
    assert (done.returncode, done.stdout) == (0, "")
    assert ": on the device" in done.stderr
    assert " groups on device " not in done.stderr


@pytest.mark.parametrize(
    ("wanted", "named", "why"),
    [
        ("both", "", "not all, or numbers of devices as in 0,1"),
        ("0,", "", "not all, or numbers of devices as in 0,1"),
        ("-1", "", "not all, or numbers of devices as in 0,1"),
        ("0,2", "", "there are not so many devices (loopxform devices lists them)"),
        ("0:0,1:1", "", "there are not so many devices (loopxform devices lists them)"),
        ("0:", "", "not all, or numbers of devices as in 0,1"),
        ("0,1,0", "", "a device is named twice"),
        ("1,0:1", "", "a device is named twice"),
        ("1", "pthread", "the device that was chosen is not among these"),
    ],
)
def test_what_cannot_be(app: Path, wanted: str, named: str, why: str) -> None:
    more = {**TWO, "LOOPXFORM_DEVICES": wanted, "LOOPXFORM_DEVICE": named}
    done = run_it(app, "last", **more)
    expected = f"loopxform: LOOPXFORM_DEVICES={wanted}: {why}; one device is used\n"
    assert (done.returncode, done.stderr) == (0, expected)


@pytest.mark.parametrize("wanted", ["all", "0,1"])
def test_a_platform_that_is_listed_twice(app: Path, tmp_path: Path, wanted: str) -> None:
    """Its device is one: it does not share launches with itself."""
    for file in Path("/etc/OpenCL/vendors").glob("*pocl*.icd"):
        for copy in "ab":
            (tmp_path / f"{copy}.icd").write_text(file.read_text())
    if not any(tmp_path.iterdir()):
        pytest.skip("PoCL is not among the system's drivers")
    more = {"OCL_ICD_VENDORS": str(tmp_path), "LOOPXFORM_DEVICES": wanted}
    done = run_it(app, "last", whole=True, LOOPXFORM_VERBOSE="1", **more)
    assert (done.returncode, done.stdout) == (0, "")
    assert ": on the device" in done.stderr
    assert " groups on device " not in done.stderr
    assert ("a device is named twice" in done.stderr) is (wanted != "all")


SUB_DEVICE = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

int main(void)
{
  const cl_device_partition_property equally[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
  cl_platform_id platform;
  cl_device_id device, parts[64];
  cl_uint count = 0;
  int found = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  if (clCreateSubDevices(device, equally, 64, parts, &count) != CL_SUCCESS || count < 2)
    return puts("no parts"), 0;
  for (cl_uint which = 0; which < 2; which++) {
    const cl_context context = clCreateContext(NULL, count, parts, NULL, NULL, NULL);
    const cl_command_queue queue = clCreateCommandQueue(context, parts[which], 0, NULL);
    found += loopxform_use(queue) != CL_SUCCESS || wrong(33, 17, 1) || wrong(129, 70, 2);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  loopxform_release();
  return found;
}
"""


@pytest.mark.slow
def test_parts_of_a_device(tmp_path: Path) -> None:
    """A program has calls run on the queue of a part: on that alone."""
    app = _built(tmp_path, _caller(SUB_DEVICE))
    done = run_app(app, whole=True, LOOPXFORM_DEVICES="all", LOOPXFORM_VERBOSE="1")
    assert done.returncode == 0, done.stdout
    if "no parts" in done.stdout:
        pytest.skip("the device has one unit")
    assert ": on the device" in done.stderr
    assert " groups on device " not in done.stderr
    assert "on the host" not in done.stderr


FAILING_CALL = """
static int differs(void) { return wrong(270, 133, 1); }
"""


SOME = """
int main(void)
{
  int found = 0;
  for (long from = 1; from < 160; from += 11) {
    failing_start(from, from);
    found += differs();
    loopxform_release();
    found += failing_live() != 0;
  }
  return found;
}
"""


def _failing(folder: Path, name: str, main: str) -> Path:
    _built(folder, "")
    return link(folder, "nests", _caller(FAILING_CALL, (name,)) + SHIMMED + main, NAMES)


@pytest.mark.parametrize("name", ["sums", pytest.param("steps", marks=pytest.mark.slow)])
def test_some_calls_that_fail(tmp_path: Path, name: str) -> None:
    """A device that fails is left out, or the loops run on the host."""
    done = run_it(_failing(tmp_path, name, SOME), whole=True, LOOPXFORM_VERBOSE="1", **TWO)
    assert (done.returncode, done.stdout) == (0, "")
    assert " groups on device 1 " in done.stderr
    assert "device 1 is left out" in done.stderr


@pytest.mark.slow
def test_each_call_that_fails(tmp_path: Path) -> None:
    judge(run_it(_failing(tmp_path, "sums", FAILING), **TWO), 60)


@pytest.mark.slow
def test_threads_that_call_at_the_same_time(tmp_path: Path) -> None:
    """Under ThreadSanitizer; one of them lets the devices go in each round, while others
    share launches."""
    main = threads_calling("wrong(90, 40, round)", threads=4, rounds=20, release=1)
    app = _built(tmp_path, _caller(main, ("product", "inner", "sums")), "-fsanitize=thread", "-g")
    done = run_app(app, **TWO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")
