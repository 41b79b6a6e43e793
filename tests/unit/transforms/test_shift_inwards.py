"""ShiftInwards: the last tile of a loop begins earlier, so that every tile is whole."""

from __future__ import annotations

import pytest
from c_texts import ACCUMULATE, COPY, DOWN, MM, PARALLEL
from conftest import Golden
from deriving import assert_step, c, refusal

TILES = ("stripmine i 4 ii", "assume n>=4")
BLOCK = (
    *("stripmine i 4 ii", "assume M>=4", "shift-inwards ii"),
    *("stripmine j 6 jj", "assume N>=6"),
)
SCALED = """\
void gemm(int M, int U, int N, float alpha, float beta, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      if (beta == 0)
        C[i][j] = alpha * acc;
      else
        C[i][j] = alpha * acc + beta * C[i][j];
    }
}
"""
FROM_ONE = c("for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];")
TWO_ENDS = c(
    "for (int i = 0; i < n && i < m; i++) b[i] = 2 * a[i];", "int n, int m, float a[n], float b[n]"
)
EVERY_OTHER = c("for (int i = 0; i < n; i += 2) b[i] = a[i];")
BESIDE = c("for (int i = 0; i < n; i++) { b[i] = a[i]; } b[0] = 1;")
IN_PLACE = c("for (int i = 0; i < n; i++) { float x = b[i]; x = x * a[i]; b[i] = x; }")
WHOLE = c("for (int i = 0; i < n; i++) { float x = a[i]; b[i] = x; b[i] += x; }")
LOOP_OF_STORES = c(
    "for (int i = 0; i < n; i++) { float x = a[i]; for (int j = 0; j < 3; j++) b[i][j] = x + j; }",
    "int n, float a[n], float b[n][3]",
)
SUMMED = c("float s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s;")
KNOWN = c("for (int i = 0; i < 10; i++) b[i] = a[i];", "float a[10], float b[10]")
LONG = COPY.replace("int n", "long n").replace("int i", "long i")
UNSIGNED = COPY.replace("int n", "unsigned n").replace("int i", "unsigned i")

LISTINGS = {
    "copy": (COPY, *TILES, "shift-inwards ii"),
    "forall": (COPY, "parallelise i", *TILES, "shift-inwards ii"),
    "two-loops": (MM, *PARALLEL, *BLOCK, "shift-inwards jj"),
    "two-ends": (TWO_ENDS, "stripmine i 4 ii", "assume n>=4", "assume m>=4", "shift-inwards ii"),
    "what-a-store-reads-is-read-once": (SCALED, *PARALLEL, *BLOCK, "shift-inwards jj"),
    "updates-are-stores": (WHOLE, *TILES, "shift-inwards ii"),
    "a-loop-of-stores": (LOOP_OF_STORES, *TILES, "shift-inwards ii"),
    "from-one": (FROM_ONE, "stripmine i 4 ii", "assume n-1>=5", "shift-inwards ii"),
    "known-size": (KNOWN, "stripmine i 4 ii", "shift-inwards ii"),
    "long": (LONG, *TILES, "shift-inwards ii"),
    "unsigned": (UNSIGNED, *TILES, "shift-inwards ii"),
}
REFUSALS = {
    "no-tiles": (COPY, "assume n>=4", "shift-inwards i"),
    "downwards": (DOWN, "shift-inwards i"),
    "may-be-too-short": (COPY, "stripmine i 4 ii", "assume n>=3", "shift-inwards ii"),
    "known-to-be-too-short": (KNOWN, "stripmine i 16 ii", "shift-inwards ii"),
    "every-tile-is-whole": (KNOWN, "stripmine i 5 ii", "shift-inwards ii"),
    "begins-at-no-number": (
        c("for (int i = m; i < n; i++) b[i] = a[i];", "int m, int n, float a[n], float b[n]"),
        *("stripmine i 4 ii", "shift-inwards ii"),
    ),
    "every-other": (EVERY_OTHER, "stripmine i 4 ii", "assume n>=8", "shift-inwards ii"),
    "reads-what-it-stores": (IN_PLACE, *TILES, "shift-inwards ii"),
    "is-an-operand": (
        ACCUMULATE,
        *("scalarise C k", "stripmine i 4 ii", "assume M>=4", "shift-inwards ii"),
    ),
    "sets-what-is-not-its-own": (SUMMED, *TILES, "shift-inwards ii"),
    "mapped": (
        COPY,
        *("parallelise i", *TILES, "map ii group.x", "map i thread.x", "shift-inwards ii"),
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
