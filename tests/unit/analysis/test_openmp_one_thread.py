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


REGION = """
int f(int n, int *restrict a) {
  int x = 5;
#pragma omp parallel %s
  {
    int k = 0;
#pragma omp for
    for (int i = 1; i < n; i++) %s
#pragma omp for
    for (int i = 1; i < n; i++) a[i] += k;
  }
  return %s;
}
"""


@pytest.mark.parametrize(
    ("clauses", "body", "result", "proven"),
    [
        ("num_threads(1)", "{ a[i] = a[i - 1]; k += a[i]; x = i; }", "x", True),
        ("if(0)", "{ a[i] = a[i - 1]; k += a[i]; x = i; }", "x", True),
        ("if(parallel: 0)", "{ a[i] = x; x = a[i - 1]; }", "x", True),
        ("num_threads(1) private(x)", "a[i] = x;", "0", None),
        ("num_threads(1) firstprivate(x)", "x = a[i - 1];", "x", None),
        ("num_threads(1) firstprivate(x)", "{ x += 2; a[i] = x; }", "0", True),
        ("num_threads(1) reduction(+: x)", "a[i] = x;", "x", None),
        ("num_threads(2)", "a[i] = a[i - 1];", "x", False),
        ("if(n)", "a[i] = a[i - 1];", "x", False),
    ],
)
def test_a_region_of_one_thread(clauses: str, body: str, result: str, proven: bool | None) -> None:
    found = [c for c in loads(REGION % (clauses, body, result))["f"].audit() if c.path]
    assert found[0].proven is proven


@pytest.mark.parametrize(
    ("pragma", "proven"),
    [
        ("parallel for simd if(parallel: 0) safelen(4)", True),
        ("parallel for simd num_threads(1) safelen(4)", True),
        ("parallel for simd if(parallel: 0) safelen(5)", False),
        ("parallel for simd if(simd: 0) safelen(4)", False),
        ("parallel for simd safelen(4)", False),
    ],
)
def test_lanes_of_one_thread(pragma: str, proven: bool) -> None:
    text = FILE.replace("i = 1", "i = 4") % (pragma, "a[i] = a[i - 4];", "x")
    (claim,) = loads(text)["f"].audit()
    assert claim.proven is proven


def test_one_thread_in_each_thread_of_a_region() -> None:
    text = FILE % ("parallel\n#pragma omp parallel for num_threads(1)", "a[i] += 1;", "x")
    assert [c.proven for c in loads(text)["f"].audit() if c.path] == [None]
