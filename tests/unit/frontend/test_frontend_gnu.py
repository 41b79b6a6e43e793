"""GNU builtins, typeof and old-style definitions."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, needs_compiler
from lowering import body, lower, opaques, parsed, text

import loopxform as lx
from loopxform.ir.nodes import For
from loopxform.ir.printer import listing
from loopxform.ir.visit import walk

MEANS = [
    ("if (__builtin_expect(a[0] > 0, 1)) a[0] = 1;", "if (a[0] > 0) a[0] = 1;"),
    ("if (__builtin_expect(!!(n), 0) && b[0]) a[0] = 1;", "if (!(!n) && b[0]) a[0] = 1;"),
    # 0.5 is true, but (long)0.5 is not.
    ("if (__builtin_expect(a[0], 1)) a[0] = 1;", "if ((long)a[0]) a[0] = 1;"),
    ("float *p = __builtin_assume_aligned(a, 64); p[0] = 1;", "a[0] = 1;"),
    ("a = __builtin_assume_aligned(a, 64); a[0] = 1;", "a[0] = 1;"),
    ("a[0] = __builtin_fabsf(b[0]);", "a[0] = fabsf(b[0]);"),
    ("a[0] = __builtin_inff();", "a[0] = 1.0f / 0.0f;"),
    ("a[0] = -__builtin_huge_val();", "a[0] = -(1.0 / 0.0);"),
    ("if (n < 0) __builtin_unreachable(); a[0] = 1;", "if (n < 0) a[0] = 1;"),
    ("__builtin_prefetch(&a[n]); a[0] = 1;", "a[0] = 1;"),
]


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(statements) == expected


UNKNOWN = [
    ("a[0] = __builtin_constant_p(n);", "'__builtin_constant_p'"),
    ("__builtin_prefetch(&a[n++]);", "'__builtin_prefetch'"),
    ("__builtin_trap();", "'__builtin_trap'"),
    ("typeof(n) t = 1; a[0] = t;", "'t' has type typeof(...)"),
    ("__typeof__(a[0]) t; a[0] = t;", "'t' has type typeof(...)"),
    ("a[0] = ({ n; });", "a statement expression"),
]


@pytest.mark.parametrize(("statements", "reason"), UNKNOWN)
def test_stays_unknown(statements: str, reason: str) -> None:
    assert reason in opaques(body(statements))[0].reason


VARIADIC = """#include <stdarg.h>
    struct pair { float x; };
    void f(float *a, int n, ...) {
        va_list l;
        void (*g)(int, int) = va_arg(l, void (*)(int, int));
        a[0] = va_arg(
            l, struct pair).x; a[1] = *va_arg(l, float *);
        for (int i = 2; i < n; i++)
            a[i] = 1;
    }
"""


def test_arguments_that_are_not_named() -> None:
    """Types as arguments cost no function, and no line moves."""
    fn = parsed(VARIADIC).unit.functions[0]
    assert [s.origin.loc.line for s in opaques(fn) if s.origin.loc] == [3, 5, 6, 7]
    assert [s.origin.loc.line for _, s in walk(fn.body) if isinstance(s, For) and s.origin.loc] == [
        8
    ]


OWN = [
    ("", "int (va_arg)(int k, int j) { return k + j; }", "va_arg(1, (int)a[i - 1])"),
    ("", "static int va_arg(int k, int j) { return k + j; }", "va_arg(1, (int)a[i - 1])"),
    ("#include <stdarg.h>", "int (va_arg)(int k, int j) { return k + j; }", "va_arg(1, a[i - 1])"),
    ("#include <stdarg.h>", "int va_arg(int k, int j);", "va_arg(1, a[i - 1])"),
    ("#include <stdarg.h>", "char *va_arg(int k, int j);", "va_arg(1, a[i - 1])"),
]


@pytest.mark.parametrize(("head", "function", "call"), OWN)
def test_a_function_of_that_name_keeps_its_arguments(head: str, function: str, call: str) -> None:
    """The loop depends on what it is given."""
    loop = f"for (int i = 1; i < n; i++) a[i] = {call};"
    text = f"{head}\n{function}\nvoid f(int n, float *a) {{ {loop} }}\n"
    (verdict,) = lx.loads(text)["f"].check()
    assert verdict.parallel == ("no" if "{" in function else "unknown")


def test_arguments_of_arguments() -> None:
    text = """#include <stdarg.h>
    void f(int n, int *a, va_list *ap) {
        for (int i = 0; i < n; i++) a[i] = __builtin_va_arg(*ap, int);
        for (int i = 0; i < n; i++) a[i] = n * va_arg(*va_arg(*ap, va_list *), int);
        for (int i = 0; i < n; i++) a[i] = 1;
    }
    """
    found = [v.parallel for v in lx.loads(text)["f"].check()]
    assert found == ["unknown", "unknown", "yes"]


def test_a_function_of_the_file_is_not_the_builtin() -> None:
    out = parsed("double sqrt(double x) { return 1; } "
                 "void f(double *a) { a[0] = __builtin_sqrt(a[1]); }")  # fmt: skip
    assert "'__builtin_sqrt'" in opaques(out.unit.functions[1])[0].reason


def test_old_style_definitions() -> None:
    fn = lower("int f(n, a) int n; double a[]; { a[n] = 1; return n; }")
    assert listing(fn) == "a[n] = 1;\nreturn n;\n"
    assert fn.signature == "int f(int n, double a[])"


@pytest.mark.parametrize("declared", ["float x;", "char x;", "", "real x;"])
def test_old_style_definitions_that_are_called_in_another_way(declared: str) -> None:
    out = parsed(
        f"typedef float real; int g; int f(x) {declared} {{ return 1; }} void h(void) {{ g = 1; }}"
    )
    assert [fn.name for fn in out.unit.functions] == ["h"]
    assert "K&R" in str(out.failed["f"])


def test_calls_of_old_style_definitions_are_inlined() -> None:
    callee = "float half(x, c) float x; char c; { return (x - 0.1) * c; }"
    out = parsed(f"{callee} void f(int n, double *a) {{ a[n] = half(a[0], n); }}")
    assert listing(out.unit.functions[0]) == "a[n] = (float)(((float)a[0] - 0.1) * (char)n);\n"


def test_old_style_functions_without_a_type_are_of_int() -> None:
    out = parsed("f(n, a) int n; float *a; { a[n] = 1; } ONCE(x) int y; void g(int y) { y = 1; }")
    assert [fn.signature for fn in out.unit.functions][:1] == ["int f(int n, float *a)"]
    assert "f" not in out.failed


@needs_compiler
def test_builtins_mean_the_same() -> None:
    source = "\n".join(f"void f{k}(int n, float *a, float *b) {{ {statements} }}"
                       for k, (statements, _) in enumerate(MEANS))  # fmt: skip
    call = {"n": 1, "a": np.full(4, 0.5), "b": np.full(4, -2.5)}
    assert_same(source, call)
