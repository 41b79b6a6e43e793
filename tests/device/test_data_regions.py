"""Arrays that stay on the device between calls, in programs of several files: how often they are
copied, that the program prints what it prints without the directives, what is said where a
directive cannot be met, and which updates are missing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from c_project import PLAIN, SANITIZED, cc, require_opencl, run_app
from data_programs import FILES, HEAD, random_program
from test_failing_opencl import FAILING, NAMES, SHIMMED, link, run_it

import loopxform as lx

LIBRARIES = ["-lOpenCL", "-lm"]
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
FLAGS = [
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-Wno-unused-parameter",
]

TEN = """
int main(void)
{
  enum { N = 2000 };
  static double x[N], y[N], t[N];
  for (int i = 0; i < N; i++)
    x[i] = i % 13;
#pragma loopxform data copyin(x) copyout(y) create(t)
  for (int k = 0; k < 10; k++) {
    blur(N, x, t);
    scale(N, 0.5 + k, t);
    blur(N, t, y);
  }
  for (int i = 0; i < N; i += 97)
    printf("%.17g\\n", y[i]);
  return 0;
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kernels: as the user's, and as written files, which are built already."""
    require_opencl()
    folder = tmp_path_factory.mktemp("kernels")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for stem in ("first", "second"):
        lx.load(folder / f"{stem}.c").offload(contract=False).write(folder)
        for flags, name in (([*FLAGS, *SANITIZED], f"{stem}_opencl"), ([], stem)):
            built = cc(folder, *flags, *PLAIN, "-c", f"{name}.c", "-o", f"{name}.o")
            assert not built.returncode, built.stderr
    return folder


def built(kernels: Path, name: str, text: str) -> tuple[Path, Path]:
    """The program as it is, and with what is written for it."""
    (kernels / f"{name}.c").write_text(HEAD + text if "#include" not in text else text)
    lx.load(kernels / f"{name}.c").offload(contract=False).write(kernels)
    plain = ["first.o", "second.o", f"{name}.c", "-o", name]
    written = ["first_opencl.o", "second_opencl.o", f"{name}_opencl.c", "-o", f"{name}_app"]
    for flags in (
        [*PLAIN, "-w", *plain, "-lm"],
        [*FLAGS, *SANITIZED, *PLAIN, *written, *LIBRARIES],
    ):
        done = cc(kernels, *flags)
        assert not done.returncode, done.stderr
    return kernels / name, kernels / f"{name}_app"


def require_same(plain: Path, app: Path, **settings: str) -> None:
    """Nothing is wrong but that some arrays were there in part."""
    found = run_app(app, **settings, **NO_LEAKS)
    assert (found.stdout, found.returncode) == (run_app(plain).stdout, 0), settings
    said = found.stderr.splitlines()
    assert [x for x in said if "partly on the device" not in x] == [], settings


def copies(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"(\w+(?:\[\S+\])?): (\d+ bytes to the \w+)", done.stderr)


@pytest.mark.slow
def test_ten_calls_copy_once(kernels: Path) -> None:
    """In and out. What is created is not copied out, and in only where it is read first."""
    plain, app = built(kernels, "ten", TEN)
    found = run_app(app, whole=True, LOOPXFORM_VERBOSE="1", **NO_LEAKS)
    assert found.stdout == run_app(plain).stdout
    assert len(re.findall("(?:blur|scale): on the device", found.stderr)) == 30
    assert copies(found) == [
        ("x", "16000 bytes to the device"),
        ("t", "8 bytes to the device"),
        ("t", "8 bytes to the device"),
        ("y", "15984 bytes to the host"),
    ]


FROM_C = """
#include "first_opencl.h"
int main(void)
{
  enum { N = 2000 };
  static double x[N], y[N];
  for (int i = 0; i < N; i++)
    x[i] = i % 13;
  loopxform_enter(x, sizeof x);
  loopxform_enter(y, sizeof y);
  for (int k = 0; k < 10; k++) {
    blur(N, x, y);
    loopxform_update_host(y + 5, sizeof *y);
    y[5] += 1;
    loopxform_update_device(y + 5, sizeof *y);
    if (k == 4)
      loopxform_release();
    blur(N, y, x);
  }
  loopxform_exit(y, sizeof y, 1);
  loopxform_exit(x, sizeof x, 1);
  for (int i = 0; i < N; i += 97)
    printf("%.17g %.17g\\n", x[i], y[i]);
  return 0;
}
"""


def test_from_c(kernels: Path) -> None:
    """The device may be let go in the middle: the arrays come home, and go back."""
    text = FROM_C.replace('#include "first_opencl.h"', "")
    text = re.sub(r"if \(k == 4\)\s*loopxform_\w+\(.*\);|loopxform_\w+\(.*\);", "", text)
    (kernels / "plain.c").write_text(HEAD + text)
    (kernels / "from_c.c").write_text(HEAD + FROM_C)
    plain = [*PLAIN, "-w", "first.o", "plain.c", "-o", "plain", "-lm"]
    written = ["first_opencl.o", "from_c.c", "-o", "from_c", *LIBRARIES]
    for flags in (plain, [*FLAGS, *SANITIZED, *PLAIN, *written]):
        done = cc(kernels, *flags)
        assert not done.returncode, done.stderr
    found = run_app(kernels / "from_c", LOOPXFORM_VERIFY="1", **NO_LEAKS)
    assert (found.stdout, found.stderr) == (run_app(kernels / "plain").stdout, "")


def test_versions_of_the_host_bring_back_what_they_need(kernels: Path) -> None:
    """With 200 operations some calls are the host's and some are not; no update is missing."""
    plain, app = built(kernels, "hosts", random_program(1, 8))
    for host in ("never", "always", "200"):
        require_same(plain, app, LOOPXFORM_HOST=host, LOOPXFORM_VERIFY="1")


def agree(kernels: Path, seed: int) -> None:
    plain, app = built(kernels, f"random_{seed}", random_program(seed, 12))
    for host in ("never", "200"):
        require_same(plain, app, LOOPXFORM_HOST=host)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_random_programs(kernels: Path, seed: int) -> None:
    agree(kernels, seed)


# ---------------------------------------------------------------- what cannot be met

MESSAGES = """
int main(void)
{
  double x[64] = {0}, *none = NULL;
  int n = 32, m = -1;
#pragma loopxform data copy(x[8:n])
  {
    scale(64, 2, x);
#pragma loopxform enter data copyin(x[0:n])
#pragma loopxform exit data copyout(x[0:n])
#pragma loopxform update host(none[0:n])
  }
#pragma loopxform exit data delete(x[0:n])
#pragma loopxform enter data create(x[0:m])
  printf("%g\\n", x[0]);
  return 0;
}
"""


def test_what_cannot_be_met_is_said(kernels: Path) -> None:
    _, app = built(kernels, "messages", MESSAGES)
    found = run_app(app, **NO_LEAKS)
    said = [line.replace(f"{kernels}/", "") for line in found.stderr.splitlines()]
    head = len((HEAD + MESSAGES).splitlines()) - len(MESSAGES.splitlines())
    assert (
        found.stdout,
        [re.sub(r":(\d+):", lambda m: f":{int(m[1]) - head}:", x) for x in said],
    ) == (
        "0\n",
        [
            "loopxform: messages.c:9: x[0:n] is partly on the device: it is not kept there, and "
            "each call copies it",
            "loopxform: messages.c:10: x[0:n] is only partly on the device: nothing is done",
            "loopxform: messages.c:11: none[0:n] is a null pointer: nothing is done",
            "loopxform: messages.c:13: x[0:n] is not on the device, or was not entered: nothing is "
            "done",
            "loopxform: messages.c:14: x[0:m] has a negative number of elements, too many, or no "
            "whole rows: nothing is done",
        ],
    )


MISSING = """
int main(void)
{
  static double x[64], y[64];
#pragma loopxform data copy(x) copyin(y)
  {
    blur(64, x, y);
    x[9] = 1 + y[3];
    blur(64, x, y);
    scale(64, 2, x);
    x[0] = 2;
  }
  return 0;
}
"""


def test_missing_updates_are_found(kernels: Path) -> None:
    """By comparing: what the host reads, what it writes, and what is not copied out."""
    _, app = built(kernels, "missing", MISSING)
    assert run_app(app, **NO_LEAKS).stderr == ""
    found = run_app(app, LOOPXFORM_VERIFY="1", **NO_LEAKS)
    assert [
        re.sub(r"^.*?([a-z]: \w.*) \(byte \d+\)", r"\1", x) for x in found.stderr.splitlines()
    ] == [
        "x: the host has written what the device has as well: update device after that",
        "y: the device has written it, and it is not copied out: copy in place of copyin",
        "x: the host has written what is newer on the device: update host before, and update "
        "device after",
    ]


# ---------------------------------------------------------------- where OpenCL fails

SHORT = """
void work(int n, double *x, double *y)
{
#pragma loopxform data copy(x[0:n], y[0:n])
  {
    blur(n, x, y);
    scale(n - 3, 0.5, y + 1);
    settle(n, 1, y);
  }
}
"""
COMPARED = """
#include <stdio.h>
#include <string.h>
#include "work_opencl.h"
enum { N = 20 };
void work(int n, double *x, double *y), user_work(int n, double *x, double *y);

static int differs(void)
{
  double x[2][N], y[2][N];
  for (int n = 0; n < N; n++) {
    x[0][n] = x[1][n] = n * 0.37;
    y[0][n] = y[1][n] = 3 - n * 0.11;
  }
  work(N, x[0], y[0]);
  user_work(N, x[1], y[1]);
  return memcmp(x[0], x[1], sizeof x[0]) != 0 || memcmp(y[0], y[1], sizeof y[0]) != 0;
}
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the region and what it calls, as one file and as what is written for it."""
    require_opencl()
    folder = tmp_path_factory.mktemp("failing")
    (folder / "kernels.h").write_text(FILES["kernels.h"])
    (folder / "work.c").write_text(HEAD + FILES["first.c"] + FILES["second.c"] + SHORT)
    lx.load(folder / "work.c").offload(contract=False).write(folder)
    names = ("work", "blur", "scale", "pick", "gather", "settle", "rows")
    user = [*PLAIN, "-w", "-c", *(f"-D{n}=user_{n}" for n in names), "work.c", "-o", "user.o"]
    assert cc(folder, *user).returncode == 0
    return folder


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 25])
def test_any_call_of_opencl_may_fail_once(failing: Path, step: int) -> None:
    """What the device alone has is not lost: a call is made again, or what it changed put back."""
    every = FAILING.replace("forever < 2", "forever < 1").replace("from++", f"from += {step}")
    found = run_it(link(failing, "work", COMPARED + SHIMMED + every, NAMES))
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


LOST = """
int main(void)
{
  double x[20] = {3}, y[20];
  failing_start(1, 0);
  loopxform_enter(x, sizeof x);
  scale(20, 2, x);
  failing_start(1, 1000000);
  loopxform_exit(x, sizeof x, 1);
  return (int)y[0];
}
"""


def test_a_program_ends_whose_only_copy_is_lost(failing: Path) -> None:
    caller = COMPARED + "void scale(int n, double f, double *a);\n" + SHIMMED + LOST
    found = run_it(link(failing, "work", caller.replace("static int", "int"), NAMES))
    expected = "loopxform: loopxform_enter: the array: the device holds the only copy, and"
    assert found.returncode != 0
    assert found.stderr.startswith(expected)
