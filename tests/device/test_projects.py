"""The sample projects of three build systems, and CMake projects of odd shapes: built, run with the
system's OpenCL, built again, changed. The tools are those installed beside this Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_project import environment, require_opencl

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "corpus" / "projects"
BIN = Path(sys.executable).parent

Done = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True)
def _opencl() -> None:
    require_opencl()


@pytest.fixture
def sh(tmp_path: Path) -> Callable[..., Done]:
    """Runs a command in a folder; it has to succeed unless `fails`."""
    other = ("LOOPXFORM", "MAKE", "PYTHON")
    env = {k: v for k, v in environment().items() if not k.startswith(other)}
    env["PATH"] = f"{BIN}{os.pathsep}{env['PATH']}"
    env["PYTHONPATH"] = str(ROOT)
    env["LOOPXFORM_CACHE"] = str(tmp_path / "cache")

    env["LOOPXFORM_HOST"] = "never"
    env["LOOPXFORM_VERBOSE"] = "1"  # a program says of each call where it runs

    def run(folder: Path, *command: object, fails: bool = False) -> Done:
        words = list(map(str, command))
        done = subprocess.run(
            words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300
        )
        assert (done.returncode != 0) == fails, f"{words}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@dataclass(frozen=True)
class Sample:
    """A sample project: how it is built and run, and what is changed about it."""

    name: str
    setup: tuple[str, ...]
    build: tuple[str, ...]
    app: str
    header: str
    kernel: str
    says: str
    changed: tuple[str, ...]
    says_then: str


def cmake(generator: str) -> Sample:
    configure = ("cmake", "-G", generator, "-S", ".", "-B", "build")
    return Sample(
        "cmake",
        (*configure, f"-DLoopxform_DIR={ROOT}/loopxform/cmake"),
        ("cmake", "--build", "build"),
        "build/simulate",
        "include/grid.h",
        "wave/step.c",
        "96 x 96 points: the same\n",
        (*configure, "-DGRID=40", "-DTILING=--Ty;4"),
        "40 x 40 points: the same\n",
    )


SAMPLE = {
    "make": Sample(
        "make",
        (),
        ("make", "-j2"),
        "build/filter",
        "include/image.h",
        "src/blur.c",
        "150 x 200 pixels: the same\n",
        ("make", "CPPFLAGS=-Iinclude -DWIDTH=64", "OPTIONS=--Ty 4"),
        "150 x 64 pixels: the same\n",
    ),
    "cmake": cmake("Ninja"),
    "cmake-make": cmake("Unix Makefiles"),
    "meson": Sample(
        "meson",
        ("meson", "setup", "build"),
        ("ninja", "-C", "build"),
        "build/multiply",
        "include/matrix.h",
        "src/product.c",
        "70 x 70 elements: the same\n",
        ("meson", "configure", "build", "-Dside=33", "-Dtiling=--Ty,4"),
        "33 x 33 elements: the same\n",
    ),
}


def assert_says(done: Done, text: str) -> None:
    """It printed that, and every call ran on the device."""
    assert done.stdout == text
    calls = done.stderr.splitlines()
    assert calls
    assert all(": on the device, as was asked for; last kernel " in call for call in calls), (
        done.stderr
    )


def written(folder: Path) -> dict[str, tuple[int, str]]:
    """Time and text of what loopxform wrote."""
    files = [
        p for p in (folder / "build").rglob("*") if p.match("*.cl") or p.match("*_opencl.[ch]")
    ]
    return {str(p.relative_to(folder)): (p.stat().st_mtime_ns, p.read_text()) for p in files}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "make" else pytest.mark.slow) for n in SAMPLE]
)
def test_a_sample_project(name: str, tmp_path: Path, sh: Callable[..., Done]) -> None:
    sample = SAMPLE[name]
    folder = tmp_path / "a project"
    shutil.copytree(SAMPLES / sample.name, folder)
    if sample.setup:
        sh(folder, *sample.setup)
    sh(folder, *sample.build)
    assert_says(sh(folder, folder / sample.app), sample.says)
    first = written(folder)
    assert len(first) == 6
    assert not list(folder.glob("*_opencl.*"))

    app = (folder / sample.app).stat().st_mtime_ns
    sh(folder, *sample.build)
    assert written(folder) == first
    assert (folder / sample.app).stat().st_mtime_ns == app

    (folder / sample.header).touch()
    sh(folder, *sample.build)
    again = written(folder)
    assert all(again[f][0] > first[f][0] and again[f][1] == first[f][1] for f in first)

    kernel = folder / sample.kernel
    good = kernel.read_text()
    kernel.write_text(good.replace("i++", "i+").replace("y++", "y+"))
    line = next(n for n, x in enumerate(kernel.read_text().splitlines(), 1) if "+)" in x)
    failed = sh(folder, *sample.build, fails=True)
    assert f"{sample.kernel}:{line}:" in failed.stdout + failed.stderr
    assert "error: " in failed.stdout + failed.stderr
    assert written(folder) == again
    kernel.write_text(good)

    sh(folder, *sample.changed)
    if sample.setup:
        sh(folder, *sample.build)
    third = written(folder)
    assert all(third[f][1] != first[f][1] for f in first if f.endswith(".cl"))
    assert all("#define Ty 4\n" in third[f][1] for f in first if f.endswith(".cl"))
    assert_says(sh(folder, folder / sample.app), sample.says_then)


def test_an_annotation_that_does_not_hold_fails_the_build(
    tmp_path: Path, sh: Callable[..., Done]
) -> None:
    folder = tmp_path / "make"
    shutil.copytree(SAMPLES / "make", folder)
    kernel = folder / "src" / "blur.c"
    text = kernel.read_text().replace(
        "for (int dy", "#pragma loopxform parallel\n      for (int dy"
    )
    kernel.write_text(text)
    line = text[: text.index("#pragma")].count("\n") + 1
    failed = sh(folder, "make", fails=True)
    assert f"src/blur.c:{line}:" in failed.stderr
    assert "error: parallel does not hold" in failed.stderr
    assert not (folder / "build" / "filter").exists()


KERNEL = "void {0}(int n, float *x) {{ for (int i = 0; i < n; i++) x[i] = {1}; }}\n"

ODD = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.20)
project(odd C CXX)
set(CMAKE_BUILD_TYPE Release)
set(CMAKE_UNITY_BUILD ON)
find_package(Loopxform 0.1 REQUIRED)
include_directories("sub dir")
add_definitions(-DDIRECTORY=1)

add_library(object OBJECT object.c)
loopxform_add_kernels(object FILES object.c)
target_compile_options(object PRIVATE
  $<$<COMPILE_LANGUAGE:C>:-DLANGUAGE=1;-Wall> "SHELL:-D SHELL=1" $<$<COMPILE_LANGUAGE:CXX>:-DCXX>)
target_compile_definitions(object PRIVATE "TEXT=\\"a b\\"" $<$<CONFIG:Release>:CONFIG=1>)

add_library(face INTERFACE)
target_sources(face INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/face/kernel.c)
target_compile_definitions(face INTERFACE FACE=1)
loopxform_add_kernels(face FILES face/kernel.c COMMAND tile OPTIONS --Ty 8)

add_executable(app main.cpp "sub dir/kernel.c")
target_link_libraries(app face object)
set_source_files_properties("sub dir/kernel.c" PROPERTIES
  COMPILE_DEFINITIONS OWN=5 COMPILE_FLAGS -DFLAGS=2)
loopxform_add_kernels(app FILES "sub dir/kernel.c")
loopxform_add_kernels(app FILES ../outside.c OPTIONS --Tx 8)
add_subdirectory(deep)
""",
    "object.c": """#include "values.h"
#include <math.h>
#if !defined LANGUAGE || !defined SHELL || !defined CONFIG || !defined DIRECTORY || !defined TEXT
#error a macro is missing
#endif
#if !defined NDEBUG || defined CXX
#error it is a release, and it is C
#endif
"""
    + KERNEL.format("object", "sqrtf(ONE)"),
    "face/kernel.c": '#include "own.h"\n' + KERNEL.format("face", "FACE + OWN_HEADER"),
    "face/own.h": "#define OWN_HEADER 2\n",
    "sub dir/kernel.c": '#include "values.h"\n' + KERNEL.format("sub", "ONE + OWN + FLAGS"),
    "sub dir/values.h": "#define ONE 1\n",
    "../outside.c": KERNEL.format("outside", "9"),
    "main.cpp": """#include <cstdio>
#include "object_opencl.h"
#include "sub dir/kernel_opencl.h"
#include "face/kernel_opencl.h"
extern "C" {
void object(int, float *);
void sub(int, float *);
void face(int, float *);
void outside(int, float *);
}
int main()
{
  float x[4][8];
  object(8, x[0]); sub(8, x[1]); face(8, x[2]); outside(8, x[3]);
  std::printf("%g %g %g %g\\n", x[0][7], x[1][7], x[2][7], x[3][7]);
}
""",
    "deep/CMakeLists.txt": "add_executable(deep deep.c)\ntarget_link_libraries(deep face)\n",
    "deep/deep.c": "void face(int n, float *x);\n"
    "int main(void) { float x[4] = {0}; face(4, x); return x[3] != 3; }\n",
}


