"""Pointers declared outside of a loop that its iterations set: one variable in the user's text,
wherever the loop tree has an array in its place.

The verdict, the step `parallelise` and the audit of OpenMP clauses have to say the same.
"""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.transforms.mapping.parallelise import Parallelise

CASES = [
    # the body of the loop over i, what follows it, private
    ("p = a + i; *p = 1;", "return 0;", ["p"]),
    ("p = &a[2 * i]; p[0] = 1; p[1] = 2;", "return 0;", ["p"]),
    ("p = a + i; q = p; *q = 1;", "return 0;", ["p", "q"]),
    ("p = a + 4 * i; for (j = 0; j < 4; j++) p[j] = 1;", "return 0;", ["j", "p"]),
    ("if (i > 2) { p = a + i; *p = 1; }", "return 0;", ["p"]),
    ("q = a + i; a[i] = 1;", "return 0;", ["q"]),
    ("p = a + i; store(p);", "return 0;", ["p"]),
    # The iterations have pointers of their own.
    ("int *p = a + i; *p = 1;", "return 0;", []),
    ("int *q; q = a + i; *q = 1; p = q;", "return 0;", ["p"]),
]


def routine(body: str, after: str, clause: str | None = None) -> lx.Routine:
    pragma = "" if clause is None else f"\n#pragma omp parallel for {clause}\n"
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}"
    helper = "static void store(int *x) { *x = 1; }"
    declared = "int j; int *p, *q;"
    text = f"int f(int n, int *restrict a, int *restrict b) {{ {declared} {pragma}{loop} {after} }}"
    return lx.loads(f"{helper} {text}")["f"]


@pytest.mark.parametrize(("body", "after", "private"), CASES)
def test_pointers(body: str, after: str, private: list[str]) -> None:
    plain = routine(body, after)
    found = plain.check()[0]
    assert (found.parallel, list(found.private), found.copies) == ("yes", private, ())
    assert found.json()["private"] == private
    assert not Parallelise("i").check(plain.function)
    clauses = [f"private({x})" for x in private]
    (claim,) = routine(body, after, " ".join(clauses)).audit()
    assert claim.proven is True
    for clause in clauses:
        (claim,) = routine(body, after, " ".join(c for c in clauses if c != clause)).audit()
        assert claim.proven is not True


def test_a_pointer_that_is_set_in_several_loops() -> None:
    """The loop tree has one of its own in each."""
    after = "for (j = 0; j < n; j++) { p = b + j; *p = 1; } p = b; return *p;"
    found = routine("p = a + i; *p = 1;", after).check()
    assert [(v.parallel, v.private) for v in found] == [("yes", ("p",))] * 2
    (claim,) = routine("p = a + i; *p = 1;", after, "").audit()
    assert [(d.code, "'p'" in d.message) for d in claim.doubts] == [("LX310", True)]


def test_a_pointer_that_counts_an_inner_loop() -> None:
    body = "for (p = b; p < b + n; p++) a[i] += *p;"
    found = routine(body, "return 0;").check()[0]
    assert (found.parallel, found.private) == ("yes", ("p",))
    (claim,) = routine(body, "return 0;", "").audit()
    assert claim.proven is not True


def test_a_pointer_that_is_used_afterwards_has_a_last_value() -> None:
    text = """
    int f(int n, int *a) {
      int *p = a;
      for (int i = 0; i < n; i++) { p = a + i; *p = 1; }
      return *p;
    }
    """
    plain = lx.loads(text)["f"]
    found = plain.check()[0]
    assert (found.parallel, found.private, found.copies) == ("privatizable", ("p",), ("p",))
    assert Parallelise("i").check(plain.function)
    for clause in ("", "private(p)"):
        pragma = f"\n#pragma omp parallel for {clause}\nfor"
        (claim,) = lx.loads(text.replace("for", pragma))["f"].audit()
        assert claim.proven is not True
