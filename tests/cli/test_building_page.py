"""The build files of docs/building.md are those of the sample projects, or build as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "building.md").read_text()
LOOP = "void {0}(int n, float a[n]) {{ for (int i = 0; i < n; i++) a[i] = 1; }}\n"


def block(kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def run(folder: Path, command: str) -> None:
    here = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.opencl_sdk
def test_the_rule_for_make(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "f.c").write_text(LOOP.format("f"))
    (tmp_path / "Makefile").write_text("all: build/f.o\n" + block("make"))
    run(tmp_path, "make")
    assert (tmp_path / "build" / "f.o").exists()
    assert (tmp_path / "build" / "f.d").exists()
    assert (tmp_path / "build" / "f_opencl.c").exists()
    run(tmp_path, "make --question")


@pytest.mark.opencl_sdk
def test_the_lists_for_cmake(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    for name in ("heat", "wave"):
        (tmp_path / f"{name}.c").write_text(LOOP.format(name))
    (tmp_path / "CMakeLists.txt").write_text(block("cmake"))
    run(tmp_path, block("console").removeprefix("$ ").strip() + " -G Ninja")
    run(tmp_path, "cmake --build build")
    assert (tmp_path / "build" / "libfields.a").exists()


def test_the_generator_for_meson() -> None:
    assert block("meson") in (ROOT / "corpus" / "projects" / "meson" / "meson.build").read_text()
