"""Local pointers into what a pointer of the file leads to."""

from __future__ import annotations

import pytest

import loopxform as lx

FILE = """
struct cell { int level; double data[8][8]; } *cells;
double *grid;
void other(void);
void f(int n, int m, double *restrict b, double **table, unsigned char *bytes)
{
  for (int i = 0; i < n; i++) { %s }
}
"""

BODIES = {
    "struct cell *q = &cells[i]; q->data[0][1] = q->data[1][1];": "yes",
    "double *q = grid + i; q[0] = b[i];": "yes",
    "double *q = grid + i; b[i] = 1; q[0] = 2;": "yes",
    # the pointer may be another one meanwhile
    "double *q = grid + i; grid = b; q[0] = b[i];": "unknown",
    "double *q = grid + i; other(); q[0] = b[i];": "unknown",
    "double *q = grid + i; *table = b; q[0] = b[i];": "unknown",
    "double *q = grid + i; bytes[i] = 1; q[0] = b[i];": "unknown",
}


@pytest.mark.parametrize(("body", "verdict"), BODIES.items())
def test_verdicts(body: str, verdict: str) -> None:
    assert lx.loads(FILE % body)["f"].check()[0].parallel == verdict
