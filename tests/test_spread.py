"""The tests that `spread` names are there: one that is renamed would run in full, or not at all.
Kernels are compiled as a test asks."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DECIDED
from spread import EVERY, LONG, SAMPLED


@pytest.mark.parametrize(
    "file", sorted({name.partition("::")[0] for name in (*EVERY, *LONG, *SAMPLED)})
)
def test_they_are_there(file: str) -> None:
    tree = ast.parse((Path(__file__).parent / file).read_text())
    there = {f"{file}::{x.name}" for x in tree.body if isinstance(x, ast.FunctionDef)}
    named = {name.partition("[")[0] for name in (*EVERY, *LONG, *SAMPLED)}
    assert {name for name in named if name.startswith(f"{file}::")} <= there


def test_every_first_case_runs() -> None:
    assert min(EVERY.values()) > 1


@pytest.mark.parametrize(
    "wanted", ["-cl-opt-disable", pytest.param("", marks=pytest.mark.optimised)]
)
def test_kernels_are_optimised_where_a_test_asks_for_it(wanted: str) -> None:
    assert DECIDED or os.environ["PYOPENCL_BUILD_OPTIONS"] == wanted


@pytest.mark.parametrize("option", ["-n1", "-n0"])
def test_slow_tests_are_left_out(option: str) -> None:
    """By workers too, which are told words, not options."""
    file = Path(__file__).parent / "unit" / "recipes" / "test_tile_times.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", option, str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"\b7 passed", said), said
