"""The examples of the docs are what the program prints; `...` stands for any text."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loopxform.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FLAGS = re.MULTILINE | re.DOTALL

NOT_RUN = {
    "python scripts/decided.py": "needs projects that are not part of this one",
    "python scripts/nest_precision.py": "takes half a minute",
    "scripts/audit_suite.py": "needs a suite that is not part of this project",
    "scripts/check_suite.py": "needs a suite that is not part of this project",
    "scripts/offload_programs.py": "needs programs that are not part of this project",
    "LOOPXFORM_TUNING=": "starts the reader's program; tests/device/test_thresholds_at_run_time.py",
    "CUDA_VISIBLE_DEVICES=0 dask": "needs a GPU and a cluster; tests/cli/test_tune_dask.py",
    "loopxform check src --dask": "needs a cluster; tests/cli/test_check_dask.py",
    "loopxform tune mm.c --size M=N=U=2048 --dask": "the same; tests/cli/test_tune_dask.py",
    "loopxform tune merge": "reads what other runs measured; tests/cli/test_tune_sharing.py",
    "loopxform tune explain": "reads what was measured; tests/cli/test_tune_kept.py",
    "loopxform tune export": "reads what was measured; tests/cli/test_tune_kept.py",
    "loopxform bench": "measures; test_the_tables_of_timing_are_real",
    "loopxform check scale.c": "one after the other; tests/cli/test_ci_page.py",
    "cat known.json": "the same; tests/cli/test_ci_page.py",
    "loopxform init": "writes settings that would hold here; tests/cli/test_init.py",
    "cmake": "needs a project; tests/cli/test_building_page.py",
}
"""Commands, by how they begin, with the reason."""

PLANNED = (" --budget ", " --thresholds ", " --plan")
"""Options of commands that would measure: here they print what they would, for a device that is the
same everywhere."""

LONG = (
    "loopxform offload corpus/pipelines/bilateral_grid.c --dry-run --tile-stages",
    "loopxform offload corpus/programs/gauss_seidel.c --report",
    "loopxform report mm.c --profile h100",
    "loopxform tile corpus/nests/contract.c --profile h100 --show-plan",
    "loopxform tune corpus/programs/loc_vol_calib.c --tree",
    "loopxform tune corpus/programs/sinkhorn.c --tree",
)
"""Commands, by how they begin, that take seconds: those that follow need nothing of what they
write, and they run in the slow sweep alone."""

ELSEWHERE = {
    "data.md": "tests/device/test_data_page.py",
    "tutorial.md": "tests/cli/test_tutorial.py",
}
"""Pages that a test of their own follows."""

FILES = {
    "annotations.md": {"shifted.c": 0, "sums.c": 1},
    "check.md": {"norms/norms.c": 0, "norms/vectors.c": 1, "smooth.c": 2},
    "concepts.md": {"sweep.c": 0},
    "verdicts.md": {"verdicts.c": 0, "counters.c": 1, "names.c": 2, "steps.c": 3},
}
"""The names of texts of the same page, by their place among those in C."""

CALLS = """\
void step(double *x);
void work(double *x);

void f(int n, double *restrict a, const double *restrict b)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i];
  for (int i = 0; i < n; i++)
    step(&a[i]);
  for (int i = 0; i < n; i++)
    work(&a[i]);
}
"""
VECTORS = """\
typedef struct { double *x, *y; } vec;
double length(const vec *v, int i);
"""
KEYS = """\
int f(int n, int m, const int *restrict p, int *restrict a)
{
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  for (int i = 0; i < n; i++) a[p[i]] = i;
  return s;
}
"""


@dataclass(frozen=True)
class Example:
    """A command of a page, and what the page shows of its output."""

    page: str
    command: str
    shown: str

    @property
    def is_run(self) -> bool:
        return not any(map(self.command.startswith, NOT_RUN))


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, FLAGS)


def examples() -> Iterator[Example]:
    for path in sorted(DOCS.rglob("*.md")):
        if path.name in ELSEWHERE:
            continue
        for block in blocks(path.read_text(), "console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield Example(path.name, command.partition("  # ")[0].strip(), shown)


EXAMPLES = list(examples())
RUN = [e for e in EXAMPLES if e.is_run]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages speak of: the corpus, files in C, and folders with such files."""
    where = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "corpus", where / "corpus")
    shutil.copy(ROOT / "corpus" / "mm.c", where)
    for page, names in FILES.items():
        texts = blocks((DOCS / page).read_text(), "c")
        for name, place in names.items():
            (where / name).parent.mkdir(exist_ok=True)
            (where / name).write_text(texts[place])
    (where / "norms" / "vectors.h").write_text(VECTORS)
    sums = (where / "sums.c").read_text()
    (where / "typo.c").write_text(sums.replace("tile(Ty=16, recipe=register)", "paralel"))
    for name, text in {"src/a.c": CALLS, "src/b.c": KEYS, "tests/kernels.c": KEYS}.items():
        (where / name).parent.mkdir(exist_ok=True)
        (where / name).write_text(text)
    return where


