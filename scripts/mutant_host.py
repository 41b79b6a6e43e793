"""Written C files with their launches, compiled by `cc` and run by OpenCL (PoCL, in the tests)."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from mutant_runs import Base, Case, Edit, Runs, planted

from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import allowed_of, differences
from loopxform.verify.cref import CSource, Library

SECONDS = 20
LINKED = ("-Wl,--no-as-needed", "-lOpenCL")


@dataclass(frozen=True)
class HostRuns:
    """Runs of the C file that `tile` wrote for a base, with its own launches."""

    base: Base

    @property
    def file(self) -> str:
        return f"{self.base.path.stem}_opencl.c"

    def fault(self, edits: tuple[Edit, ...], which: list[Case]) -> tuple[Case, str] | None:
        """The first run whose results are not those of the C, and what differs, or by which signal
        the process died; None also where it does not compile or end. Each call is a process of its
        own, whose kernels are all run by the device. Raises ValueError where an edit no longer
        applies."""
        files = planted(self.base.files, edits)
        context = get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_answer, args=(self, files, which, theirs))
        child.start()
        theirs.close()
        try:
            number, text = ours.recv() if ours.poll(SECONDS) else (0, "")
        except EOFError:
            child.join()
            status = child.exitcode or 0
            number, text = 0, f"crash, by PoCL: signal {-status}" if status < 0 else ""
        child.kill()
        child.join()
        return (which[number], text) if text else None

    def first(self, files: Mapping[str, str], which: list[Case]) -> tuple[int, str]:
        """By number, the first of these runs that is wrong, and what differs."""
        os.environ["LOOPXFORM_HOST"] = "never"
        plan = Runs(self.base).plan
        device: DeviceInfo = choose(None)
        with tempfile.TemporaryDirectory(prefix="mutant-") as name:
            for file, text in files.items():
                (Path(name) / file).write_text(text, encoding="utf-8")
            source = CSource(str(Path(name) / self.file), include=(name,), flags=LINKED)
            library = Library(source, [plan.written])
        for n, case in enumerate(which):
            actual = copy.deepcopy(case.given)
            library.run(plan.written.name, actual)
            wrong = differences(plan, case.expected, actual, allowed_of(plan, device))[1]
            if wrong:
                return n, f"value, by PoCL: {wrong[0]}"
        return 0, ""


def _answer(runs: HostRuns, files: Mapping[str, str], which: list[Case], pipe: Any) -> None:
    pipe.send(runs.first(files, which))
    pipe.close()
