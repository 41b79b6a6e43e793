"""What makes kernels faster is done to the nest it is meant for, and to no other."""

from __future__ import annotations

from deriving import untiled

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.targets.profile import PROFILES

TWO = """\
void f(int n, int m, int p, const double x[restrict n][m], const double y[restrict m],
       double s[restrict n], const float A[restrict n][p], const float B[restrict p][m],
       float C[restrict n][m])
{
  for (int r = 0; r < n; r++) {
    double t = 0;
    for (int c = 0; c < m; c++)
      t += x[r][c] * y[c];
    s[r] = t;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float acc = 0;
      for (int k = 0; k < p; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""


def test_each_nest_has_buffers_of_its_own() -> None:
    """Rows that are summed up in order are copied ahead, three tiles at a time."""
    done = offload(untiled(TWO), {}, PROFILES["h100"])
    kernels = emit.kernel(done.derivation, fp=SEPARATE).kernels
    staged = [{t.decl.name: t.buffers for t in k.mapping.tiles} for k in kernels]
    rows = [s for s in staged if any(name.startswith(("x", "y")) for name in s)]
    products = [s for s in staged if any(name.startswith("A") for name in s)]
    assert rows
    assert products
    assert all(n == 3 for s in rows for n in s.values())
    assert all(n == 2 for s in products for n in s.values())
