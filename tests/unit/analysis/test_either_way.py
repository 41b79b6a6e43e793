"""Elements that are touched whichever branch runs, and sizes from which on arrays are touched."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.extent import Extent, explain
from loopxform.analysis.least_sizes import with_assumptions
from loopxform.ir.nodes import Function
from loopxform.ir.printer import expr_text

EITHER = {
    "both set": "if (t > 1) c[i] = 1; else c[i] = 2;",
    "both use": "if (x[i] > t) c[i] += 1; else { x[i] = 3; c[i] = 0; }",
    "three ways": "if (x[i] > t) c[i] = 1; else if (x[i] > 0) c[i] = 2; else c[i] = 3;",
    "after a test": "if (t > 1) c[i] = 1; else { if (x[i] > 2) c[i] = 5; c[i] = 2; }",
    "chosen": "x[i] = t > 1 ? c[i] : c[i] + 1;",
    "before it changes": "int k = i; if (t > 1) { c[k] = 1; k++; } else { c[k] = 0; k = 0; }",
}
OPEN = {
    "one": "if (t > 1) c[i] = 1;",
    "not in all": "if (x[i] > t) c[i] = 1; else if (x[i] > 0) c[i] = 2;",
    "others": "if (t > 1) c[i] = 1; else c[n - 1 - i] = 2;",
    "after it changes": "int k = i; if (t > 1) { k = x[i] > 3; c[k] = 1; } else c[k] = 0;",
    "in a loop": "if (t > 1) c[i] = 1; else for (int k = 0; k < m; k++) c[i] = 0;",
    "not evaluated": "if (t > 1) c[i] = 1; else x[i] = x[i] > 2 && c[i] > 1;",
    "chosen in one": "x[i] = t > 1 ? c[i] : 0;",
}


def function(body: str) -> Function:
    head = "void f(int n, int m, float t, float *x, float *c)"
    text = f"{head} {{ for (int i = 0; i < n; i++) {{ x[i] = x[i] + 1; {body} }} }}"
    return lx.loads(text)["f"].function


@pytest.mark.parametrize("case", EITHER)
def test_touched_either_way(case: str) -> None:
    found = explain(function(EITHER[case]), "c")
    assert isinstance(found, Extent)
    assert [expr_text(e) for e in found.upper] == ["n"]


@pytest.mark.parametrize("case", OPEN)
def test_not_touched_in_one_way(case: str) -> None:
    assert not isinstance(explain(function(OPEN[case]), "c"), Extent)


PAIRS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SIZES = {
    "the others": (f"{PAIRS} {{ if (j == i) continue; c[i] += x[j]; }}", ["n >= 2"]),
    "all": (f"{PAIRS} c[i] += x[j];", []),
    "set before it is used": (
        "for (int i = 0; i < n; i++) { if (t != 1) c[i] = 0;"
        " for (int k = 0; k < m; k++) c[i] += x[k]; }",
        ["m >= 1"],
    ),
    "far": ("for (int i = 0; i < n; i++) if (i + 100 < n) c[i] = x[i + 100];", []),
    "of another number": ("for (int i = 0; i < n; i++) if (i >= m) c[i] = x[i];", []),
}


@pytest.mark.parametrize("case", SIZES)
def test_least_sizes(case: str) -> None:
    body, asked = SIZES[case]
    head = "void f(int n, int m, float t, const float *x, float *c)"
    fn = lx.loads(f"{head} {{ {body} }}")["f"].function
    assert [expr_text(e) for e in with_assumptions(fn).assumes] == asked
