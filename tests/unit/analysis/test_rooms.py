"""Rooms: a loop is `no` for sizes with which its iterations stay inside their arrays."""

from __future__ import annotations

from random import Random

import pytest

import loopxform as lx
from loopxform.analysis.matrix import matrix

HEAD = "int A[100], B[10][10], C[100];\n"
CASES = [
    # A collision needs an iteration that is outside.
    ("int n", "for (int i = 0; i < n; i++) A[i] = A[i + 50];", "unknown"),
    ("int n", "for (int i = 0; i < n; i++) { A[i] = 1; C[i] = A[i + 50]; }", "unknown"),
    ("int n", "for (int i = 0; i < n; i++) { A[i + 50] = 1; C[i] = A[i]; }", "unknown"),
    ("int n", "for (int i = n; i >= 0; i--) A[i + 60] = A[i + 5];", "unknown"),
    ("int n", "int t[20]; for (int i = 0; i < n; i++) t[i] = t[i + 10]; A[0] = t[0];", "unknown"),
    ("int n", "for (int i = 0; i < n; i++) B[2][i] = B[2][i + 5];", "unknown"),
    ("int n, int (*b)[10]", "for (int i = 0; i < n; i++) b[2][i] = b[2][i + 5];", "unknown"),
    (
        "int n, int m",
        "int t[n]; for (int i = 0; i < m; i++) t[i] = t[i + n]; A[0] = t[0];",
        "unknown",
    ),
    # There is room for it.
    ("int n", "for (int i = 0; i < n; i++) A[i] = A[i + 49];", "no"),
    ("int n", "for (int i = 0; i < n; i++) A[i + 40] = A[99 - i];", "no"),
    ("int n", "for (int i = 0; i < n; i++) A[i - 5] = A[i];", "no"),
    ("int n, int m", "for (int i = 0; i < n; i++) B[i][m] = B[i + 1][m];", "no"),
    ("int n", "for (int i = 0; i < n; i++) A[i] = i < 40 ? A[i + 50] : A[i - 30];", "no"),
    (
        "int n, int m",
        "int t[n]; for (int i = 0; i < m; i++) t[i] = t[i + n - 1]; A[0] = t[0];",
        "unknown",
    ),
    (
        "int n, int m",
        "int t[n]; for (int i = 0; i < m; i++) t[i] = t[i + n - 2]; A[0] = t[0];",
        "no",
    ),
    # Nobody knows how much a pointer leads to, whatever its declaration says.
    ("int n, int *a", "for (int i = 0; i < n; i++) a[i] = a[i + 50];", "no"),
    ("int n, int a[20]", "for (int i = 0; i < n; i++) a[i] = a[i + 50];", "no"),
    ("int n, int (*b)[10]", "for (int i = 0; i < n; i++) b[i][2] = b[i + 20][2];", "no"),
]


@pytest.mark.parametrize(("sizes", "body", "answer"), CASES)
def test_a_collision_is_inside_the_arrays(sizes: str, body: str, answer: str) -> None:
    routine = lx.loads(f"{HEAD}void f({sizes}) {{ {body} }}")["f"]
    (found,) = routine.check()
    assert found.parallel == answer
    assert ("stay inside" in found.reasons[0].message) == (answer == "unknown")


def test_a_size_is_above_0() -> None:
    text = "void f(int n, int m, int a[n]) { for (int i = 0; i < m; i++) a[i] = a[i + n / 2]; }"
    points = [d.point for m in matrix(lx.loads(text)["f"].function) for d in m.rows if d.point]
    assert points
    assert all(p.params["n"] > 0 for p in points)


CLAIMED = """int A[100];
void f(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) A[i] = A[i + FAR];
}
"""


@pytest.mark.parametrize(("far", "proven"), [("49", False), ("50", None)])
def test_a_claim_is_wrong_for_iterations_inside_the_arrays(far: str, proven: bool | None) -> None:
    (claim,) = lx.loads(CLAIMED.replace("FAR", far))["f"].audit()
    assert claim.proven is proven


@pytest.mark.parametrize("seed", range(60))
def test_random_loops_over_an_array_of_known_size(seed: int) -> None:
    random = Random(seed)
    size, first, step = random.randint(1, 14), random.randint(0, 3), random.choice((1, 1, 2))
    write, read, other = (
        (random.choice((0, 1, 1, 2, -1)), random.randint(-2, 9)) for _ in range(3)
    )
    at = [f"{a} * i + {c}" for a, c in (write, read, other)]
    loop = (
        f"for (int i = {first}; i < n; i += {step}) {{ A[{at[0]}] = A[{at[1]}]; C[{at[2]}] = i; }}"
    )
    routine = lx.loads(f"int A[{size}], C[{size}]; void f(int n) {{ {loop} }}")["f"]
    (found,) = routine.check()
    valid = [
        places
        for n in range(first + 1, 40)
        if (places := _places(range(first, n, step), size, write, read, other))
    ]
    exists = any(map(_collide, valid))
    if found.parallel == "no":
        assert exists or not valid
    if exists:
        assert found.parallel in ("no", "unknown")


def _places(trips: range, size: int, *subscripts: tuple[int, int]) -> list[tuple[int, ...]]:
    """The elements that each iteration touches, or none if one is outside the array."""
    found = [tuple(a * i + c for a, c in subscripts) for i in trips]
    return found if all(0 <= x < size for touched in found for x in touched) else []


def _collide(places: list[tuple[int, ...]]) -> bool:
    """Whether two iterations touch one element, one of them writing."""
    pairs = ((x, y) for n, x in enumerate(places) for y in places[n + 1 :])
    return any(w in (v, s) or r == v or o == p for (w, r, o), (v, s, p) in pairs)
