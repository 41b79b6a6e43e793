"""Variables of the threads of a region: what one loop leaves in them, another must not read."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.openmp import Claim

LOOP = "#pragma omp for\nfor (int i = 0; i < n; i++)"


def claims(region: str, first: str = "", clauses: str = "") -> list[Claim]:
    text = (
        "#include <stdlib.h>\nvoid f(int n, int *restrict a, int *restrict b) {\n"
        f"{first}\n#pragma omp parallel {clauses}\n{{\n{region}\n}}\n}}"
    )
    return [c for c in lx.loads(text)["f"].audit() if c.path]


DISAGREE = [
    # Sums, extrema, last values of those iterations that a thread runs.
    ("int k = 0;", "k += b[i];", "a[i] = k;"),
    ("int k = 0;", "if (b[i] > k) k = b[i];", "a[i] += 2 * k;"),
    ("int k = 0;", "if (b[i] > 7) k = 1;", "if (k) a[i] = 1;"),
    ("int k = 0;", "k++;", "for (int j = 0; j < k; j++) a[i] += j;"),
    # Arrays, on the stack or not.
    ("int h[9] = {0};", "h[i % 9]++;", "a[i] = h[4];"),
    ("int h[9];", "if (i < 9) h[i] = i;", "a[i] = h[i % 9];"),
    ("int *h = malloc(n * sizeof *h);", "h[i] = b[i];", "a[i] = h[n - i - 1];"),
    # What is computed from such a variable, or under a condition on it.
    ("int k = 0, m;", "k++;\nm = 2 * k + n;", "a[i] = m;"),
    ("int k = 0, m = 1;", "k++;\nif (k > 3) { k = 0; m = 2; }", "a[i] = m;"),
    ("int k = 0, m = 1;", "k++;\nfor (int j = 0; j < k; j++) m = 2;", "a[i] = m;"),
    ("int k = 0, h[9] = {0};", "k++;\nh[k % 9] = 1;", "a[i] = h[2];"),
    ("int k = 0;", "k++;\nk += 2;", "a[i] = k;"),
]

AGREE = [
    # Every thread sets it anew, or alone and alike.
    ("int k = 0;", "k++;\nk = n;", "a[i] = k;"),
    ("int k = 0;", "b[i] = i;\nk += 3;", "a[i] = k;"),
    ("int k = 0;", "b[i] = i;\nfor (int j = 0; j < n; j++) k += j;", "a[i] = k;"),
    ("int h[9];", "b[i] = i;\nfor (int j = 0; j < 9; j++) h[j] = n;", "a[i] = h[i % 9];"),
    # Scratch memory of each iteration.
    ("int k;", "{ k = b[i]; a[i] = k; }", "{ k = a[i]; b[i] = 2 * k; }"),
    # Nothing but the sum reads it.
    ("int k = 0;", "k += b[i];", "k += a[i];"),
]


@pytest.mark.parametrize(("first", "one", "two"), DISAGREE)
def test_threads_that_may_disagree(first: str, one: str, two: str) -> None:
    found = claims(f"{first}\n{LOOP}\n{one}\n{LOOP}\n{two}")
    assert found[-1].proven is None
    assert {d.code for d in found[-1].doubts} == {"LX311"}


@pytest.mark.parametrize(("first", "one", "two"), AGREE)
def test_threads_that_agree(first: str, one: str, two: str) -> None:
    assert [c.proven for c in claims(f"{first}\n{LOOP}\n{one}\n{LOOP}\n{two}")] == [True, True]


def test_a_private_variable_of_the_region_that_a_later_round_reads() -> None:
    rounds = (
        f"for (int r = 0; r < 4; r++) {{ SET\n{LOOP} a[i] = k;\n{LOOP} {{ k = i; b[i] = k; }} }}"
    )
    read = [
        claims(rounds.replace("SET", s), "int k = 3;", "firstprivate(k)")[0] for s in ("", "k = r;")
    ]
    assert [c.proven for c in read] == [None, True]


def test_a_function_that_a_region_calls() -> None:
    text = f"void f(int n, int *a, int *b) {{ int k = 0;\n{LOOP} k += b[i];\n{LOOP} a[i] = k; }}"
    assert [c.proven for c in lx.loads(text)["f"].audit()] == [True, None]


def test_a_reduction_of_the_region() -> None:
    def one(body: str) -> Claim:
        (c,) = claims(f"{LOOP} {body}", "int s = 5;", "reduction(+: s)")
        return c

    assert one("s += b[i];").proven is True
    assert one("a[i] = s;").proven is None, "it begins with 0 there"
    assert one("s *= b[i];").proven is None, "the threads' products are added"


def test_regions_inside_each_other() -> None:
    inner = "#pragma omp parallel CLAUSE\n{\n" + LOOP + " a[i] += 1;\n}"
    for clause in ("", "num_threads(1)"):
        assert [c.proven for c in claims(inner.replace("CLAUSE", clause))] == [None]
