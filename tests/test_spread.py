"""The tests that `spread` names are there: one that is renamed would run in full, or not at all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from spread import EVERY


@pytest.mark.parametrize("name", EVERY)
def test_it_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    tree = ast.parse((Path(__file__).parent / file).read_text())
    assert any(isinstance(x, ast.FunctionDef) and x.name == test for x in tree.body)
    assert EVERY[name] > 1
