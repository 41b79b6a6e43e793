"""What loops leave in their variables: written out behind them where that is all that reads it."""

from __future__ import annotations

import pytest
from deriving import assert_same_meaning, c, start

from loopxform.ir.printer import expr_text, listing
from loopxform.ir.visit import loops
from loopxform.prepare.last_values import with_last_values

PARAMS = "int n, int m, int a[n + m + 9], int x[n + 9]"
TWO = "{ a[k] += 2; a[k + 1] += 3; }"
FIXED = frozenset({"n", "m"})

WRITTEN = {
    "tail": (f"int k; for (k = 0; k + 1 < n; k += 2) {TWO} if (k < n) a[k] = 7;", "2*(n/2)"),
    "loop": (f"int k; for (k = 0; k < n - 3; k += 4) {TWO} for (; k < n; k++) a[k] = k;", "n/4"),
    "set-again": (
        f"int k; for (k = 0; k < n; k += 2) {TWO} x[0] = k; k = k + 1; x[1] = k;",
        "k=2*((n+1)/2)+1",
    ),
    "fixed": (f"int k; for (k = 1; k < 8; k += 3) {TWO} x[0] = k;", "x[0] = 10"),
    "in-a-loop": (
        "for (int i = 0; i < n; i++) { int k; for (k = 0; k < m; k += 2) a[i] += k; x[i] = k; }",
        "x[i] = 2*((m + 1)/2)",
    ),
}
LEFT = {
    "downwards": "int k; for (k = n; k > 0; k -= 3) a[k] = k; x[0] = k;",
    "bound-changes": "int k; for (k = 0; k < x[0]; k++) a[k] = 1; x[1] = k;",
    "leaves-early": "int k; for (k = 0; k < n; k++) if (a[k] > 3) break; x[0] = k;",
    "sometimes-set": f"int k; for (k = 0; k < n; k += 2) {TWO} if (m > 1) k = 0; x[0] = k;",
    "unrolled": "int k; for (k = 0; k < n - 1; k += 2) { a[k] = 1; a[k + 1] = 1; }"
    " for (; k < n; k++) a[k] = 1;",
    "unsigned": "unsigned k; for (k = 0; k < n; k += 2) a[k] = 1; x[0] = k;",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_out(name: str) -> None:
    text, value = WRITTEN[name]
    before = start(c(text, PARAMS))[0].function
    after = with_last_values(before, FIXED)
    assert not any(site.loop.live_out for site in loops(after)), name
    assert value.replace(" ", "") in listing(after).replace(" ", ""), listing(after)
    assert all(expr_text(e).startswith("0 <= ") for e in after.assumes)
    assert_same_meaning(before, after, (0, 1, 2, 3, 4, 5, 8))


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    before = start(c(LEFT[name], PARAMS))[0].function
    assert with_last_values(before, FIXED) == before
