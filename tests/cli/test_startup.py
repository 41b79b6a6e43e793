"""A command loads what it needs and nothing else. `scripts/startup.py` measures what that gives."""

from __future__ import annotations

import json
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import loopxform

MM = str(Path(__file__).parents[2] / "corpus" / "mm.c")

PROBE = """
import json, sys
from loopxform.cli import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit:
    pass
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""

PARSER = {"pycparser", "loopxform.frontend"}
COMMAND = {
    "jinja2",
    "islpy",
    "loopxform.ir",
    "loopxform.transforms",
    "loopxform.api.facade",
    *PARSER,
}
HEAVY = {
    "matplotlib",
    "numpy",
    "pyopencl",
    "pytest",
    "mako",
    "pcpp",
    "ply",
    "asyncio",
    "multiprocessing",
}
COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "version": (["--version"], {"argparse", "dataclasses", "typing"}),
    "help": (["--help"], {"argparse", "dataclasses", "typing"}),
    "check-help": (["check", "--help"], COMMAND),
    "tile-help": (["tile", "--help"], COMMAND),
    "offload-help": (["offload", "--help"], COMMAND),
    "run-help": (["run", "--help"], COMMAND),
    "bench-help": (["bench", "-h"], COMMAND),
    "devices-help": (["devices", "--help"], COMMAND),
    "report-help": (["report", "--help"], COMMAND),
    "explain-help": (["explain", "--help"], COMMAND),
    "explain": (["explain", "LX101"], {"jinja2", "islpy", *PARSER}),
    "devices": (["devices", "--profiles"], {"jinja2", "islpy", "loopxform.analysis", *PARSER}),
    "check": (["check", MM], {"jinja2", "islpy", "loopxform.codegen", "loopxform.transforms"}),
    "apply": (["apply", MM, "--do", "interchange i j"], {"jinja2", "loopxform.codegen"}),
    "tile": (["tile", MM, "--dry-run"], {"loopxform.runtime", "loopxform.verify"}),
}
"""What each must not load, besides HEAVY."""


@pytest.mark.parametrize("name", ["tile", "offload"])
def test_a_result_from_the_cache_loads_next_to_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    unwanted = {*PARSER, "argparse", "jinja2", "islpy", "loopxform.ir", "loopxform.analysis"}
    loaded = list[set[str]]()
    for _ in range(2):
        argv = json.dumps([name, MM, "-q", "-o", str(tmp_path)])
        done = subprocess.run(
            [sys.executable, "-c", PROBE, argv], capture_output=True, text=True, check=True
        )
        loaded.append(set(json.loads(done.stderr)))
    assert loaded[0] >= unwanted
    assert not loaded[1] & (unwanted | HEAVY)


@pytest.mark.parametrize("command", COMMANDS)
def test_modules(command: str) -> None:
    argv, unwanted = COMMANDS[command]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(argv)], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stderr))
    assert not loaded & (unwanted | HEAVY)


def test_the_package_itself_is_light() -> None:
    code = "import sys; before = set(sys.modules); import loopxform; "
    code += "print(*sorted(m for m in set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {m for m in done.stdout.split() if m.startswith("loopxform")}
    assert ours == {"loopxform", "loopxform.version"}


def test_pcpp_is_loaded_where_macros_are(tmp_path: Path) -> None:
    """The probe does see what is loaded."""
    file = tmp_path / "f.c"
    file.write_text(
        "#define TWICE(x) ((x) + (x))\n"
        "void f(float a[10]) { for (int i = 0; i < TWICE(5); i++) a[i] = 1; }\n"
    )
    argv = json.dumps(["check", str(file)])
    done = subprocess.run(
        [sys.executable, "-c", PROBE, argv], capture_output=True, text=True, check=True
    )
    assert "pcpp" in json.loads(done.stderr)


PUBLIC = [
    "AnnotationError",
    "ArgumentError",
    "CheckedFile",
    "CheckedFunction",
    "DeviceError",
    "EmitError",
    "Exhausted",
    "File",
    "IgnoredOption",
    "InputError",
    "InternalError",
    "LimitError",
    "LoopxformError",
    "MismatchError",
    "OffloadedRoutine",
    "Report",
    "Routine",
    "TiledRoutine",
    "TransformError",
    "TuningResult",
    "UnknownThreshold",
    "UnsupportedC",
    "UsageError",
    "autotune",
    "check",
    "load",
    "loads",
    "tuned",
]


def in_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_public_names_are_listed_and_loaded_late() -> None:
    """Tab completion sees the names before anything has asked for one."""
    code = "import sys, loopxform as lx; print(*(n for n in dir(lx) if n[0] != '_')); "
    code += "print('loopxform.api.facade' in sys.modules)"
    assert in_python(code).splitlines() == [" ".join(PUBLIC), "False"]
    code = "from loopxform import *; print(*sorted(n for n in dir() if n[0] != '_'))"
    assert in_python(code).split() == PUBLIC
    assert loopxform.__dir__() == sorted(loopxform.__dir__())
    assert {"__doc__", "__version__", "__path__"} <= set(dir(loopxform))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'loopxform' has no attribute 'laod'"):
        loopxform.laod  # noqa: B018
    assert not hasattr(loopxform, "_HOMES_")
    with pytest.raises(ImportError, match="cannot import name 'laod'"):
        from loopxform import laod  # noqa: F401


def test_help() -> None:
    text = pydoc.plain(pydoc.render_doc(loopxform))
    assert "class Routine(" in text
    assert "Tiles a nest for OpenCL" in text
    assert all(f"\n    {name}" in text for name in PUBLIC)


def test_files_of_settings_are_taken_apart_where_there_are_some(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("void f(float a[9]) { for (int i = 0; i < 9; i++) a[i] = 1; }\n")
    readers = {"tomllib", "loopxform.settings.project", "loopxform.settings.database"}
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'loopxform'\n")
    for files in ({}, {"loopxform.toml": "fp = 'fast'\n", "compile_commands.json": "[]"}):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        argv = json.dumps(["check", str(tmp_path / "f.c")])
        done = subprocess.run(
            [sys.executable, "-c", PROBE, argv], capture_output=True, text=True, check=True
        )
        loaded = set(json.loads(done.stderr))
        assert (loaded & readers) == (readers if files else set())
