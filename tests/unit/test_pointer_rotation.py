"""Pointers that change places in a loop stand still, where nothing else may be meant."""

from __future__ import annotations

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.prepare.pointer_rotation import standing_pointers

SWEEP = "for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1];"
SWAP = "double *old = u; u = v; v = old;"
POINTERS = "int steps, int n, double *u, double *v"


def in_time(body: str, before: str = "", after: str = "", parameters: str = POINTERS) -> str:
    loop = f"for (int t = 0; t < steps; t++) {{ {body} }}"
    return f"void f({parameters}) {{ {before} {loop} {after} }}"


STILL = {
    "two": in_time(SWEEP + SWAP),
    "two rows": in_time(
        "for (int i = 1; i < n - 1; i++) for (int j = 0; j < 8; j++) v[i][j] = u[i - 1][j];"
        " double (*old)[8] = u; u = v; v = old;",
        parameters="int steps, int n, double (*u)[8], double (*v)[8]",
    ),
    "three": in_time(
        "for (int i = 0; i < n; i++) w[i] = 2 * v[i] - u[i]; double *x = u; u = v; v = w; w = x;",
        parameters=POINTERS + ", double *w",
    ),
    "first": in_time(SWAP + SWEEP),
    "what follows": in_time(
        SWEEP + SWAP, after="for (int i = 0; i < n; i++) out[i] = u[i];"
    ).replace("double *v)", "double *v, double *out)"),
    "set before": in_time(
        SWEEP + SWAP,
        before="double *u = a, *v = b;",
        parameters="int steps, int n, double *a, double *b",
    ),
}
LEFT = {
    "under a condition": in_time(f"{SWEEP} if (n > 4) {{ {SWAP} }}"),
    "a loop around": f"void f(int m, {POINTERS}) {{ for (int k = 0; k < m; k++) {{"
    f" for (int t = 0; t < steps; t++) {{ {SWEEP} {SWAP} }} }} }}",
    "used between": in_time(f"double *old = u; u = v; {SWEEP} v = old;"),
    "lost": in_time(SWEEP + "u = v;"),
    "set elsewhere": in_time(SWEEP + SWAP, after=SWAP.replace("old", "new")),
    "unlike": in_time(SWEEP + SWAP, parameters="int steps, int n, double *u, const double *v"),
    "another name": in_time(
        "for (int i = 0; i < n; i++) v[i] = w[i];" + SWAP, before="double *w = u;"
    ),
    "a place in one": in_time(
        "for (int i = 0; i < n - 1; i++) v[i] = w[i];" + SWAP, before="double *w = u + 1;"
    ),
    "a place in one, by its name": in_time(
        "for (int i = 0; i < n - 1; i++) v[i] = w[i];" + SWAP, before="double *w = &u[1];"
    ),
    "one of them used before": in_time(
        SWEEP + SWAP,
        before="double *u = a, *v = b; for (int i = 0; i < n; i++) u[i] = 0;",
        parameters="int steps, int n, double *a, double *b",
    ),
    "the same twice": in_time(
        SWEEP + SWAP,
        before="double *u = a, *v = a;",
        parameters="int steps, int n, double *a",
    ),
    "address taken": in_time(SWEEP + SWAP, before="double **w = &u; *w = v;"),
    "of the file": "double *u, *v; " + in_time(SWEEP + SWAP, parameters="int steps, int n"),
    "a number nobody knows": in_time(SWEEP + SWAP, before="steps = steps * 2;"),
    "unsigned from 1 on": in_time(
        SWEEP + SWAP, parameters=POINTERS.replace("int steps", "unsigned steps")
    ).replace("int t = 0", "int t = 1"),
}


def function(text: str) -> Function:
    return lx.loads(text)["f"].function


@pytest.mark.parametrize("name", STILL)
def test_standing(name: str, golden: Golden) -> None:
    fn = function(STILL[name])
    done = standing_pointers(fn)
    assert done != fn
    golden.check(listing(done))


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    fn = function(LEFT[name])
    assert standing_pointers(fn) == fn
