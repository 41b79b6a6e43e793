"""Thresholds in tuning files that the written C reads when it runs."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx
from loopxform.codegen.host import runtime
from loopxform.schedule.tuning_file import VERSION, suffix_for

TEXT = """\
void rows(int n, int m, const int a[n][m], int y[n])
{
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
}
void shifted(int n, int m, const int a[n][m], int y[n])
{
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++)
      s ^= a[i][j] << 1;
    y[i] = s;
  }
}
"""
MAIN = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
void rows(int n, int m, const int *a, int *y);
void shifted(int n, int m, const int *a, int *y);
int main(int count, char **words)
{
  char name[256] = "";
  cl_platform_id platform;
  cl_device_id device;
  int wrong = 0;
  if (count == 1 && clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS &&
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS &&
      clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS)
    return puts(name) == EOF;
  for (int word = 1; word + 1 < count; word += 2) {
    const int n = atoi(words[word]), m = atoi(words[word + 1]);
    int *a = malloc(sizeof(int) * (size_t)(n * m)), *y = calloc((size_t)n, sizeof(int)),
        *z = calloc((size_t)n, sizeof(int));
    for (int i = 0; i < n * m; i++)
      a[i] = i * 77 % 1001;
    errno = 0;
    rows(n, m, a, y);
    shifted(n, m, a, z);
    wrong += errno != 0;
    for (int i = 0; i < n; i++) {
      int s = 0, t = 0;
      for (int j = 0; j < m; j++)
        s += a[i * m + j], t ^= a[i * m + j] << 1;
      wrong += s != y[i] || t != z[i];
    }
    free(a), free(y), free(z);
  }
  return printf("%d wrong\\n", wrong), wrong != 0;
}
"""
NAMES = ("suff_outer_par_0", "suff_intra_par_1", "suff_group_par_2", "suff_inner_par_3")
CHUNKS, GROUPS, ITEMS = "lx_{}_2", "lx_{}_3", "lx_{}_4"
"""The last kernel of each version."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "f.c").write_text(TEXT)
    (folder / "main.c").write_text(MAIN)
    lx.load(folder / "f.c").offload().write(folder)
    built = cc(folder, *STRICT, *PLAIN, "f_opencl.c", "main.c", "-o", "app", "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    return folder / "app"


def lines(function: str, *values: int) -> str:
    return "".join(f"{function}.{name}={value}\n" for name, value in zip(NAMES, values))


def ran(app: Path, tuning: Path | str, *sizes: int, **more: str) -> tuple[list[str], list[str]]:
    """What is said of the tuning files, and of the calls."""
    environment = {"LOOPXFORM_TUNING": str(tuning), "LOOPXFORM_VERBOSE": "1", **more}
    done: CompletedProcess[str] = run_app(app, *sizes, whole=True, **environment)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stderr
    said = done.stderr.splitlines()
    calls = [x for x in said if ": on the " in x]
    return [x for x in said if x not in calls], calls


def kernels(calls: list[str]) -> list[str]:
    return [m[1] for x in calls if (m := re.search(r"; last kernel (\w+)", x))]


def test_which_version_runs(app: Path, tmp_path: Path) -> None:
    """All of one function; the file says nothing of the other, and sizes decide nothing."""
    path = tmp_path / "mine.tuning"
    for values, version in (
        ((0, 0, 0, 0), ITEMS),
        ((2147483647, 0, 0, 0), GROUPS),
        ((2147483647, 0, 2147483647, 0), CHUNKS),
        ((2147483647, 41, 2147483647, 0), ITEMS),
        ((2147483647, 0, 2147483647, 41), GROUPS),
    ):
        path.write_text(f"# mine\n\nversion=1\r\ndevice=any\n{lines('rows', *values)}rows.Tx=8\n")
        said, calls = ran(app, path, 30, 40)
        assert kernels(calls) == [version.format("rows"), GROUPS.format("shifted")]
        assert said == [
            f"loopxform: {app.parent}/f.c:1: rows: thresholds in {path}",
            f"loopxform: {app.parent}/f.c:10: shifted: no thresholds in {path}",
        ]


def test_calls_that_the_host_runs(app: Path, tmp_path: Path) -> None:
    path = tmp_path / "f.tuning"
    path.write_text("rows.host=always\nshifted.host=never\n")
    said, calls = ran(app, path, 30, 40, LOOPXFORM_HOST="")
    assert [re.findall(": on the (host|device), as was asked for", x) for x in calls] == [
        ["host"],
        ["device"],
    ]
    assert len(said) == 2
    _, calls = ran(app, path, 30, 40, LOOPXFORM_HOST="never")
    assert len(kernels(calls)) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "rows.suff_outer_par_9=4\n",
            "1: there is no threshold with this name: 'suff_outer_par_9'",
        ),
        ("\nrows.suff_outer_par_0=-4\n", "2: this is not a number from 0 to 2147483647: '-4'"),
        ("rows.suff_intra_par_1=999\nrows.suff_outer_par_0=9x\n", "2: this is not a number from 0"),
        ("rows.suff_outer_par_0=2147483648\n", "1: this is not a number from 0 to 2147483647"),
        ("rows.suff_outer_par_0=\n", "1: this is not a number from 0 to 2147483647: ''"),
        ("rows.suff_outer_par_0=1\n" * 2, "2: this is given twice: 'suff_outer_par_0'"),
        ("rows.host=-1\n", "1: this is not never, always or a number of operations: '-1'"),
        ("version=2\n", "1: this is another version of tuning files: '2'"),
        ("rows\n", "1: this is not NAME=VALUE: 'rows'"),
        ("suff_outer_par_0=1\n", "1: there is no function with this name: 'suff_outer_par_0'"),
        ("=1\n", "1: there is no function with this name: ''"),
        ("rows=1\n", "1: this is not FUNCTION.NAME=VALUE: 'rows'"),
        ("row.suff_outer_par_0=1\n", "1: there is no function with this name: 'row'"),
        ("mm.Ty=16\n", "1: there is no function with this name: 'mm'"),
        ("#" * 5000 + "\n" + "x" * 5000, "2: this line is too long: 'xxx"),
    ],
)
def test_files_that_are_not_used(app: Path, tmp_path: Path, text: str, why: str) -> None:
    """One line, also without LOOPXFORM_VERBOSE; what stands above a bad line is not used either."""
    path = tmp_path / "f.tuning"
    path.write_text(f"{text}{lines('shifted', 0)}")
    said, calls = ran(app, path, 30, 40)
    assert said[0].startswith(f"loopxform: {path}:{why}")
    assert said[0].endswith("; rows runs as it was built")
    assert kernels(calls)[0] == GROUPS.format("rows")
    silent, calls = ran(app, path, 30, 40, LOOPXFORM_VERBOSE="")
    assert silent[0] == said[0]
    assert not calls


def test_files_that_cannot_be_read(app: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.tuning").mkdir()
    for name, why in (
        ("none.tuning", "No such file or directory"),
        ("folder.tuning", "Is a directory"),
    ):
        path = tmp_path / name
        said, calls = ran(app, path, 30, 40, LOOPXFORM_VERBOSE="0")
        assert said == [
            f"loopxform: {path}: it cannot be read: '{why}'; {function} runs as it was built"
            for function in ("rows", "shifted")
        ]
        assert not calls


def test_a_folder(app: Path, tmp_path: Path) -> None:
    """The file of the device comes first, function by function."""
    assert "no thresholds in" in ran(app, tmp_path, 30, 40)[0][0]
    assert ran(app, tmp_path, 30, 40, LOOPXFORM_VERBOSE="") == ([], [])
    name = run_app(app).stdout.strip()
    common, own = tmp_path / "f.tuning", tmp_path / f"f{suffix_for(name)}"
    common.write_text(lines("rows", 2147483647, 0, 2147483647, 0) + lines("shifted", 0))
    said, calls = ran(app, tmp_path, 30, 40)
    assert kernels(calls) == [CHUNKS.format("rows"), ITEMS.format("shifted")]
    own.write_text(f"device={name}\n{lines('rows', 0)}")
    said, calls = ran(app, tmp_path, 30, 40)
    assert kernels(calls) == [ITEMS.format("rows"), ITEMS.format("shifted")]
    assert [x.rpartition(" ")[2] for x in said] == [str(own), str(common)]
    own.write_text(f"device=H100\n{lines('rows', 0)}")
    said, calls = ran(app, tmp_path, 30, 40)
    assert f"{own}:1: this is for another device: 'H100'; rows runs as it was built" in said[0]
    assert kernels(calls)[0] == GROUPS.format("rows")
    none = {"LOOPXFORM_DEVICE": "none", "LOOPXFORM_HOST": ""}
    said, calls = ran(app, tmp_path, 30, 40, **none)
    assert [x.rpartition(" ")[2] for x in said] == [str(common)] * 2
    assert all("on the host, as there is no device" in x for x in calls)


def test_any_thresholds_leave_the_results_as_they_are(app: Path, tmp_path: Path) -> None:
    rng = random.Random(11)
    sizes = [1, 1, 3, 70, 70, 3, 40, 40, 2, 40000, 300, 200]
    edges = sorted({0, 1, 2147483647, *sizes, *(x + 1 for x in sizes)})
    ran_versions = set[str]()
    for n in range(8):
        path = tmp_path / f"{n}.tuning"
        values = [[rng.choice(edges) for _ in NAMES] for _ in range(2)]
        path.write_text(lines("rows", *values[0]) + lines("shifted", *values[1]))
        said, calls = ran(app, path, *sizes)
        assert len(said) == 2, said
        found = kernels(calls)
        assert len(found) == len(sizes), (values, calls)
        for (k, m), version in zip(list(pairwise(sizes))[::2], found[::2]):
            outer, intra, group, inner = values[0]
            few = k < outer and m >= intra
            expected = CHUNKS if few and k < group and m >= inner else GROUPS if few else ITEMS
            assert version == expected.format("rows"), (values[0], k, m)
            ran_versions.add(version)
    assert len(ran_versions) == 3


def test_programs_without_versions_read_nothing() -> None:
    loop = "void f(int n, int *a)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = i;\n}\n"
    for text, reads in ((loop, False), (TEXT, True)):
        files = lx.loads(text, "f.c").offload().files
        assert ("LOOPXFORM_TUNING" in files["f_opencl.c"]) == reads


def test_the_version_of_tuning_files() -> None:
    assert runtime.TUNING_VERSION == VERSION
