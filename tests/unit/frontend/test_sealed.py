"""Functions of numbers that are pure, though nothing that is written can define them."""

from __future__ import annotations

import pytest
from lowering import opaques, parsed

import loopxform as lx
from loopxform.analysis.verdict import judge
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Function

HEAD = """
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
typedef unsigned u32; union word { u32 i; float f; }; struct pair { float x, y; };
struct at { int *p; };
static const float table[4] = {1, 2, 3, 4}; static float state[4]; static int g;
static const struct at const_at = {&g};
int other(int); int constant(int) __attribute__((const)); float sum(const float *) __attribute__((pure));
__attribute__((noreturn)) void die(void); [[gnu::const]] int bracketed(int);
static u32 bits(float f) { union { u32 i; float f; } u; u.f = f; return u.i; }
"""  # noqa: E501
END = "goto end; end: "
"""A jump, with which no body stands in the place of a call."""


def function(definition: str, value: str = "h(i)") -> Function:
    loop = f"for (int i = 0; i < n; i++) a[i] = {value};"
    text = f"{HEAD} {definition} void f(int n, float *restrict a) {{ {loop} }}"
    return parsed(text).unit.functions[-1]


SEALED = [
    "float h(int i) { union { int i; float f; } u; u.i = i; return u.f; }",
    "float h(int i) { union { int i; unsigned char b[4]; } u = {i}; return u.b[i & 3]; }",
    "float h(int i) { float f; memcpy(&f, &i, sizeof f); return f; }",
    "float h(int i) { unsigned char b[4]; memcpy(b, &i, 4); memset(&i, 0, 4); return b[3] + i; }",
    "float h(int i) { return *(float *)&i; }",
    "float h(int i) { *(float *)&i = 2; return i; }",
    "float h(int i) { static const int places[2] = {1, 0}; return table[places[i & 1]]; }",
    "float h(int i) { struct pair p = {i, 2}, q = p; union word w; return q.x; }",
    "float h(int i) { switch (i) { case 1: i = 3; case 2: return i; default: return -i; } }",
    "float h(int i) { return bits(i) + fabsf(bits(2)); }",
    "float h(int i) { again: if (i > 3) { i -= 3; goto again; } return constant(i); }",
    "float h(float i) { return (float)toupper((int)i) + sizeof(table); }",
]


@pytest.mark.parametrize("definition", SEALED)
def test_calls_of_such_functions_are_parallel(definition: str) -> None:
    fn = function(f"static {definition}")
    (found,) = judge(fn)
    assert found.parallel == "yes", opaques(fn)


UNKNOWN = [
    # State that is not the function's own.
    "float h(int i) { union { int i; char c; } u; u.i = g; return u.c; }",
    "float h(int i) { union { int i; float f; } u; memcpy(&u, state, 4); return u.f; }",
    "float h(int i) { union { int i; float f; } u; u.i = i; memcpy(state, &u, 4); return 1; }",
    f"float h(int i) {{ {END} memcpy((void *)(long)i, &i, 4); return i; }}",
    "float h(int i) { union { int i; float f; } u; u.i = other(i); return u.f; }",
    "float h(int i) { union { int i; float f; } u; u.i = sum(state); return u.f; }",
    "float h(int i) { union { int i; float f; } u; u.i = errno; return u.f; }",
    "float h(int i) { union { int i; char c; } u; u.i = i; g = i; return u.c; }",
    # Where the function's variables lie.
    "float h(int i) { union { int *p; long i; } u; u.p = &i; return u.i; }",
    "float h(int i) { int x[2]; switch (i) { default: return (long)x; } }",
    "float h(int i) { switch (i) { default: return (long)&i; } }",
    # Pointers that numbers are made, or that constants hold.
    "float h(long i) { union { long i; int *p; } u; u.i = i; return *u.p; }",
    "float h(long i) { union { long i; int *p; } u; u.i = i; return u.p[0]; }",
    "float h(long i) { return **(int **)&i; }",
    "float h(long i) { return *(*(struct at *)&i).p; }",
    "float h(long i) { union { int i; char c; } u; u.i = *const_at.p; return u.c; }",
    "float h(long i) { struct at p; memcpy(&p, &i, 8); return *p.p; }",
    "float h(long i) { switch (i) { default: return *(int *)i; } }",
    # What may be another each time.
    "float h(int i) { return *(volatile float *)&i; }",
    "float h(int i) { volatile union { int i; float f; } u; u.i = i; return u.f; }",
    'float h(int i) { union { int i; float f; } u; asm("" : "=r"(u.i)); return u.f; }',
    "float h(int i) { union { int i; float f; } u; u.i = i; if (i) die(); return u.f; }",
    "float h(int i, ...) { union { int i; float f; } u; u.i = i; return u.f; }",
    "void h(int i) { union { int i; float f; } u; u.i = i; }",
    "float h(union word w) { return w.f; }",
    "float h(int *p) { union { int i; float f; } u; u.i = *p; return u.f; }",
    "float toupper(int i) { g = i; return g; } float h(int i) { union { int i; char c; } u;"
    " u.i = toupper(i); return u.c; }",
]


