"""Nests whose bounds are numbers, so that some of their loops never run."""

from __future__ import annotations

import numpy as np
import pytest

import loopxform as lx
from loopxform.verify.interp import Program

NESTS = {
    "beside a nest": """
      for (int i = 0; i < 6; i++) for (int j = 0; j < 9; j++) a[i][j] = 1;
      for (int i = 3; i < 3; i++) for (int j = 2; j < 9; j++) b[i][j] = a[i][j];""",
    "around nests": """
      for (int t = 0; t < 0; t++) {
        for (int i = 1; i < 3; i++) for (int j = 1; j < 9; j++) a[i][j] = b[i][j] + b[i - 1][j];
        for (int j = 2; j < 9; j++) b[0][j] = a[1][a[1][j] & 1];
        for (int i = 3; i < 3; i++) for (int j = 2; j < 9; j++) b[i][j] = a[i][j];
      }""",
    "a sum": """
      for (int i = 0; i < 6; i++) for (int j = 0; j < 9; j++) {
        a[i][j] = 0;
        for (int k = 4; k < 2; k++) a[i][j] += b[i][k];
      }""",
}


@pytest.mark.parametrize("name", NESTS)
def test_what_runs_is_the_same(name: str) -> None:
    routine = lx.loads(f"void f(int a[6][9], int b[6][9]) {{ {NESTS[name]} }}")["f"]
    after = routine.offload().derivation.function
    args = [{n: np.arange(54, dtype="int32").reshape(6, 9) for n in "ab"} for _ in range(2)]
    Program(routine.function).run(args[0])
    Program(after).run(args[1])
    assert all(np.array_equal(args[0][n], args[1][n]) for n in "ab")
