"""Pointers that may be null: whether a parameter points somewhere is a number."""

from __future__ import annotations

import pytest
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.codegen.c import program
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing

NULL = "#define NULL ((void *)0)\n"
PARAMS = "int n, float *p, float *q, float a[n], float m[n][4]"
TYPES = (
    "typedef struct { float *b; int n; } S;\nfloat *g;\n"
    "static float or0(const float *b, int i) { return b != NULL ? b[i] : 0.0f; }\n"
)


def function(statements: str, params: str = PARAMS) -> Function:
    return parsed(f"{NULL}{TYPES}void f({params}) {{ {statements} }}").unit.functions[-1]


def text(fn: Function) -> str:
    return " ".join(listing(fn).split())


MEANS = [
    ("a[0] = p ? p[n] : 0;", "a[0] = p.given > 0 ? p[n] : 0;"),
    ("a[0] = p != NULL ? p[n] : 0;", "a[0] = p.given > 0 ? p[n] : 0;"),
    ("a[0] = p == 0 ? 0 : p[n];", "a[0] = p.given <= 0 ? 0 : p[n];"),
    ("if (NULL != p) a[0] = 1;", "if (p.given > 0) a[0] = 1;"),
    ("if (!p) a[0] = 1;", "if (!(p.given > 0)) a[0] = 1;"),
    ("if (p && !q) a[0] = 1;", "if (p.given > 0 && !(q.given > 0)) a[0] = 1;"),
    (
        "if (p == NULL || n > 2 || q) a[0] = 1;",
        "if (p.given <= 0 || n > 2 || q.given > 0) a[0] = 1;",
    ),
    ("if (!(p && q)) a[0] = 1;", "if (!(p.given > 0 && q.given > 0)) a[0] = 1;"),
    ("if (m) m[0][0] = 1;", "if (m.given > 0) m[0, 0] = 1;"),
    ("a[n] = (p != NULL) - 2;", "a[n] = (p.given > 0) - 2;"),
    ("float *t = p; if (t) t[1] = 2;", "if (p.given > 0) p[1] = 2;"),
    ("a[0] = or0(p, n);", "a[0] = p.given > 0 ? p[n] : 0.0f;"),
]


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(function(statements)) == expected


UNKNOWN = [
    "if (n) p = q; if (p) a[0] = 1;",
    "p++; if (p) a[0] = 1; a[1] = p[0];",
    "float **t = &p; if (p) a[0] = 1; *t = q;",
    "if (g) a[0] = 1;",
    "if (p == q) a[0] = 1;",
    "if (p < q) a[0] = 1;",
    "float *t = p + 1; if (t) a[0] = 1;",
    "float *t = n ? p : q; if (t) a[0] = 1;",
    "if (p + n) a[0] = 1;",
    "a[0] = -p;",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    assert opaques(function(statements))


def test_members_are_not_tested() -> None:
    assert opaques(function("if (s->b) s->b[0] = 1;", "S *s"))
    assert opaques(function("if (s) s->b[0] = 1;", "S *s"))


def test_numbers_are_compared_as_ever() -> None:
    assert text(function("if (n != 0 && a[0] == 0) a[0] = 1;")).startswith("if (n != 0 && a[0] ==")


def test_parameters() -> None:
    """The number stands behind its pointer, once, and is no argument of the function."""
    fn = function("for (int i = 0; i < n; i++) { if (p) a[i] = p[i]; if (!p) a[i] = 0; }")
    assert [x.name for x in fn.params] == ["n", "p", "p.given", "q", "a", "m"]
    assert fn.params[2].tests == "p"
    assert not fn.params[2].array
    assert program.function_text(fn).count("p != 0)") == 2
    assert "float *p, float *q" in program.function_text(fn)


def test_names_of_the_user_are_not_taken() -> None:
    fn = function("int p_given = 3; if (p) a[p_given] = 1;")
    assert [x.name for x in fn.params if x.tests] == ["p.given"]


def test_verdicts() -> None:
    """The test is no dependence; what it guards is looked at as ever."""
    apart = function("for (int i = 0; i < n; i++) a[i] = p ? p[i] : 0;")
    assert [v.parallel for v in judge(apart)] == ["yes"]
    racing = function("for (int i = 1; i < n; i++) if (p) a[i] = a[i - 1];")
    assert [v.parallel for v in judge(racing)] == ["no"]
    either = function("for (int i = 1; i < n; i++) { if (p) a[i] = 1; if (!p) q[0] = a[i - 1]; }")
    assert [v.parallel for v in judge(either)] == ["no"]
