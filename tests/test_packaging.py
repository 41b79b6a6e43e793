"""The wheel in a clean environment: it holds the templates, and works away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from loopxform import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.glob("*.whl")
    return made


def test_the_wheel_holds_what_is_no_module_and_no_test(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = (p for p in (ROOT / "templates").rglob("*") if p.is_file())
    templates = {f"loopxform/{p.relative_to(ROOT)}" for p in files}
    assert len(templates) >= 4
    assert "loopxform/templates/report/style.css" in templates
    assert templates <= names
    for inside, folder in (("examples", "examples"), ("pipelines", "corpus/pipelines")):
        demos = {f"loopxform/{inside}/{p.name}" for p in (ROOT / folder).iterdir() if p.is_file()}
        assert demos <= names
    modules = {f"loopxform/cmake/{p.name}" for p in (ROOT / "loopxform" / "cmake").iterdir()}
    assert len(modules) == 3
    assert modules <= names
    assert {"loopxform/py.typed", "loopxform/targets/tuned/h100.toml"} <= names
    shared = {n.partition(".data/data/share/")[2] for n in names}
    assert {"man/man1/loopxform.1", "man/man1/loopxform-tune-merge.1"} <= shared
    assert {"bash-completion/completions/loopxform", "zsh/site-functions/_loopxform"} <= shared
    tops = {n.split("/")[0] for n in names}
    assert {t.rpartition(".")[2] for t in tops} == {"loopxform", "dist-info", "data"}
    tests = [n for n in names if "test" in n.lower()]
    assert not tests


def installed(wheel: Path, home: Path) -> Path:
    """The Python of a new environment with the wheel alone."""
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *offline, str(wheel)], check=True)
    return python


def test_the_installed_command_tiles(wheel: Path, tmp_path: Path) -> None:
    """In a virtual environment of its own; the dependencies are those of this one."""
    python = installed(wheel, tmp_path / "venv")
    home = python.parents[1]
    here = [p for p in sys.path if p.endswith("site-packages")]
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    (tmp_path / "mm.c").write_text((ROOT / "corpus" / "mm.c").read_text())
    # the dependencies come after the clean environment's own packages, so that the wheel wins
    probe = f"import sys; sys.path += {here!r}; from loopxform.cli import main; "
    probe += "import loopxform; assert 'venv' in loopxform.__file__, loopxform.__file__; "
    probe += "raise SystemExit(main(['tile', 'mm.c', '-o', 'out']))"
    done = subprocess.run(
        [python, "-I", "-c", probe],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "mm.cl").exists()
    assert (home / "bin" / "loopxform").exists()
    version = subprocess.run(
        [home / "bin" / "loopxform", "--version"],
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert version.stdout.startswith("loopxform ")


def test_cmake_finds_the_installed_package(wheel: Path, tmp_path: Path) -> None:
    """Of the environment that is active, and by the folder that the command names."""
    python = installed(wheel, tmp_path / "venv")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\n"
        "find_package(Loopxform 0.1 REQUIRED)\n"
        'message("${Loopxform_DIR} ${Loopxform_EXECUTABLE} ${Loopxform_VERSION}")\n'
    )
    (tmp_path / "libOpenCL.a").touch()
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    asked = [python.with_name("loopxform"), "--cmakedir"]
    folder = subprocess.run(asked, env=clean, capture_output=True, text=True, check=True)
    active = f"{python.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
    inactive = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
    for n, (path, more) in enumerate(
        [(active, []), (inactive, [f"-DLoopxform_DIR={folder.stdout.strip()}"])]
    ):
        opencl = ["-DOpenCL_INCLUDE_DIR=.", f"-DOpenCL_LIBRARY={tmp_path}/libOpenCL.a"]
        done = subprocess.run(
            ["cmake", "-G", "Ninja", "-B", f"b{n}", *opencl, *more],
            cwd=tmp_path,
            env={**clean, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        where, command, number = done.stderr.split()
        home = str(tmp_path / "venv")
        assert where.startswith(home)
        assert where.endswith("share/cmake/Loopxform" if path == active else "loopxform/cmake")
        assert command == f"{home}/bin/loopxform"
        assert number == __version__