def lay_out(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "generator", ["Ninja", pytest.param("Unix Makefiles", marks=pytest.mark.slow)]
)
def test_cmake_with_targets_of_every_kind(
    generator: str, tmp_path: Path, sh: Callable[..., Done]
) -> None:
    """Objects and interfaces, C with C++, options by language and configuration, names with spaces,
    files outside, one name in two folders, what is set for one file."""
    folder = tmp_path / "an odd+project"
    lay_out(folder, ODD)
    where = f"-DLoopxform_DIR={ROOT}/loopxform/cmake"
    shown = sh(folder, "cmake", "-G", generator, "-S", ".", "-B", "b d", where)
    assert "Warning" not in shown.stdout + shown.stderr
    sh(folder, "cmake", "--build", "b d", "-j", "4")
    assert_says(sh(folder, folder / "b d" / "app"), "1 8 3 9\n")
    sh(folder, folder / "b d" / "deep" / "deep")

    (folder / "sub dir" / "values.h").write_text("#define ONE 4\n")
    again = sh(folder, "cmake", "--build", "b d").stdout
    assert [x.split("loopxform ")[1] for x in again.splitlines() if "loopxform " in x] == [
        "offload object.c",
        "offload sub dir/kernel.c",
    ]
    assert_says(sh(folder, folder / "b d" / "app"), "2 11 3 9\n")

    (wrote,) = (folder / "b d").rglob("object_opencl.c")
    before = wrote.read_text()
    (folder / "object.c").write_text(ODD["object.c"].replace("i++", "i+"))
    failed = sh(folder, "cmake", "--build", "b d", fails=True)
    line = 1 + ODD["object.c"].partition("i++")[0].count("\n")
    assert re.search(rf"object\.c:{line}:.* error: ", failed.stdout + failed.stderr)
    assert wrote.read_text() == before


