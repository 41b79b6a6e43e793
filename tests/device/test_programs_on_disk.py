"""The written C builds the kernels that a size chooses, and those alone, and keeps them on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import Project, cc, project_of, require_opencl, run_app
from harness import CORPUS

import loopxform as lx
from loopxform.cli import main

CALLER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mm_opencl.h"
void user_mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N]);

int main(int count, char **sizes)
{
  for (int s = 1; s < count; s++) {
    int n = atoi(sizes[s]);
    float (*a)[n] = malloc(sizeof(float[n][n])), (*b)[n] = malloc(sizeof(float[n][n]));
    float (*c)[n] = malloc(sizeof(float[n][n]));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] = (float)((i + 3 * j) % 7);
    mm(n, n, n, a, a, b);
    user_mm(n, n, n, a, a, c);
    if (memcmp(b, c, sizeof(float[n][n])) != 0)
      return 1;
    free(a), free(b), free(c);
  }
  puts("same");
  return 0;
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    folder = tmp_path_factory.mktemp("mm")
    file = CORPUS / "mm.c"
    derivation = lx.load(file)["mm"].tile(limits="h100").derivation
    project: Project = project_of(folder, derivation, file)
    return project.build(CALLER)


def runs(app: Path, cache: Path, *sizes: int) -> int:
    """How many programs are on disk after a process that multiplies matrices of these sizes."""
    done = run_app(app, *sizes, LOOPXFORM_CACHE=str(cache), LOOPXFORM_VERBOSE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")
    folder = cache / "programs"
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_each_program_is_built_when_a_size_chooses_it(app: Path, tmp_path: Path) -> None:
    assert runs(app, tmp_path, 16) == 1
    assert runs(app, tmp_path, 16, 20) == 1
    assert runs(app, tmp_path, 17, 16) == 2, "rows that are no vectors take another kernel"
    assert runs(app, tmp_path, 0) == 2, "nothing is launched"


def test_a_folder_in_the_place_of_a_file(app: Path, tmp_path: Path) -> None:
    assert runs(app, tmp_path, 16) == 1
    (file,) = (tmp_path / "programs").iterdir()
    file.unlink()
    file.mkdir()
    assert runs(app, tmp_path, 16) == 1, "nothing is kept, nothing is left behind"
    assert file.is_dir()


OWN_NAMES = (
    "static int mkdir(int a) { return a + 1; }\nint use(void) { return mkdir(1); }",
    "int getpid(int a) { return a; }",
    "enum { mkdir = 3, getpid = 4, mkdirat = 5 };",
    "typedef int getpid; typedef float mkdir;",
)


@pytest.mark.parametrize("names", OWN_NAMES)
@pytest.mark.parametrize("standard", ["c99", "gnu89", "gnu17"])
def test_names_of_the_users_stay_theirs(names: str, standard: str, tmp_path: Path) -> None:
    require_opencl()
    loop = "void f(int n, float *a) { int i; for (i = 0; i < n; i++) a[i] = 2 * a[i] + 1; }"
    (tmp_path / "own.c").write_text(f"{names}\n{loop}\n")
    assert main(["offload", str(tmp_path / "own.c"), "-o", str(tmp_path), "-q"]) == 0
    options = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-c", "-o", "own.o"]
    done = cc(tmp_path, *options, "own_opencl.c")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("damage", ["cut", "another", "empty", "bits"])
def test_a_damaged_file_is_not_there(app: Path, tmp_path: Path, damage: str) -> None:
    assert runs(app, tmp_path, 16) == 1
    (file,) = (tmp_path / "programs").iterdir()
    whole = file.read_bytes()
    last = bytes([whole[-1] ^ 1])
    damaged = {
        "cut": whole[: len(whole) // 2],
        "another": whole.replace(b"OpenCL", b"OpenGL"),
        "empty": b"",
        "bits": whole[:-1] + last,
    }
    file.write_bytes(damaged[damage])
    assert runs(app, tmp_path, 16) == 1
    assert file.read_bytes()[:64] == whole[:64], "it is built and kept again"
    assert len(file.read_bytes()) > len(whole) // 2


def test_nothing_is_kept(app: Path, tmp_path: Path) -> None:
    done = run_app(app, 16, LOOPXFORM_CACHE="off", HOME=str(tmp_path))
    assert done.stdout == "same\n"
    assert not (tmp_path / ".cache" / "loopxform").exists()
    (tmp_path / "file").write_text("")
    assert runs(app, tmp_path / "file", 16) == 0, "a folder that cannot be made"


def test_the_folder_is_that_of_other_caches(app: Path, tmp_path: Path) -> None:
    for name in ("XDG_CACHE_HOME", "HOME"):
        home = tmp_path / name
        home.mkdir()
        base = home if name == "XDG_CACHE_HOME" else home / ".cache"
        places = {"XDG_CACHE_HOME": "", "HOME": "", name: str(home)}
        done = run_app(app, 16, LOOPXFORM_CACHE="", **places)
        assert done.stdout == "same\n"
        assert len(list((base / "loopxform" / "programs").iterdir())) == 1
