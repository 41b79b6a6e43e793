"""docs/ci.md is true, and what it speaks of works: the hook for pre-commit, the GitHub workflow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_docs import matches

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text()
WORKFLOW = ROOT / ".github" / "workflows" / "loopxform-check.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent


def blocks() -> list[tuple[str, str]]:
    """Kind and text, in their order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def shell(words: str | Sequence[str], where: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of a shell, or words; standard error goes to standard output."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        words,
        shell=isinstance(words, str),
        cwd=where,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_the_commands_of_the_page_one_after_the_other(tmp_path: Path) -> None:
    """A text in C is what scale.c holds from there on."""
    ran = 0
    for kind, text in blocks():
        if kind == "c":
            (tmp_path / "scale.c").write_text(text)
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:] if kind == "console" else ():
            line, _, shown = part.partition("\n")
            done = shell(line, tmp_path)
            assert matches(shown, done.stdout), done.stdout
            failing = "error:" in shown
            assert done.returncode == failing, line
            ran += 1
    assert ran == 6


SCHEMAS = {
    "jobs:": ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
    "artifacts:": ("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci"),
    "repos:": ("pre-commit", "validate-config"),
}
"""What validates the files in YAML, by a key of theirs."""


def test_files_are_valid(tmp_path: Path) -> None:
    texts = [text for kind, text in blocks() if kind == "yaml"]
    for key, command in SCHEMAS.items():
        (text,) = (t for t in texts if re.search(rf"^ *{key}", t, re.MULTILINE))
        (tmp_path / "file.yml").write_text(text)
        done = shell([*command, "file.yml"], tmp_path)
        assert done.returncode == 0, done.stdout
    for words in (
        (*SCHEMAS["jobs:"], str(WORKFLOW)),
        ("pre-commit", "validate-manifest", str(HOOKS)),
    ):
        done = shell(words, tmp_path)
        assert done.returncode == 0, done.stdout


def test_the_page_names_every_input() -> None:
    inputs = set(yaml.safe_load(WORKFLOW.read_text())[True]["workflow_call"]["inputs"])
    rows = PAGE.partition("| input | |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)`", rows, re.MULTILINE)) == inputs


def step(name: str) -> str:
    """What a step of the workflow has a shell run."""
    job = yaml.safe_load(WORKFLOW.read_text())["jobs"]["check"]
    (found,) = (s for s in job["steps"] if s.get("name") == name)
    text: str = found["run"]
    assert "${{" not in text, "inputs come by the environment: they cannot be commands"
    return text


def job(where: Path, **inputs: str) -> tuple[int, str, str]:
    """The exit status of the workflow's check, what it prints, and its outputs."""
    output = where / "outputs"
    output.write_text("")
    env = {"PATHS": ".", "CFLAGS": "", "BASELINE": "", **inputs}
    files = {"RUNNER_TEMP": str(where / "temp"), "GITHUB_OUTPUT": str(output)}
    done = shell(["bash", "-e", "-c", step("Check")], where / "repo", **env, **files)
    return done.returncode, done.stdout, output.read_text()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder with temp, and repo, which has one racy file and a sound one."""
    racy = next(text for kind, text in blocks() if kind == "c")
    for name, text in {
        "my src/scale.c": racy,
        "include dir/n.h": "#define N 8\n",
        "good.c": '#include "n.h"\nint a[N], sound;\n#ifndef FAST\n#error no flag\n#endif\n',
    }.items():
        (tmp_path / "repo" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "repo" / name).write_text(text)
    (tmp_path / "temp").mkdir()
    return tmp_path


def test_the_workflow_checks(repo: Path) -> None:
    status, printed, outputs = job(
        repo, PATHS="my src\n\ngood.c\n", CFLAGS="-I'include dir' -O2\n-DFAST"
    )
    assert (status, printed.count("::error file=my src/scale.c,line=")) == (1, 2)
    assert outputs == f"sarif={repo}/temp/loopxform.sarif\n"
    assert '"LX301"' in (repo / "temp" / "loopxform.sarif").read_text()
    wrote = shell(["loopxform", "check", "my src", "--write-baseline", "known.json"], repo / "repo")
    assert wrote.returncode == 0
    status, printed, outputs = job(repo, PATHS="my src", BASELINE="known.json")
    assert (status, printed) == (0, "baseline known.json: 0 new findings, 2 known, 0 gone\n")
    assert outputs
    status, printed, _ = job(repo, CFLAGS="-D'x")
    assert (status, "is not closed: -D'x" in printed) == (2, True)
    (repo / "temp" / "loopxform.sarif").unlink()
    status, printed, outputs = job(repo, BASELINE="none.json", PATHS="-h; $(touch x)\n")
    assert (status, outputs) == (2, "")
    assert not (repo / "repo" / "x").exists()


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("", "loopxform"),
        ("0.1.0", "loopxform==0.1.0"),
        ("git+https://x/y@v1", "git+https://x/y@v1"),
    ],
)
def test_the_workflow_installs(tmp_path: Path, version: str, wanted: str) -> None:
    (tmp_path / "python").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "python").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = shell(
        ["bash", "-e", "-c", step("Install loopxform")], tmp_path, VERSION=version, PATH=path
    )
    assert done.stdout == f"-m pip install --disable-pip-version-check {wanted}\n"


def git(where: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(where), *identity, *words], check=True, capture_output=True)


def test_pre_commit_runs_the_hook(repo: Path) -> None:
    """By `try-repo`, on a repository with our definition but for its language: this environment
    stands for the one that pre-commit would install."""
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert hook.pop("language") == "python"
    hooks, project = repo / "hooks", repo / "repo"
    hooks.mkdir()
    (hooks / HOOKS.name).write_text(yaml.safe_dump([{**hook, "language": "system"}]))
    for where in (hooks, project):
        git(where, "init", "-q")
        git(where, "add", "-A")
        git(where, "commit", "-qm", "x")

    def run() -> subprocess.CompletedProcess[str]:
        words = ["pre-commit", "try-repo", str(hooks), hook["id"], "--files", "my src/scale.c"]
        return shell([*words, "include dir/n.h"], project, PRE_COMMIT_HOME=str(repo / "home"))

    done = run()
    assert done.returncode == 1, done.stdout
    assert "my src/scale.c:7:5: error: race on 'j'" in done.stdout
    assert "n.h" not in done.stdout
    racy: Any = project / "my src" / "scale.c"
    racy.write_text("int nothing;\n")
    done = run()
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout
