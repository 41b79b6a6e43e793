"""Pure functions on numbers that stay calls: what they are, and their text."""

from __future__ import annotations

import numpy as np
import pytest
from differential import needs_compiler
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.codegen.c import program
from loopxform.codegen.routines import text
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.verify.cref import CSource, Library

HEAD = """
enum { FIVE = 5 };
static const int table[3] = {1, 2, 3};
int file;
typedef struct { float x; } S;
int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
int first(int n) { for (int k = 2; k < n; k++) if (n % k == 0) return k; return n; }
int digits(unsigned n) { int d = 0; do { d++; n /= 10; } while (n); return d; }
_Bool odd(int kernel) { for (;;) { if (!(kernel >= 2)) break; kernel -= 2; } return kernel; }
float mean(float x) { float v[4][2]; int i, j;
  for (i = 0, j = 0; i < 4; i++, j += 1) { if (i == 1) continue; v[i][j % 2] = x / (i + 1); }
  while (v[0][0] > FIVE) v[0][0] *= 0.5; return v[0][0] + sqrt(x); }
int lcm(int a, int b) { for (int k = a; ; k += a) if (k % b == 0) return k / gcd(1, 1); }
int typed(int n) { enum { LOW = 2, HIGH }; struct P { int x; }; while (n > HIGH) n -= LOW; return n; }
int joined(float x) { union { float f; int i; } u; u.f = x; while (u.i > 3) u.i /= 2; return u.i; }
int deep(int n) { while (n > 9) n = deep(n / 2); return n; }
int global(int n) { while (n > file) n /= 2; return n; }
int tabled(int n) { while (n > table[0]) n /= 2; return n; }
int pointed(int *n) { while (*n > 2) return 1; return 0; }
int counts(int n) { static int c; while (n--) return c; return n; }
int struck(S s) { while (s.x > 1) return 2; return 0; }
int jumps(int n) { again: if (n > 3) { n /= 2; goto again; } return n; }
int odd_one(volatile int n) { while (n > 3) n /= 2; return n; }
int sets(int n) { while (n > 3) { n /= 2; file = n; } return n; }
"""  # noqa: E501


LOOP = "void f(int n, int *a, int *b) { for (int i = 0; i < n; i++) a[i] = %s; }"


def function(value: str) -> Function:
    return parsed(HEAD + LOOP % value).unit.functions[-1]


CALLED = [
    "gcd(i, 3)",
    "first(i)",
    "digits(i)",
    "odd(i)",
    "mean(i)",
    "lcm(i, 4)",
    "typed(i)",
    "n > 2 && first(i)",
]


@pytest.mark.parametrize("value", CALLED)
def test_stays_a_call_that_keeps_nothing_apart(value: str) -> None:
    fn = function(value)
    assert not opaques(fn)
    assert judge(fn)[0].parallel == "yes"
    assert f"a[i] = {value}".split("(")[0] in listing(fn)


OTHER = [
    "deep(i)",
    "global(i)",
    "tabled(i)",
    "pointed(b)",
    "counts(i)",
    "odd_one(i)",
    "sets(i)",
]


@pytest.mark.parametrize("value", OTHER)
def test_anything_else_is_not_called(value: str) -> None:
    fn = function(value)
    assert fn.routines == ()
    assert opaques(fn)


@pytest.mark.parametrize("value", ["jumps(i)"])
def test_what_is_not_read_but_pure(value: str) -> None:
    fn = function(value)
    assert [r.unwritten for r in fn.routines] == [f"what '{value[:-3]}' computes is not read"]
    assert not opaques(fn)


@pytest.mark.parametrize("value", ["first(i, 2)", "first()", "({ int first; first; })(i)"])
def test_calls_of_another_kind(value: str) -> None:
    source = f"{HEAD} void f(int n, int *a) {{ for (int i = 0; i < n; i++) a[i] = {value}; }}"
    found = [fn for fn in parsed(source).unit.functions if fn.name == "f"]
    assert all(opaques(fn) for fn in found)


def test_a_variable_hides_a_function() -> None:
    source = f"{HEAD} void f(int n, int *a, int (*first)(int)) {{ a[0] = first(n); }}"
    fn = parsed(source).unit.functions[-1]
    assert fn.routines == ()
    assert opaques(fn)


def test_arguments_have_the_types_of_parameters() -> None:
    assert "digits((unsigned int)i)" in listing(function("digits(i)"))
    assert "mean((float)i)" in listing(function("mean(i)"))


def test_the_text() -> None:
    (odd,) = function("odd(i)").routines
    assert text(odd, "c").startswith("static _Bool odd(int kernel)\n{\n  for (; ; ) {\n    if (")
    assert text(odd, "opencl").splitlines() == [
        "uchar lx_odd(int kernel_)",
        "{",
        "  for (; ; ) {",
        "    if (!(kernel_ >= 2)) {",
        "      break;",
        "    }",
        "    kernel_ -= 2;",
        "  }",
        "  return (uchar)(kernel_ != 0);",
        "}",
    ]
    (lcm,) = function("lcm(i, 2)").routines
    assert [r.name for r in lcm.calls] == ["gcd"]


@needs_compiler
@pytest.mark.parametrize("value", CALLED[:-1])
def test_the_text_means_the_same(value: str) -> None:
    fn = function(value.replace("(i", "(b[i]"))
    user = f"#include <math.h>\n{HEAD}{LOOP % value.replace('(i', '(b[i]')}"
    results = []
    for source in (user, program.file_text(fn)):
        a, b = np.zeros(30, np.int32), np.arange(2, 32, dtype=np.int32)
        Library(CSource(text=source), [fn]).run("f", {"n": 30, "a": a, "b": b})
        results.append(a.tolist())
    assert results[0] == results[1]
    assert len(set(results[0])) > 1
