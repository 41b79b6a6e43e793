"""`check -j N`: the same as without, whatever becomes of a process."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import faulty_judge
import pytest

from loopxform.cli import main

CORPUS = Path(__file__).parents[2] / "corpus"
Capture = pytest.CaptureFixture[str]

COPY = "void copy(int n, float *restrict a, float *restrict b)\n{\n"
COPY += "  for (int i = 0; i < n; i++)\n    a[i] = b[i];\n}\n"
WRONG = "void f(int n, float *a, float t)\n{\n#pragma omp parallel for\n"
WRONG += "  for (int i = 0; i < n; i++) {\n    t = a[i];\n    a[i] = 2 * t;\n  }\n}\n"
OLD = "void old(int n, float *restrict a)\n{\n#pragma loopxform tile(group_order=4)\n"
OLD += "  for (int i = 0; i < n; i++)\n    a[i] = i;\n}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    for name, text in {
        "a.c": COPY,
        "b.c": "void f(int n) { int x = ; }\n",
        "c.c": '#include "c.h"\nvoid c(void) { for (int i = 0; i < N; i++) ; }\n',
        "c.h": "#define N 4\n",
        "d.c": WRONG,
        "e.c": OLD,
        "g.c": "int nothing;\n",
    }.items():
        (tmp_path / "src" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(words: list[str], capsys: Capture) -> tuple[int, str, str]:
    status = main(["check", *words])
    return status, *capsys.readouterr()


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--format", "sarif"]])
@pytest.mark.usefixtures("project")
def test_all_is_as_with_one_process(options: list[str], capsys: Capture) -> None:
    words = ["src", "missing.c", *options]
    alone = checked([*words, "-j", "1"], capsys)
    assert alone[0] == 2
    assert "src/b.c:1:25: error" in alone[2]
    assert "warning: " in alone[2]
    status, out, err = checked([*words, "-j", "3"], capsys)
    assert (status, out, err.replace("-j 3", "-j 1")) == alone


@pytest.mark.usefixtures("project")
def test_options_reach_every_process(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    files = ["src/c.c", "src/a.c", "src/d.c"]
    for words in (
        ["--function", "copy", *files],
        ["--time-limit", "0.000001", *files],
        [*files, "--cflags", "-DN=9"],
    ):
        alone = checked(["-j", "1", *words], capsys)
        assert checked(["-j", "2", *words], capsys) == alone
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(COPY.encode())))
    assert "<stdin>: copy:" in checked(["-", "src/a.c", "-j", "2"], capsys)[1]
    assert "LX104" in checked(["-j", "2", "--time-limit", "0.000001", *files], capsys)[2]


def test_a_part_of_the_corpus(capsys: Capture) -> None:
    alone = checked([str(CORPUS / "programs")], capsys)
    assert alone[0] == 0
    assert checked([str(CORPUS / "programs"), "-j", "2"], capsys) == alone


@pytest.mark.usefixtures("project")
def test_a_number_that_is_none(capsys: Capture) -> None:
    for number in ("0", "x", "1000"):
        status, out, err = checked(["src", "-j", number], capsys)
        assert status == 2
        assert out == ""
        assert "--jobs must be a whole number from 1 to 256" in err


def faulty(faults: dict[str, str], *words: str) -> subprocess.Popen[str]:
    places = (str(Path(faulty_judge.__file__).parent), os.environ.get("PYTHONPATH"))
    path = os.pathsep.join(filter(None, places))
    environment = {**os.environ, "FAULTS": json.dumps(faults), "PYTHONPATH": path}
    command = [sys.executable, faulty_judge.__file__, "check", "-j", "2", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.usefixtures("project")
def test_a_process_that_crashes_is_told_of_its_file(capsys: Capture) -> None:
    files = ["src/a.c", "src/c.c", "src/d.c", "src/g.c"]
    out, err = faulty(
        {"src/a.c": "abort", "src/d.c": "exit", "src/g.c": "unsent"}, *files
    ).communicate()
    said = "error: internal error in 'src/{}.c': the process {} [LX099]"
    assert err.count("[LX099]") == 2
    assert "src/a.c:1:1: " + said.format("a", "was ended by SIGABRT") in err
    assert "src/d.c:1:1: " + said.format("d", "ended with status 3") in err
    status, alone, _ = checked(["src/c.c", "src/g.c"], capsys)
    assert status == 0
    assert out == alone


@pytest.mark.usefixtures("project")
def test_an_interrupt_ends_all_of_them(project: Path) -> None:
    process = faulty({"src/a.c": "hang", "src/c.c": "hang"}, "src")
    files = [project / "src" / f"{x}.c.pid" for x in "ac"]
    until = time.monotonic() + 60
    while not all(f.exists() and f.read_text() for f in files) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
    for file in files:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)


@pytest.mark.usefixtures("project")
def test_a_person_who_waits_sees_how_far_it_is() -> None:
    code = "import sys; from loopxform.cli import main; sys.stderr.isatty = lambda: True; "
    code += "sys.exit(main(['check', 'src/a.c', 'src/c.c', '-j', '2']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "judging" in done.stderr
    assert done.stdout.endswith("2 loops: 2 yes\n")
