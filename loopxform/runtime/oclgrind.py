"""Running kernels under the Oclgrind simulator, which sees races, accesses out of bounds and reads
of unset values, and counts what it executes.

It interprets: keep sizes small. Counts are of LLVM instructions after Oclgrind's optimiser, which
merges repeated loads and splits vectors; with `-cl-opt-disable` they are those of the source.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime import oclgrind_report
from loopxform.runtime.launch import LocalParam, Room
from loopxform.runtime.oclgrind_report import OclgrindReport

AS_WRITTEN = "-cl-opt-disable"
"""The build option with which accesses are counted as the source has them."""

_HELP = "install it (Debian: apt install oclgrind), or leave this check out"
_DRIVER = Path(__file__).with_name("oclgrind_driver.py")


@dataclass(frozen=True, slots=True)
class Checks:
    """What to look for. `uniform_writes` also reports work-items that race to write the same
    value; `local_bytes` and `group_size` are what the simulated device offers; at most
    `max_errors` errors are reported."""

    data_races: bool = True
    uninitialized: bool = True
    counts: bool = True
    uniform_writes: bool = False
    local_bytes: int = 48 * 1024
    group_size: int = 1024
    max_errors: int = 1000

    @property
    def flags(self) -> list[str]:
        named = {
            "--data-races": self.data_races,
            "--uninitialized": self.uninitialized,
            "--inst-counts": self.counts,
            "--uniform-writes": self.uniform_writes,
        }
        out = [flag for flag, on in named.items() if on]
        out += ["--local-mem-size", str(self.local_bytes), "--max-wgsize", str(self.group_size)]
        return [*out, "--max-errors", str(self.max_errors)]


def installed() -> bool:
    """Whether the command and its OpenCL library are there."""
    return shutil.which("oclgrind") is not None and _library() is not None


def run_under_oclgrind(
    command: Sequence[str],
    checks: Checks | None = None,
    *,
    arrays: Sequence[np.ndarray[Any, Any]] = (),
    timeout: float = 600,
) -> OclgrindReport:
    """Runs a command whose OpenCL calls go to the simulator, and reports on all its kernels.

    `timeout` is in seconds; `arrays` are passed on to the report. Raises DeviceError where
    Oclgrind is missing or the command fails.
    """
    tool, library = shutil.which("oclgrind"), _library()
    if tool is None or library is None:
        raise DeviceError("oclgrind is not installed", help=_HELP)
    with tempfile.TemporaryDirectory(prefix="loopxform-") as directory:
        log = Path(directory, "log")
        flags = [*(checks or Checks()).flags, "--log", str(log)]
        try:
            done = subprocess.run(
                [tool, *flags, *command],
                env=_environment(library),
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired as e:
            raise DeviceError(f"Oclgrind did not finish in {timeout} s: use smaller sizes") from e
        text = log.read_text(errors="replace") if log.exists() else ""
    if done.returncode:
        lines = (text + done.stderr).strip().splitlines()
        raise DeviceError("the run under Oclgrind failed", notes=lines[-15:])
    found = oclgrind_report.findings(text)
    return OclgrindReport(found, oclgrind_report.counts(done.stdout), tuple(arrays), text)


@dataclass(frozen=True, slots=True)
class SimulatedLaunch:
    """One launch of a kernel. `args` are numpy scalars (their dtype is the parameter's type), numpy
    arrays (unchanged here; one given twice is one buffer), LocalParams, or Rooms (shared by the
    launches that are given the same one; nothing in them is set)."""

    kernel: str
    args: Sequence[Any]
    global_size: Sequence[int]
    local_size: Sequence[int]


def run_kernel_under_oclgrind(
    source: str,
    kernel: str,
    args: Sequence[Any],
    global_size: Sequence[int],
    local_size: Sequence[int],
    options: Sequence[str] = (),
    checks: Checks | None = None,
) -> OclgrindReport:
    """Runs one kernel in the simulator; see `run_kernels_under_oclgrind`."""
    launch = SimulatedLaunch(kernel, args, global_size, local_size)
    return run_kernels_under_oclgrind(source, [launch], options, checks)


def run_kernels_under_oclgrind(
    source: str,
    launches: Sequence[SimulatedLaunch],
    options: Sequence[str] = (),
    checks: Checks | None = None,
) -> OclgrindReport:
    """Runs kernels in the simulator, one after the other. The report has every array argument, in
    order, as it is after the last launch. Raises DeviceError where Oclgrind is missing or the
    source does not build.
    """
    given = _Given()
    with tempfile.TemporaryDirectory(prefix="loopxform-") as name:
        directory = Path(name)
        described = [
            {
                "kernel": x.kernel,
                "global_size": [int(n) for n in x.global_size],
                "local_size": [int(n) for n in x.local_size],
                "args": [given.argument(a) for a in x.args],
            }
            for x in launches
        ]
        job = {"source": source, "options": list(options), "buffers": given.buffers}
        (directory / "job.json").write_text(json.dumps({**job, "launches": described}))
        with open(directory / "in.bin", "wb") as file:
            for array in given.arrays.values():
                file.write(array.tobytes())
        report = run_under_oclgrind([sys.executable, "-I", "-S", str(_DRIVER), name], checks)
        after = (directory / "out.bin").read_bytes()
    results = tuple(given.result(key, after) for key in given.order)
    return OclgrindReport(report.findings, report.counts, results, report.log)


class _Given:
    """Arguments as the driver reads them; each array and each room has a key, and is a buffer of so
    many bytes. Arrays lie one after the other, from the places of `buffers` on."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self.rooms: dict[Room, str] = {}
        self.order: list[str] = []
        self.buffers: dict[str, tuple[int, int | None]] = {}
        self.end = 0

    def argument(self, value: Any) -> dict[str, Any]:
        if isinstance(value, LocalParam):
            return {"local": value.nbytes}
        if isinstance(value, Room):
            key = self.rooms.setdefault(value, f"r{len(self.rooms)}")
            self.buffers[key] = value.nbytes, None
            return {"buffer": key}
        if isinstance(value, np.ndarray):
            same = next((k for k, a in self.arrays.items() if a is value), None)
            key = same or f"a{len(self.arrays)}"
            if same is None:
                self.arrays[key] = value
                self.buffers[key] = value.nbytes, self.end
                self.end += value.nbytes
            self.order.append(key)
            return {"buffer": key}
        if not isinstance(value, np.generic):
            kind = type(value).__name__
            raise DeviceError(f"a scalar argument must be of a numpy type, not {kind}")
        return {"scalar": value.tobytes().hex()}

    def result(self, key: str, after: bytes) -> np.ndarray[Any, Any]:
        """What an array holds, given what all hold."""
        like, (size, offset) = self.arrays[key], self.buffers[key]
        assert offset is not None
        return np.frombuffer(after[offset : offset + size], like.dtype).reshape(like.shape).copy()


def _environment(library: str) -> dict[str, str]:
    """OpenCL's loaders find the simulator alone; numbers are printed without separators; no
    binary of an earlier build is used (the simulator would know nothing of its source), and no
    option but those that are asked for."""
    found = {"OCL_ICD_VENDORS": library, "OCL_ICD_FILENAMES": library}
    found |= {"PYOPENCL_BUILD_OPTIONS": ""}
    return {**os.environ, **found, "LC_ALL": "C", "PYOPENCL_NO_CACHE": "1"}


def _library() -> str | None:
    """The OpenCL library of Oclgrind that an ICD loader can load."""
    tool = shutil.which("oclgrind")
    if tool is None:
        return None
    prefix = Path(tool).resolve().parent.parent
    for folder in ("lib", "lib64", "lib/*"):
        for path in sorted(prefix.glob(f"{folder}/oclgrind/liboclgrind-rt-icd.*")):
            return str(path)
        for path in sorted(prefix.glob(f"{folder}/liboclgrind-rt-icd.*")):
            return str(path)
    return None
