"""What commands do, from Python: tuning and the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopxform as lx
from loopxform.cli import main

MM = Path(__file__).parents[1] / "corpus" / "mm.c"

SCALE = """
#include "factor.h"
void scale(int n, float *restrict a) { for (int i = 0; i < n; i++) a[i] = FACTOR * WEIGHT * a[i]; }
"""


@pytest.mark.device
def test_what_was_tuned_is_known_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "-scale.c"
    path.write_text(SCALE)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text("#define FACTOR 2\n")
    monkeypatch.chdir(tmp_path)
    read: dict[str, Any] = {"include": [tmp_path / "include"], "define": ["WEIGHT=3"]}
    read["cflags"] = ["-std=c99", "-O2"]
    found = lx.autotune("-scale.c", sizes={"n": 4000}, budget=1, repeat=1, **read)
    assert found.function == "scale"
    assert [text for text, _ in found.defaults] == ["n=4000"]
    assert len(found.candidates) == 1
    assert not found.failures
    assert (found.speedup == 1.0) == (found.best is None)
    assert repr(found).startswith("<TuningResult scale: ")
    (again,) = lx.tuned(path)
    assert [c.sizes for c in again.candidates] == [c.sizes for c in found.candidates]
    assert again.device == found.device
    assert lx.tuned(path, function="other") == ()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["-scale.c", "cache", "include"]


Call = Callable[[], Any]

REFUSED: dict[str, tuple[Call, type[lx.LoopxformError], str]] = {
    "sizes": (lambda: lx.autotune(MM, sizes="M=4"), lx.ArgumentError, "sizes must be sizes by"),
    "budget": (lambda: lx.autotune(MM, sizes={}, budget=0), lx.ArgumentError, "budget must be a"),
    "option": (lambda: lx.autotune(MM, sizes={}, budgt=3), lx.ArgumentError, "mean 'budget'"),
    "recipe": (lambda: lx.autotune(MM, sizes={}, recipe="no"), lx.ArgumentError, "recipe must be"),
    "path": (lambda: lx.autotune(3, sizes={}), lx.ArgumentError, "the path of a C file"),
    "size": (lambda: lx.autotune(MM, sizes={"Q": 4}), lx.UsageError, "Q"),
    "missing": (lambda: lx.autotune("no.c", sizes={"n": 4}), lx.InputError, "no.c"),
    "device": (
        lambda: lx.autotune(MM, sizes={"M": 4, "U": 4, "N": 4}, device="no such"),
        lx.DeviceError,
        "no such",
    ),
    "tuned": (lambda: lx.tuned(3), lx.ArgumentError, "the path of a C file"),
    "report": (lambda: lx.Report.of(MM, limit="h100"), lx.ArgumentError, "mean 'limits'"),
    "profile": (lambda: lx.Report.of(MM, limits="abacus"), lx.UsageError, "no device profile"),
    "level": (lambda: lx.Report.of(MM, fp="loose"), lx.ArgumentError, "fp must be"),
    "function": (lambda: lx.Report.of(MM, function="nn"), lx.InputError, "no function 'nn'"),
}


@pytest.mark.device
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_allowed(case: str) -> None:
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        call()


def test_a_report_is_the_page_of_the_command(tmp_path: Path) -> None:
    assert main(["report", str(MM), "-q", "-o", str(tmp_path / "own.html")]) == 0
    assert lx.Report.of(MM).html == (tmp_path / "own.html").read_text()
    report = lx.Report.of(MM, limits="h100", fp="reassociate")
    assert repr(report) == f"<Report {MM}: 3 loops>"
    assert "--profile h100 --fp reassociate" in report.files[0].command
    assert [f.name for f in report.functions] == ["mm"]
    page = report.write(tmp_path / "mm.html").read_text()
    assert page == report.html
    assert page.startswith("<!DOCTYPE html>")
    copy = tmp_path / "mm.c"
    copy.write_text(MM.read_text())
    with pytest.raises(lx.InputError):
        lx.Report.of(copy).write(copy)
    assert copy.read_text() == MM.read_text()


def test_a_report_on_text_and_on_what_is_read_already() -> None:
    file = lx.loads("void f(int n, float *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }")
    report = lx.Report.of(file)
    assert report.files[0].name == "<text>"
    assert [x.verdict for f in report.functions for x in f.loops] == ["no"]
    assert lx.Report.of(MM).todo[0].what == "consider restrict on A, B, C"
