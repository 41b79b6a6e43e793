"""Jumps out of inner loops, to labels further down, and functions that return from inside of loops:
the same as the C program."""

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

FUNCTIONS = """\
static int first(int m, const int *x, int least)
{
  for (int j = 0; j < m; j++)
    if (x[j] >= least)
      return j;
  return m - 1;
}
static int paired(int m, const int *x, int sum)
{
  if (sum == 3) return -1;
  for (int j = 0; j < m; j++)
    for (int k = j + 1; k < m; k++) {
      if (x[j] < -90) return -j;
      if (x[j] + x[k] == sum) return j * m + k;
    }
  return m * m;
}
"""
CALLS = {"a search": "r[i] += a[i][first(m, a[i], 60)];", "of pairs": "r[i] -= paired(m, a[i], i);"}


@pytest.mark.device
@pytest.mark.parametrize("name", [*BODIES, *CALLS])
def test_as_the_c_program(name: str) -> None:
    head = "void f(int n, int m, const int a[n][m], int r[n])\n{\n  for (int i = 0; i < n; i++) {\n"
    body = BODIES[name] if name in BODIES else CALLS[name]
    text = f"{FUNCTIONS if name in CALLS else ''}{head}{body}\n  }}\n}}\n"
    done = lx.loads(text)["f"].tile(limits="pocl")
    several = [{"n": n, "m": m} for n, m in ((1, 1), (70, 13), (5, 40))]
    assert_runs_agree(emit.kernel(done.derivation), CSource(text=text), several, 7)
