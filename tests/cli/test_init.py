"""`loopxform init`: what it writes is read again, what it prints builds with the real tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.cli.init_next import MESON
from loopxform.settings import settings_for
from loopxform.settings.keys import KEYS

ROOT = Path(__file__).parents[2]

Capture = pytest.CaptureFixture[str]

SOURCES = {
    "include/grid.h": "#define N 64\nvoid heat(float a[N], const float b[N]);\n",
    "src/heat.c": """\
#include <grid.h>
#include "local.h"

void heat(float a[N], const float b[N])
{
  for (int i = 1; i < N - 1; i++)
    a[i] = SCALE * (b[i - 1] + b[i + 1]);
}
""",
    "src/local.h": "#define SCALE 0.5f\n",
    "src/main.c": """\
#include <stdio.h>
#include "grid.h"

int main(void)
{
  static float a[N], b[N];
  for (int i = 0; i < N; i++)
    b[i] = i;
  heat(a, b);
  printf("%g %g\\n", a[1], a[62]);
  return 0;
}
""",
    "third_party/other.c": "void o(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 1; }\n",
}
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
add_subdirectory(src)
"""
CMAKE_INSIDE = """\
add_library(fields STATIC heat.c)  # the kernels
target_include_directories(fields PUBLIC ../include)
add_executable(app main.c)
target_link_libraries(app PRIVATE fields)
"""
MESON_BUILD = """\
project('app', 'c')
executable('app', 'src/main.c', 'src/heat.c', include_directories: 'include')
"""
MAKE = """\
CPPFLAGS = -Iinclude
app: obj/main.o obj/heat.o
	$(CC) -o $@ $^ $(LDLIBS)
obj/%.o: src/%.c
	@mkdir -p obj
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in SOURCES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)


def run(command: str) -> str:
    here = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def printed(text: str, start: str) -> str:
    """The indented lines behind a line that begins so, as they are to be added."""
    found = re.search(rf"^{re.escape(start)}[^\n]*\n\n((?:[ \t]+[^\n]*\n|\n)+)", text, re.MULTILINE)
    assert found, text
    return "".join(re.sub(r"^  ", "", x) for x in found[1].splitlines(keepends=True))


@pytest.mark.opencl_sdk
def test_a_project_of_cmake(capsys: Capture) -> None:
    Path("CMakeLists.txt").write_text(CMAKE)
    Path("src/CMakeLists.txt").write_text(CMAKE_INSIDE)
    assert main(["init"]) == 0
    out = capsys.readouterr().out
    with Path("src/CMakeLists.txt").open("a") as f:
        f.write(printed(out, "Add to src/CMakeLists.txt, behind the target fields:"))
    more = "-B build -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
    run(printed(out, "Then configure and build:").replace("-B build", more))
    assert list(Path("build").glob("**/heat_opencl.c"))
    assert run("./build/src/app") == "1 62\n"
    assert main(["config", "src/heat.c", "--no-config", "-p", "build"]) == 0
    out = capsys.readouterr().out
    assert "the entry of build/src/loopxform/fields/heat_opencl.c" in out
    assert "-I include" in out


@pytest.mark.opencl_sdk
def test_a_project_of_make(capsys: Capture) -> None:
    Path("Makefile").write_text(MAKE)
    assert main(["init"]) == 0
    out = capsys.readouterr().out
    with Path("Makefile").open("a") as f:
        f.write(printed(out, "Add to Makefile, at its end:"))
    assert "heat_opencl.c" in run("make")
    assert run("./app") == "1 62\n"
    Path("src/local.h").write_text("#define SCALE 1.5f\n")
    run("make")
    assert run("./app") == "3 186\n"


@pytest.mark.opencl_sdk
def test_a_project_of_meson(capsys: Capture) -> None:
    Path("meson.build").write_text(MESON_BUILD)
    assert main(["init"]) == 0
    out = capsys.readouterr().out
    block = printed(out, "Add to meson.build, in front of the target:")
    old, new = re.findall(r"^  ('\S+')  ->  (\S+)$", out, re.MULTILINE)[0]
    options = re.findall(r"^  (c_args: .*)$", out, re.MULTILINE)[0]
    first, target = MESON_BUILD.splitlines()
    target = target.replace(old, new).replace("'include')", f"'include', {options})")
    Path("meson.build").write_text(f"{first}\n{block}\n{target}\n")
    run("meson setup build && meson compile -C build")
    assert run("./build/app") == "1 62\n"
    settings = settings_for("src/main.c", isolated=False, compile_commands="build")
    assert "include" in settings.build_flags.include
    assert settings_for("src/heat.c", compile_commands="build").chosen is not None


def test_what_is_written_is_read_again_and_explains_each_key(capsys: Capture) -> None:
    Path("Makefile").write_text(MAKE)
    assert main(["init", "--profile", "h100", "-q"]) == 0
    assert capsys.readouterr().out == "wrote loopxform.toml\n"
    text = Path("loopxform.toml").read_text()
    settings = settings_for("src/heat.c")
    assert settings.values["profile"].value == "h100"
    assert settings.flags.include == ("include",)
    assert settings.values["exclude"].value == ("third_party",)
    everything = re.sub(r"^# (?=[\w-]+ = |\[\[)", "", text, flags=re.MULTILINE)
    assert set(tomllib.loads(everything)) == {*KEYS, "overrides"}
    for key in KEYS.values():
        assert f"# {key.about[:1].upper()}{key.about[1:]}." in text
    assert main(["check", "."]) == 0
    assert "third_party" not in capsys.readouterr().out


def test_a_database_is_found(capsys: Capture) -> None:
    Path("CMakeLists.txt").write_text(CMAKE)
    Path("src/CMakeLists.txt").write_text(CMAKE_INSIDE)
    run("cmake -S . -B out -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    assert main(["init", "-q"]) == 0
    assert 'compile-commands = "out"' in Path("loopxform.toml").read_text()
    assert main(["check", "src/heat.c"]) == 0
    assert "yes" in capsys.readouterr().out


def test_nothing_is_overwritten(capsys: Capture) -> None:
    Path("loopxform.toml").write_text("# mine\n")
    assert main(["init"]) == 2
    assert "'./loopxform.toml' exists already [LX055]" in capsys.readouterr().err
    assert Path("loopxform.toml").read_text() == "# mine\n"
    assert main(["init", "--force", "-q"]) == 0
    assert Path("loopxform.toml").read_text() != "# mine\n"
    Path("loopxform.toml").unlink()
    Path("pyproject.toml").write_text('[tool.loopxform]\nfp = "fast"\n')
    assert main(["init", "."]) == 2
    assert "has settings already" in capsys.readouterr().err


def test_a_folder_with_nothing(capsys: Capture) -> None:
    shutil.rmtree("src")
    assert main(["init"]) == 0
    out = capsys.readouterr().out
    assert "No C file with loops for a device was found; heat.c stands for yours." in out
    assert "loopxform offload heat.c -o build" in out
    assert main(["init", "gone"]) == 2


def test_the_lines_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "building.md").read_text()
    assert "loopxform_add_kernels(" in page
    assert "loopxform offload $< -q -o build -MF build/$*.d --cflags $(CPPFLAGS) $(CFLAGS)" in page
    for line in MESON.splitlines()[3:-2]:
        assert line.strip() in page, line
