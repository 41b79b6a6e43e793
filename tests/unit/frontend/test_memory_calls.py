"""memset, memcpy and memmove as the assignments that they stand for."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing

HEAD = """
#include <string.h>
#include <strings.h>
#include <stddef.h>
struct v { float x[3]; int n; unsigned char b[4]; };
struct w { struct v in[2]; double d; };
int wide; unsigned char *bytes;
"""
PARAMS = (
    "int n, int m, size_t z, unsigned u, float *a, float *b, double M[n][m], int *x, unsigned *y, "
    "unsigned char *c, signed char *d, short *h, _Bool *t"
)
STRUCTS = {"p": "struct v *p", "q": "struct v *q", "r": "struct w *r"}


def function(statements: str) -> Function:
    words = re.findall(r"\w+", statements)
    params = ", ".join([PARAMS, *(d for name, d in STRUCTS.items() if name in words)])
    return parsed(f"{HEAD} void f({params}) {{ {statements} }}").unit.functions[-1]


def text(statements: str) -> str:
    return " ".join(listing(function(statements)).split())


LOOP = "for (k = 0; k < {}; k++)"
MEANS = [
    ("memset(a, 0, n * sizeof(float));", "for (k = 0; k < n; k++) a[k] = 0;"),
    ("memset(a + 2, 0, 4 * n);", "for (k = 0; k < n; k++) a[2+k] = 0;"),
    ("memset(&a[m], 0, sizeof *a * (n - m));", "for (k = 0; k < n - m; k++) a[m+k] = 0;"),
    ("memset((void *)a, 0, 12);", "for (k = 0; k < 3; k++) a[k] = 0;"),
    ("(void)memset(a, 256, 4);", "a[0] = 0;"),
    ("bzero(x, sizeof(int[3]));", "for (k = 0; k < 3; k++) x[k] = 0;"),
    ("memset(x, -1, (size_t)n * 4);", "for (k = 0; k < n; k++) x[k] = -1;"),
    ("memset(y, 0xff, 8);", "for (k = 0; k < 2; k++) y[k] = 4294967295;"),
    ("memset(h, 0x81, 8);", "for (k = 0; k < 4; k++) h[k] = -32383;"),
    ("memset(c, m, z);", "for (k = 0; k < z; k++) c[k] = (unsigned char)m;"),
    ("memset(d, c[0], 3);",
     "kept = c[0]; for (k = 0; k < 3; k++) d[k] = kept;"),
    ("memset(a, 0, wide * sizeof *a);",
     "kept = wide; for (k = 0; k < kept; k++) a[k] = 0;"),
    ("memset(t, 1, 2);", "for (k = 0; k < 2; k++) t[k] = 1;"),
    ("memset(M, 0, sizeof(double) * n * m);",
     "for (k = 0; k < n; k++) for (k_2 = 0; k_2 < m; k_2++) M[k, k_2] = 0;"),
    ("memset(&M[0][0], 0, n * m * sizeof **M);",
     "for (k = 0; k < n; k++) for (k_2 = 0; k_2 < m; k_2++) M[k, k_2] = 0;"),
    ("memset(M[1], 0, m * sizeof(double));", "for (k = 0; k < m; k++) M[1, k] = 0;"),
    ("memset(M[x[0]], 0, sizeof *M);",
     "kept = x[0]; for (k = 0; k < m; k++) M[kept, k] = 0;"),
    ("memset(M + 1, 0, sizeof *M);", "for (k = 0; k < m; k++) M[1, k] = 0;"),
    ("memset(p, 0, sizeof *p);",
     "for (k = 0; k < 3; k++) p.x[0, k] = 0; p.n[0] = 0; for (k = 0; k < 4; k++) p.b[0, k] = 0;"),
    ("memset(p[1].b + 1, n, 3);", "for (k = 0; k < 3; k++) p.b[1, 1+k] = (unsigned char)n;"),
    ("memset(&p[1].n, 0, sizeof p->n);", "p.n[1] = 0;"),
    ("int s; memset(&s, 0, sizeof s); x[0] = s;", "s = 0; x[0] = s;"),
    ("float s[4]; memset(s, 0, sizeof s); a[0] = s[1];",
     "s[4]; for (k = 0; k < 4; k++) s[k] = 0; a[0] = s[1];"),
    ("memcpy(a, b + 1, n * sizeof(float));", "for (k = 0; k < n; k++) a[k] = b[1+k];"),
    ("memcpy(x, y, 4 * m);", "for (k = 0; k < m; k++) x[k] = y[k];"),
    ("memcpy(c, d, z);", "for (k = 0; k < z; k++) c[k] = d[k];"),
    ("memcpy(M[1], M[0], sizeof M[0]);", "for (k = 0; k < m; k++) M[1, k] = M[0, k];"),
    ("memcpy(&p[1].n, &x[2], 4);", "p.n[1] = x[2];"),
    ("memcpy(p->b, q[1].b, sizeof q->b);", "for (k = 0; k < 4; k++) p.b[0, k] = q.b[1, k];"),
    ("memmove(a, a + 1, n * sizeof(float));", "for (k = 0; k < n; k++) a[k] = a[1+k];"),
    ("memmove(a + m + 1, a + m, n * sizeof(float));",
     "for (k = n - 1; k > -1; k--) a[m+1+k] = a[m+k];"),
    ("memmove(a + 1, a, z * sizeof(float));",
     "for (k = (long)z - 1; k > -1; k--) a[1+k] = a[k];"),
    ("memmove(M + 1, M, (n - 1) * sizeof *M);",
     "for (k = n - 1 - 1; k > -1; k--) for (k_2 = 0; k_2 < m; k_2++) M[1+k, k_2] = M[k, k_2];"),
    ("float *e = a + 1; memmove(e, a, 8);", "for (k = 2 - 1; k > -1; k--) a[1+k] = a[k];"),
    ("memcpy(p, q, 2 * sizeof *p);", None),
    ("__builtin_memcpy(a, b, 8);", "for (k = 0; k < 2; k++) a[k] = b[k];"),
    ("memcpy(&x[m], c + 2, 4);",
     "x[m] = (int)((unsigned int)c[2] | (unsigned int)c[2+1] << 8 | (unsigned int)c[2+2] << 16 | "
     "(unsigned int)c[2+3] << 24);"),
    ("memcpy(c, h, n * sizeof *h);",
     "for (k = 0; k < n; k++) c[2*k] = (unsigned char)(unsigned int)h[k]; "
     "c[2*k+1] = (unsigned char)((unsigned int)h[k] >> 8);"),
    ("short s; memcpy(&s, d, sizeof s); x[0] = s;", None),
    ("memcpy(h, d + 1, 6); memcpy(d + n, x, 4 * m);", None),
    ("memcpy(x, a, 4);", "x[0] = (int)bits of float(a[0]);"),
    ("memcpy(a, c, 4 * n);",
     "for (k = 0; k < n; k++) a[k] = float of bits((unsigned int)c[4*k] | "
     "(unsigned int)c[4*k+1] << 8 | (unsigned int)c[4*k+2] << 16 | (unsigned int)c[4*k+3] << 24);"),
    ("if (n > 2) memset(a, 0, 8); else memset(a, 0, 4);", None),
    ("for (int i = 0; i < 2; i++) memset(a + 3 * i, 0, 8);", None),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), [c for c in MEANS if c[1]])
def test_means(statements: str, expected: str) -> None:
    assert text(statements) == expected


@needs_compiler
def test_calls_mean_the_same() -> None:
    source = HEAD + "\n".join(
        f"void f_{k}({PARAMS}) {{ {statements} }}"
        for k, (statements, means) in enumerate(MEANS)
        if "bits" not in (means or "")
        if STRUCTS.keys().isdisjoint(re.findall(r"\w+", statements))
    )
    r = np.random.default_rng(2)
    numbers = {name: r.random(32) for name in "ab"} | {"M": r.random((4, 3))}
    small = {name: r.integers(0, 100, 32) for name in "xycdht"}
    small["x"][0] = 1
    assert_same(source, {"n": 4, "m": 3, "z": 5, "u": 2, "wide": 3, **numbers, **small}, only="f_")


UNKNOWN = [
    # Not whole elements, or none of one type.
    "memset(a, 0, n);",
    "memset(a, 0, 6);",
    "memset(a, 1, 8);",
    "memset(a, m, 8);",
    "memset(x, m, 8);",
    "memset(t, 2, 2);",
    "memset(t, m, 2);",
    "memcpy(c, x, 7);",
    "memcpy(c, t, 8);",
    "memcpy(h, x, 8);",
    "memcpy(M, a, 8);",
    # A product that may wrap around.
    "memset(x, 0, u * 4);",
    "memset(x, 0, 4u * n);",
    # More than the member, the row or the number.
    "memset(p->b, 0, 5);",
    "memset(p->b + n, 0, 4);",
    "memset(p->b, 0, n);",
    "memset(M[0], 0, n * sizeof(double));",
    "memset(M[0] + 1, 0, m * sizeof(double));",
    "int s; memset(&s, 0, 8); x[0] = s;",
    "memcpy(&p->n, x, 8);",
    "memcpy(p->b, c, n);",
    # Which of two places is behind the other.
    "memmove(a + n, a + m, 8);",
    "memmove(p + 1, p, 2 * sizeof *p);",
    # A value that is used, an effect, and other functions.
    "a = memset(a, 0, 8);",
    "memset(a, 0, n++ * 4);",
    "memset(a + x[0]++, 0, 4);",
    "memccpy(c, d, 0, 8);",
    "int (*memset)(float *, int, int) = 0; memset(a, 0, 8);",
    "void *s = a; memset(s, 0, 8);",
    "struct v { int x; }; memset(p, 0, sizeof *p);",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    found = opaques(function(f"for (int i = 0; i < n; i++) {{ {statements} }}"))
    assert [o for o in found if not o.reason.startswith("'r' has")]


def test_a_function_of_the_file_is_another() -> None:
    fn = parsed("static void memset(float *a, int c, long n) { a[c] = n; }"
                "void f(float *a) { for (int i = 0; i < 4; i++) memset(a, i, 8); }").unit.functions[-1]  # fmt: skip  # noqa: E501
    assert "a[i] = (long)8" in " ".join(listing(fn).split())


def test_the_loops_are_not_the_users() -> None:
    fn = function("memset(a, 0, n * 4); for (int i = 0; i < n; i++) memcpy(M[i], M[0], sizeof *M);")
    assert [(v.var, v.parallel) for v in judge(fn)] == [("i", "no")]


VERDICTS = [
    ("float s[3]; memcpy(s, a + 3 * i, sizeof s); b[i] = s[0] + s[2];", "yes"),
    ("memset(M[i], 0, m * sizeof(double)); M[i][0] = i;", "yes"),
    ("memcpy(a + 3 * i, b, 12);", "yes"),
    ("memcpy(a + 3 * i, b, 16);", "no"),
    ("memmove(a + 1, a, 4); b[i] = a[0];", "no"),
    ("memset(a, 0, 8); b[i] = a[0];", "no"),
    ("memset(&p[i], 0, sizeof *p); p[i].n = i;", "yes"),
]


@pytest.mark.parametrize(("statements", "verdict"), VERDICTS)
def test_verdicts(statements: str, verdict: str) -> None:
    (found,) = judge(function(f"for (int i = 0; i < n; i++) {{ {statements} }}"))
    assert found.parallel == verdict, found


class Generator:
    """Random calls on arrays of 64 elements, inside them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def count(self) -> str:
        return self.rng.choice(["n", "3", "n + 1", "(m - 1)", "z", "(z - 1)", "2 * m", "k0"])

    def place(self, name: str) -> str:
        offset = self.rng.choice(["", "", " + 2", " + i", " + 3 * i", " + i + 1"])
        form = self.rng.choice(["{}{}", "&{}[0{}]", "(void *)({}{})"])
        return form.format(name, offset)

    def size(self, name: str) -> str:
        one = self.rng.choice([f"sizeof *{name}", f"sizeof({name}[1])", f"(int)sizeof *{name}"])
        form = self.rng.choice(["{0} * ({1})", "({1}) * {0}", "(size_t)({1}) * {0}"])
        return form.format(one, self.count())

    def statement(self) -> str:
        r = self.rng
        name = r.choice("abxycd")
        if r.random() < 0.4:
            values = ["0", "0", "-1", "7", "m"] if name in "xycd" else ["0", "256"]
            return f"memset({self.place(name)}, {r.choice(values)}, {self.size(name)});"
        if r.random() < 0.3:
            return f"memmove({self.place(name)}, {self.place(name)}, {self.size(name)});"
        other = {"a": "b", "b": "a", "x": "y", "y": "x", "c": "d", "d": "c"}[name]
        call = r.choice(["memcpy", "memmove"])
        return f"{call}({self.place(name)}, {self.place(other)}, {self.size(name)});"

    def body(self) -> str:
        loop = "for (int i = 0; i < 4; i++) "
        parts = [f"{loop if self.rng.random() < 0.5 else 'i = 1; '}{{ {self.statement()} }}"
                 for _ in range(3)]  # fmt: skip
        return f"int i = 0, k0 = x[0] & 3; {' '.join(parts)}"


@needs_compiler
@pytest.mark.parametrize("count", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_random_calls_mean_the_same(count: int) -> None:
    params = PARAMS.partition(", short")[0]
    bodies = [Generator(seed).body() for seed in range(count)]
    source = HEAD + "\n".join(f"void f_{k}({params}) {{ {b} }}" for k, b in enumerate(bodies))
    r = np.random.default_rng(3)
    numbers = {name: r.random(64) for name in "ab"} | {"M": r.random((4, 3))}
    small = {name: r.integers(-100, 100, 64) for name in "xd"}
    small |= {name: r.integers(0, 100, 64) for name in "yc"}
    call = {"n": 4, "m": 3, "z": 5, "u": 2, **numbers, **small}
    compared, _ = compare(source, call, only="f_")
    assert compared > count // 2
