"""The wheel in a clean environment: it holds the templates, and works away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.glob("*.whl")
    return made


def test_the_wheel_holds_every_template_and_no_test(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    templates = {f"loopxform/templates/{p.name}" for p in (ROOT / "templates").iterdir()}
    assert len(templates) >= 4
    assert templates <= names
    assert "loopxform/py.typed" in names
    tops = {n.split("/")[0] for n in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"loopxform"}


def test_the_installed_command_tiles(wheel: Path, tmp_path: Path) -> None:
    """In a virtual environment of its own; the dependencies are those of this one."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *offline, str(wheel)], check=True)
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