@pytest.mark.parametrize("definition", UNKNOWN)
def test_others_are_not_known(definition: str) -> None:
    assert opaques(function(definition))


@pytest.mark.parametrize("value", ["constant(i)", "bracketed(i) + toupper(i)", "isspace(i)"])
def test_functions_without_a_text(value: str) -> None:
    (found,) = judge(function("", value))
    assert found.parallel == "yes"


REASONS = {
    "other(i)": "the effects of calling 'other' are not known",
    "sum(state)": "'sum' reads memory (it is declared pure): which is not known",
    "clock()": "the call to 'clock': the time of a call matters",
    "strlen((char *)state)": "the call to 'strlen' reads memory",
    "getenv(0) != 0": "the call to 'getenv': it looks at the environment",
    "memcmp(a, state, 8)": "the call to 'memcmp' reads memory",
}


@pytest.mark.parametrize("value", REASONS)
def test_reasons(value: str) -> None:
    (found,) = opaques(function("", value))
    assert found.reason.startswith(REASONS[value])


def test_a_function_that_does_not_return() -> None:
    text = f"{HEAD} void f(int n) {{ for (int i = 0; i < n; i++) if (i > 3) die(); }}"
    (found,) = opaques(parsed(text).unit.functions[-1])
    assert found.reason == "'die' ends the program (it is declared noreturn)"


DECLARED = [
    ("", "double exp10(double); ", "exp10(i)"),
    ("", "int toupper(void); ", "toupper(i)"),
    ("int (*toupper)(int) = 0; ", "", "toupper(i)"),
]


@pytest.mark.parametrize(("inside", "outside", "value"), DECLARED)
def test_a_name_that_the_text_declares_may_be_another(
    inside: str, outside: str, value: str
) -> None:
    loop = f"for (int i = 0; i < n; i++) a[i] = {value};"
    text = f"{outside}void f(int n, float *a) {{ {inside}{loop} }}"
    assert bool(opaques(parsed(text).unit.functions[-1])) == (outside != "int toupper(void); ")


def test_errno_that_is_looked_at() -> None:
    text = (
        "#include <errno.h>\n#include <math.h>\nint f(int n, double *a) { errno = 0;"
        "for (int i = 0; i < n; i++) a[i] = y0(a[i]); return errno; }"
    )
    reasons = [o.reason for o in opaques(parsed(text).unit.functions[0])]
    assert "'y0' may set 'errno', which is looked at" in reasons


@pytest.mark.parametrize("value", ["constant(i)", "j0(i)"])
@pytest.mark.parametrize("verb", ["tile", "offload"])
def test_what_is_written_does_not_call_them(value: str, verb: str) -> None:
    loop = f"for (int i = 0; i < n; i++) a[i] = {value};"
    text = f"{HEAD} void f(int n, float *restrict a) {{ {loop} }}"
    routine = lx.loads(text)["f"]
    with pytest.raises(LoopxformError, match=r"computes is not read|only declared|no counterpart"):
        emit.kernel(getattr(routine, verb)().derivation)
