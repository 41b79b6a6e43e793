"""Jumps out of inner loops, to labels further down: the same as the C program."""

from __future__ import annotations

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.verify.cref import CSource

BODIES = {
    "to the end": """\
r[i] = 0;
for (int j = 0; j < m; j++) if (a[i][j] > 90) goto next;
r[i] = 1;
next: ;""",
    "out of two loops": """\
int s = 0;
for (int j = 0; j < m; j++)
  for (int k = j; k < m; k++) { s += a[i][j] - a[i][k]; if (s > 100) goto done; }
s = -s;
done: r[i] = s;""",
    "in a branch, and beside a loop": """\
if (i % 3) { for (int j = 0; j < m; j++) { if (a[i][j] < 0) goto skip; r[i] += a[i][j]; } }
else if (a[i][0] == 5) goto skip;
r[i] *= 2;
skip: continue;""",
}


@pytest.mark.device
@pytest.mark.parametrize("name", BODIES)
def test_as_the_c_program(name: str) -> None:
    head = "void f(int n, int m, const int a[n][m], int r[n])\n{\n  for (int i = 0; i < n; i++) {\n"
    text = f"{head}{BODIES[name]}\n  }}\n}}\n"
    done = lx.loads(text)["f"].tile(limits="pocl")
    several = [{"n": n, "m": m} for n, m in ((1, 1), (70, 13), (5, 40))]
    assert_runs_agree(emit.kernel(done.derivation), CSource(text=text), several, 7)
