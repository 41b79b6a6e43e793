"""Counters of inner loops that are declared outside: one variable, wherever its value is used.

The verdict, the step `parallelise` and the audit of OpenMP clauses have to say the same.
"""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.transforms.mapping.parallelise import Parallelise

INNER = "for (j = 0; j < m; j++) a[i] += j;"

CASES = [
    # the body of the loop over i, what follows it, verdict, private, last values
    (INNER, "return 0;", "yes", ["j"], []),
    (INNER, "for (j = 0; j < n; j++) a[j]++; return 0;", "yes", ["j"], []),
    (f"if (i > m) {INNER}", "return 0;", "yes", ["j"], []),
    (f"for (k = 0; k < m; k++) {INNER}", "return 0;", "yes", ["k", "j"], []),
    (INNER, "j = 2; return j;", "yes", ["j"], []),
    (f"{INNER} a[i] += j;", "return 0;", "privatizable", ["j"], []),
    (INNER, "return j;", "privatizable", ["j"], ["j"]),
    ("for (j = i; j < n; j++) a[i]++;", "return n < 5 ? 0 : j;", "privatizable", ["j"], ["j"]),
    (INNER, "for (k = 0; k < n; k++) a[k] = j; return 0;", "privatizable", ["j"], ["j"]),
    (f"{INNER} for (j = 0; j < 3; j++) a[i]++;", "return j;", "privatizable", ["j"], ["j"]),
    (f"for (k = 0; k < m; k++) {INNER}", "return k;", "privatizable", ["k", "j"], ["k"]),
    # The next iteration begins with it.
    (f"a[i] = j; {INNER}", "return 0;", "no", [], []),
]  # fmt: skip


def routine(body: str, after: str, clause: str = "") -> lx.Routine:
    pragma = f"\n#pragma omp parallel for {clause}\n" if clause else ""
    declared = "int i, j = 5, k;"
    loop = f"for (i = 0; i < n; i++) {{ {body} }}"
    params = "int n, int m, int *restrict a, const int *restrict b"
    return lx.loads(f"int f({params}) {{ {declared} {pragma}{loop} {after} }}")["f"]


@pytest.mark.parametrize(("body", "after", "answer", "private", "copies"), CASES)
def test_counters(
    body: str, after: str, answer: str, private: list[str], copies: list[str]
) -> None:
    plain = routine(body, after)
    found = plain.check()[0]
    assert (found.parallel, list(found.private), list(found.copies)) == (answer, private, copies)
    assert found.json()["private"] == private
    assert found.json()["lastprivate"] == copies
    assert (not Parallelise("i").check(plain.function)) is (answer == "yes")
    own = [f"private({x})" for x in "jk" if x not in copies]
    (claim,) = routine(
        body, after, " ".join([*own, *(f"lastprivate({x})" for x in copies)])
    ).audit()
    assert (claim.proven is True) is (answer in ("yes", "privatizable"))
    (claim,) = routine(body, after, "private(j, k)").audit()
    assert (claim.proven is True) is (answer in ("yes", "privatizable") and not copies)


ALONE = [f"if (i < 7) {INNER}", f"for (k = 0; k < m; k++) {INNER}", f"if (b[i]) {INNER}"]


@pytest.mark.parametrize("body", ALONE)
def test_the_last_iteration_may_leave_a_counter_alone(body: str) -> None:
    plain = routine(body, "return j;")
    found = plain.check()[0]
    assert (found.parallel, found.copies, found.conditional) == ("privatizable", (), ("j",))
    assert "j" in found.private
    assert found.json()["conditional_lastprivate"] == ["j"]
    for clause in ("private(j, k)", "private(k) lastprivate(j)"):
        (claim,) = routine(body, "return j;", clause).audit()
        assert claim.proven is not True


def test_a_private_counter_that_is_read_afterwards_is_lost() -> None:
    (claim,) = routine(INNER, "return j;", "private(j)").audit()
    assert [(f.code, f.cure) for f in claim.findings] == [("LX303", "lastprivate(j)")]
    (claim,) = routine(INNER, "return j;", "firstprivate(j)").audit()
    assert [(f.code, f.cure) for f in claim.findings] == [("LX303", "lastprivate(j)")]


def test_the_nest_is_tiled_where_the_counter_is_private() -> None:
    text = """
    void f(int n, float a[n][n], float b[n][n])
    { int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = b[j][i]; }
    """
    assert lx.loads(text)["f"].tile().tiled.recipe
