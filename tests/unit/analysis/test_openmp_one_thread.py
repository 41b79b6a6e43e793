"""A loop that one thread runs in order: its clauses still make copies."""

from __future__ import annotations

import pytest

from loopxform import loads

FILE = """
int f(int n, int *restrict a) {
  int i, x = 5;
#pragma omp %s
  for (i = 1; i < n; i++) %s
  return %s;
}
"""


@pytest.mark.parametrize(
    ("pragma", "body", "result", "proven"),
    [
        ("parallel for num_threads(1)", "{ a[i] = a[i - 1]; x += i; }", "x", True),
        ("parallel for num_threads(1) firstprivate(x)", "a[i] = x + a[i - 1];", "x", True),
        ("parallel for num_threads(1) firstprivate(x)", "x += a[i];", "x", False),
        ("parallel for num_threads(1) private(x)", "a[i] = x;", "0", False),
        ("simd if(0) private(x)", "a[i] = x;", "0", False),
        ("parallel for if(0)", "a[i] = i;", "i", False),
        ("parallel for if(0) reduction(+: x)", "{ a[i] = x; x += i; }", "x", None),
    ],
)
def test_copies_of_one_thread(pragma: str, body: str, result: str, proven: bool | None) -> None:
    (claim,) = loads(FILE % (pragma, body, result))["f"].audit()
    assert claim.proven is proven