CALLS = {
    "loopxform_add_kernels(nothing FILES a.c)": "there is no target 'nothing'",
    "loopxform_add_kernels(app)": "FILES file.c",
    "loopxform_add_kernels(app FILES a.c COMMAND run)": "COMMAND is offload or tile",
    "find_package(Loopxform 99 REQUIRED)": "99",
}


@pytest.mark.parametrize("call", CALLS)
def test_cmake_says_what_is_wrong(call: str, tmp_path: Path, sh: Callable[..., Done]) -> None:
    text = f"""cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(Loopxform REQUIRED)
add_executable(app a.c)
{call}
"""
    lay_out(tmp_path, {"CMakeLists.txt": text, "a.c": "int main(void) { return 0; }\n"})
    where = f"-DLoopxform_DIR={ROOT}/loopxform/cmake"
    failed = sh(tmp_path, "cmake", "-G", "Ninja", "-S", ".", "-B", "b", where, fails=True)
    assert CALLS[call] in failed.stderr
    assert "CMakeLists.txt:5" in failed.stderr


def test_cmake_for_another_machine(tmp_path: Path, sh: Callable[..., Done]) -> None:
    """The tool is the build machine's, though packages and libraries are the target's; nothing that
    was compiled runs."""
    toolchain = """set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER /usr/bin/cc)
set(CMAKE_AR /usr/bin/ar)
set(CMAKE_RANLIB /usr/bin/ranlib)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/target)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(OpenCL_INCLUDE_DIR /usr/include)
set(OpenCL_LIBRARY ${CMAKE_CURRENT_LIST_DIR}/target/libOpenCL.a)
"""
    text = """cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(Loopxform REQUIRED)
add_library(kernels STATIC k.c)
loopxform_add_kernels(kernels FILES k.c)
"""
    lay_out(
        tmp_path,
        {
            "CMakeLists.txt": text,
            "toolchain.cmake": toolchain,
            "k.c": KERNEL.format("k", "1"),
            "target/libOpenCL.a": "",
        },
    )
    where = f"-DLoopxform_DIR={ROOT}/loopxform/cmake"
    chain = "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake"
    ninja = f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"
    sh(tmp_path, "cmake", "-G", "Ninja", "-S", ".", "-B", "b", where, chain, ninja)
    sh(tmp_path, "cmake", "--build", "b")
    assert (tmp_path / "b" / "libkernels.a").exists()