def matches(shown: str, printed: str) -> bool:
    shown, printed = map(_without_device, (shown, printed))
    pattern = ".*".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def _without_device(text: str) -> str:
    text = re.sub(r"^(tuning .* on ).*$", r"\1DEVICE", text.rstrip(), flags=re.MULTILINE)
    return re.sub(r"candidates, \d+ legal", "candidates, LEGAL", text)


def test_matching() -> None:
    assert matches("a\n...\nc\n", "a\nb\nc\n")
    assert matches("tuning f on one\n", "tuning f on two\n")
    assert not matches("a ... c\n", "a b d\n")
    assert not matches("a\n", "a\nb\n")


def numbered() -> Iterator[Any]:
    for n, example in enumerate(RUN):
        marks = [pytest.mark.slow] if example.command.startswith(LONG) else []
        yield pytest.param(n, id=f"{example.page}-{n}", marks=marks)


@pytest.mark.device
@pytest.mark.parametrize("number", [*numbered()])
def test_the_commands_print_what_is_shown(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = RUN[number]
    monkeypatch.chdir(folder)
    command, shown = example.command, example.shown
    if any(x in command for x in PLANNED):
        command += " --plan --device c"
        shown = shown.removesuffix("...\n")
    if {"|", ">"} & set(command.split()):
        printed, status = _in_a_shell(command)
    else:
        status = main(shlex.split(command)[1:])
        said = capsys.readouterr()
        printed = said.out + said.err
    if shown:
        assert matches(shown, printed), printed
        assert status in (0, 1, 2)
    else:
        assert status == 0, printed


def _in_a_shell(command: str) -> tuple[str, int]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode


def test_nothing_is_left_out_that_is_not_there() -> None:
    for start in (*NOT_RUN, *LONG):
        assert any(e.command.startswith(start) for e in EXAMPLES), start
    named = re.findall(r"tests/\S+\.py", " ".join(NOT_RUN.values()))
    assert all((ROOT / name).exists() for name in named)


def test_the_verdicts_in_python_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "verdicts.md").read_text()
    monkeypatch.chdir(tmp_path)
    Path("verdicts.c").write_text(blocks(page, "c")[0])
    exec(blocks(page, "python")[0], {})
    printed = page.split("```\n\n```\n")[1].split("```")[0]
    assert capsys.readouterr().out == printed
    named = re.findall(r"^\| `(\w+)`", page.partition("## What a loop is")[0], re.MULTILINE)
    assert named == ["yes", "reduction", "privatizable", "no", "unknown"]


def test_the_names_of_loops_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "verdicts.md").read_text().partition("## What a loop is")[2]
    monkeypatch.chdir(tmp_path)
    Path("names.c").write_text(blocks(page, "c")[0])
    assert main(["check", "names.c", "--format", "json"]) == 0
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    idioms = [x for loop in function["loops"] for x in loop["idioms"]]
    assert {k for x in idioms for k in x} <= set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert main(["check", "names.c", "--format", "sarif"]) == 0
    assert "no; scan of s (+, inclusive)." in capsys.readouterr().out


def timed(text: str) -> list[str]:
    """The lines with one word for each number of a table, and for the device."""
    text = re.sub(r"^(\w+ on ).*$", r"\1DEVICE", text, flags=re.MULTILINE)
    text = re.sub(r"^(  roof ).*$", r"\1", text, flags=re.MULTILINE)
    rows = re.sub(r" +\d+\.\d{4} .*?(?=  T\w=)", " NUMBERS", text)
    return rows.splitlines()


@pytest.mark.opencl
@pytest.mark.parametrize("number", range(4))
def test_the_tables_of_timing_are_real(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    timings = [e for e in EXAMPLES if e.command.startswith("loopxform bench")]
    assert len(timings) == 4
    command, shown = timings[number].command, timings[number].shown
    (tmp_path / "corpus").symlink_to(DOCS.parent / "corpus")
    monkeypatch.chdir(tmp_path)
    status = main([*shlex.split(command)[1:], "--repeat", "2"])
    found = capsys.readouterr()
    assert status == (0 if found.out else 2)
    assert timed(found.out + found.err) == timed(shown.replace("10 timed", "2 timed"))
