"""The tests that `spread` names are there: one that is renamed would run in full, or not at all.
Kernels are compiled as a test asks."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from conftest import DECIDED
from spread import EVERY


@pytest.mark.parametrize("name", EVERY)
def test_it_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    tree = ast.parse((Path(__file__).parent / file).read_text())
    assert any(isinstance(x, ast.FunctionDef) and x.name == test for x in tree.body)
    assert EVERY[name] > 1


@pytest.mark.parametrize(
    "wanted", ["-cl-opt-disable", pytest.param("", marks=pytest.mark.optimised)]
)
def test_kernels_are_optimised_where_a_test_asks_for_it(wanted: str) -> None:
    assert DECIDED or os.environ["PYOPENCL_BUILD_OPTIONS"] == wanted
