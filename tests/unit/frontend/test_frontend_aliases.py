"""Pointers of the caller and of the file that a function sets, and who may know its own memory."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.verdict import LoopVerdict

HEAD = """
struct S { int *p; int v[4]; };
int *gp, *gq, ga[4];
void reg(int *); int *get(void); int *same(int *); void store(int **, int *);
int *own(int *x) { return x; }
void keep(int *x) { gp = x; }
"""
PARAMS = "int n, int *p, int *q, int a[], int **pp, struct S *s, int *restrict b"
LOCALS = "int t = 0, u[4] = {0}, m[2][4] = {{0}}; struct S x;"


def judged(body: str, loop: str) -> LoopVerdict:
    text = f"{HEAD} void f({PARAMS}) {{ {LOCALS} {body} {loop} }}"
    return lx.loads(text)["f"].check()[-1]


def through(pointer: str, own: str) -> str:
    """Reads through a pointer what the iteration before wrote, if it points there."""
    return f"for (int i = 0; i < n; i++) {{ b[i] = {pointer}; {own} = i; }}"


SET = [
    ("p = &t;", "*p", "t"),
    ("p = u;", "*p", "u[0]"),
    ("a = u;", "a[0]", "u[0]"),
    ("p = (int *)&u[0];", "*p", "u[0]"),
    ("p = m[1];", "p[2]", "m[1][2]"),
    ("p = n ? u : q;", "*p", "u[0]"),
    ("if (n > 9) p = u;", "*p", "u[0]"),
    ("p = x.v;", "*p", "x.v[0]"),
    ("gp = u;", "*gp", "u[0]"),
    ("gp = &t;", "*gp", "t"),
    ("int *k = u; gp = k;", "*gp", "u[0]"),
    ("int *k = u + 1; p = k;", "*p", "u[1]"),
    ("p = u; q = p;", "*q", "u[0]"),
    ("gp = u; gq = gp;", "*gq", "u[0]"),
    ("int *k = get(); k = u; gp = k;", "*gp", "u[0]"),
    ("p = own(u);", "*p", "u[0]"),
    ("p = same(u);", "*p", "u[0]"),
    ("p = same(&t);", "*p", "t"),
    ("keep(u);", "*gp", "u[0]"),
    ("store(&p, u);", "*p", "u[0]"),
    ("int **k = &p; *k = u;", "*p", "u[0]"),
    ("s->p = u;", "*s->p", "u[0]"),
    ("s->p = &t;", "*s->p", "t"),
    ("x.p = u;", "*x.p", "u[0]"),
    ("s = &x;", "s->v[0]", "x.v[0]"),
    ("reg(u); p = get();", "*p", "u[0]"),
    ("int *k[2] = {u, u}; p = k[1];", "*p", "u[0]"),
    # Only the address of a number is known elsewhere.
    ("reg(&t);", "*gp", "t"),
    ("reg(&t); int *k = get();", "*k", "t"),
    ("reg(&t); p = get();", "*p", "t"),
    ("*pp = &t;", "*gp", "t"),
    ("*pp = &t;", "*s->p", "t"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "pointer", "own"), SET)
def test_what_a_set_pointer_reaches_is_not_known(body: str, pointer: str, own: str) -> None:
    assert judged(body, through(pointer, own)).parallel in ("no", "unknown")


CONTRADICTED = {
    "q = p + 1;": "no",
    "q = p;": "no",
    "if (n > 7) q = p;": "unknown",
    "q = &p[3];": "no",
    "p = q; q = p + n;": "unknown",
    "int *k = p; q = k;": "no",
    "q = own(p);": "no",
    "q = &p[n];": "yes",
    "q = p + 2 * n;": "yes",
    "if (n > 7) q = p + n;": "unknown",
}
"""Where the function says for certain what a parameter is, it is that; else two places of one array
may meet, however far apart."""


@pytest.mark.parametrize("body", CONTRADICTED)
def test_an_assumption_that_the_function_contradicts_is_none(body: str) -> None:
    assert judged("", "for (int i = 1; i < n; i++) q[i] = p[i - 1];").parallel == "yes"
    found = judged(body, "for (int i = 1; i < n; i++) q[i] = p[i - 1];")
    assert (found.parallel, found.assumes) == (CONTRADICTED[body], found.assumes[:0])


APART = [
    # Somebody may have kept the address.
    ("reg(u);", "*gp", "u[0]", ("b and gp do not overlap", "gp and u do not overlap")),
    ("reg(n ? u : 0);", "*gp", "u[0]", ("b and gp do not overlap", "gp and u do not overlap")),
    ("p = u; reg(p);", "*gp", "u[0]", ("b and gp do not overlap", "gp and u do not overlap")),
    (
        "int *k = u, *l = k; p = l; reg(p);",
        "*gp",
        "u[0]",
        ("b and gp do not overlap", "gp and u do not overlap"),
    ),
    ("*pp = u;", "*gp", "u[0]", ("b and gp do not overlap", "gp and u do not overlap")),
    ("*pp = m[1];", "*s->p", "m[1][0]", ("s.p and b do not overlap", "s.p and m do not overlap")),
    # A caller knows nothing of them.
    ("reg(u);", "*p", "u[0]", ("p and b do not overlap",)),
    ("", "*gp", "u[0]", ("b and gp do not overlap",)),
]


@pytest.mark.parametrize(("body", "pointer", "own", "assumes"), APART)
def test_an_array_whose_address_is_known_is_assumed_apart(
    body: str, pointer: str, own: str, assumes: tuple[str, ...]
) -> None:
    found = judged(body, through(pointer, own))
    assert (found.parallel, found.assumes) == ("privatizable", assumes)


KEPT = [
    "gp = get();",
    "p = get();",
    "p++; p = p + n; gp += 4;",
    "int *k = p; p = gp; gp = k;",
    "int *k = gp; gp = gq; gq = k;",
    "int *k = p; p = q; q = k;",
    "p = q;",
]


@pytest.mark.parametrize("body", KEPT)
def test_what_has_no_other_name_is_an_array_of_its_own(body: str) -> None:
    pointer = "gp" if "gp" in body else "p"
    loop = f"for (int i = 1; i < n; i++) {{ b[i] = {pointer}[i]; }}"
    assert judged(body, loop).parallel == "yes"
    loop = f"for (int i = 1; i < n; i++) {{ {pointer}[i] = {pointer}[i - 1]; }}"
    assert judged(body, loop).parallel == "no"
