"""Tests that ask a device, a simulator or a browser are skipped where there is none, except in CI:
there the absence fails the test, so that nothing is hidden."""

from __future__ import annotations

import compileall
import gc
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from spread import EVERY, LONG, SAMPLED


@cache
def _missing(marker: str) -> str | None:
    """Why tests with this marker cannot run here, or None."""
    if marker == "oclgrind":
        return None if shutil.which("oclgrind") else "oclgrind is not installed"
    if marker == "opencl_sdk":
        return None if _has_sdk() else "the headers or the loader of OpenCL are not installed"
    if marker == "browser":
        return None if shutil.which("chromium") else "chromium is not installed"
    if marker == "clblast":
        return _no_library("clblast") if find_spec("pyopencl") else "pyopencl is not installed"
    from loopxform.errors import DeviceError
    from loopxform.runtime.device import devices
    from loopxform.runtime.selection import choose

    try:
        if marker == "opencl":
            devices()
        else:
            choose()
    except DeviceError as e:
        return e.message
    return None


def _has_sdk() -> bool:
    """Whether C programs that use OpenCL compile and link."""
    program = b"#include <CL/cl.h>\nint main(void) { return clFinish(0); }\n"
    options = ("-DCL_TARGET_OPENCL_VERSION=120", "-x", "c", "-", "-o", os.devnull, "-lOpenCL")
    return not subprocess.run(["cc", *options], input=program, capture_output=True).returncode


def _no_library(name: str) -> str | None:
    from loopxform.bench.libraries import load
    from loopxform.errors import InputError

    try:
        load(name, ("1",), "")
    except InputError as e:
        return e.message
    return None


OPTIONS, CLBLAST_OPTIONS = "PYOPENCL_BUILD_OPTIONS", "CLBLAST_BUILD_OPTIONS"
DECIDED = bool({OPTIONS, CLBLAST_OPTIONS, "POCL_EXTRA_BUILD_FLAGS"} & os.environ.keys())
"""Whether the environment says how kernels are compiled. Else those of most tests are not
optimised: the larger a kernel is, the more time PoCL takes for that, up to ten times the others'.
(PoCL asks for flags of its own once in a process.)"""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not DECIDED:
        options = "" if item.get_closest_marker("optimised") else "-cl-opt-disable"
        os.environ[OPTIONS] = options
        os.environ[CLBLAST_OPTIONS] = f" {options} "  # CLBlast writes its own next to them
    for marker in ("device", "opencl", "opencl_sdk", "oclgrind", "clblast", "browser"):
        if item.get_closest_marker(marker) and (reason := _missing(marker)):
            if os.environ.get("CI"):
                pytest.fail(f"CI must run this test: {reason}")
            pytest.skip(reason)


def pytest_configure(config: pytest.Config) -> None:
    """Without -m the slow tests are left out, but for those that are named (`FILE::TEST`), and
    where golden files are written. Workers have the same words, not the same options."""
    words = [str(x) for x in config.invocation_params.args]
    chosen = any(x.startswith("-m") or "::" in x for x in words)
    if not (config.option.markexpr or chosen or config.getoption("--update-golden")):
        config.option.markexpr = "not slow"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Most cases of the tests in `spread` are slow ones; of some, only a sample runs."""
    words = [str(x) for x in config.invocation_params.args]
    if not ("--every-case" in words or any("::" in x for x in words)):
        _sample(config, items)
    seen = Counter[str]()
    for item in items:
        name = item.nodeid.partition("[")[0].removeprefix("tests/")
        if {name, item.nodeid.removeprefix("tests/")} & LONG:
            item.add_marker(pytest.mark.slow)
        every = EVERY.get(name)
        if every is not None and not item.get_closest_marker("slow"):
            if seen[name] % every:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1


def _sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    seen, left = Counter[str](), list[pytest.Item]()
    for item in items:
        name = item.nodeid.partition("[")[0].removeprefix("tests/")
        if seen[name] % SAMPLED.get(name, 1):
            left.append(item)
        seen[name] += 1
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [x for x in items if x not in {*left}]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compiles what changed, as pip does: else each command that a test starts would do so."""
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "loopxform", quiet=2)


def pytest_collection_finish() -> None:
    """What is collected stays: the collector of garbage need not look at it over and over."""
    gc.freeze()


gc.set_threshold(500_000, 20, 50)  # nearly all garbage is gone without it


os.environ["LOOPXFORM_CACHE"] = "off"  # tests see what the code does now
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy wait by spinning
os.environ["LOOPXFORM_HOST"] = "never"  # written C is tested on devices, however small the data

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")
    parser.addoption("--every-case", action="store_true", help="sweeps in full, no samples of them")


@dataclass(frozen=True)
class Golden:
    """The expected texts of one test: `golden/<test file>/<test>.txt`, or `<test>--<label>.txt`."""

    base: Path
    update: bool

    def check(self, text: str, label: str = "") -> None:
        path = self.base.with_name(f"{self.base.name}{f'--{label}' if label else ''}.txt")
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path} is missing: run pytest --update-golden and read it"
        assert text == path.read_text(), f"{path} differs: pytest --update-golden writes it anew"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    test = request.node.name.replace("/", "_")
    return Golden(GOLDEN / request.path.stem / test, request.config.getoption("--update-golden"))
