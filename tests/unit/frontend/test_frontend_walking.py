"""Pointers that move, steps inside expressions, and loops that count down: what they become."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from lowering import body, lower, opaques, parsed, text
from walking import Walker

from loopxform.analysis.verdict import LoopVerdict, judge

PARAMS = "int n, int m, float *a, float *b, int *x, float w[8][8]"
FORWARD = "for (p = 0; p < n; p++)"

MEANS = [
    # steps inside expressions
    ("a[n++] = b[--m];", "m -= 1; a[n] = b[m]; n += 1;"),
    ("float t = x[n++]; b[0] = t;", "t = x[n]; n += 1; b[0] = t;"),
    ("if (x[n--]) a[n] = 1;", "n -= 1; if (x[n+1]) a[n] = 1;"),
    # pointers that move
    ("float t = *a++; b[0] = t;", "a_offset = 0; t = a[0]; a_offset += 1; b[0] = t;"),
    ("a += 2; *a = 1;", "a[(long)0+2] = 1;"),
    ("float *p = a + 1; *p++ = 2; p = p + m; p[n] = 3;",
     "p = 1; a[1] = 2; p += 1; p = p + m; a[(long)1+1+m+n] = 3;"),
    ("float *p = a; p = b; *p = 1;", "p = 0; p_2 = 0; b[0] = 1;"),
    ("for (float *p = a; p < a + n; p++) *p = 1;", f"{FORWARD} a[p] = 1;"),
    ("float *p; for (p = &a[1]; p <= &a[n]; ++p) *p = p[2];",
     "for (p = 1; p < n + 1; p++) a[p] = a[p+2];"),
    ("float *p = a, *e = a + n; while (p != e) *p++ = *b++;",
     "b_offset = 0; e = n; for (p = 0; p < e; p++) a[p] = b[b_offset]; b_offset += 1;"),
    ("float *e = a + n; for (; a < e; a++) *a = 1;",
     "a_offset = 0; e = n; for (a_offset = 0; a_offset < e; a_offset++) a[a_offset] = 1;"),
    ("for (int i = 0; i < n; i++) { float *p = w[i]; for (int j = 0; j < 8; j++) *p++ = 1; }",
     "for (i = 0; i < n; i++) p = 0; for (j = 0; j < 8; j++) w[i, p] = 1; p += 1;"),
    # pointers to places that arrays say
    ("float *p = a + x[0]; x[0] = 2; p[0] = 1;", "p = x[0]; x[0] = 2; a[p+0] = 1;"),
    ("float *p; p = &a[x[n] + 1]; n = 2; p[m] = p[0];", "p = x[n] + 1; n = 2; a[p+m] = a[p+0];"),
    ("for (int i = 0; i < n; i++) { float *p = a + *x; p[i] = 1; }",
     "for (i = 0; i < n; i++) p = x[0]; a[p+i] = 1;"),
    # back by an unsigned number
    ("float *p = a - (unsigned)x[3]; p[x[4]] = 2;",
     "p = -(long)(unsigned int)x[3]; a[p+x[4]] = 2;"),
    ("unsigned u = n; float *p = a + 1 - u; p++; p[n] = 1;", "u = n; a[1-(long)u+1+n] = 1;"),
    # loops that count down, do loops, commas
    ("for (int i = n; i; i--) a[i] = 1;", "for (i = n; i > 0; i--) a[i] = 1;"),
    ("int i = n; while (i) { i--; a[i] = 1; }", "for (i = n; i > 0; i--) a[i-1] = 1;"),
    ("int i = n; while (i-- > 0) a[i] = 1;", "for (i = n - 1; i > -1; i--) a[i] = 1;"),
    ("int i = n; while (i--) a[i] = 1;", "for (i = n - 1; i > -1; i--) a[i] = 1;"),
    ("while (n-- > 0) a[n] = 1;", "n_start = n; for (n = n_start - 1; n > -1; n--) a[n] = 1;"),
    ("for (unsigned i = n; i-- > 0;) a[i] = 1;",
     "for (i = (long)n - 1; i > -1; i--) a[i] = 1;"),
    ("int i = 0; do { a[i] = 1; i++; } while (i < n);",
     "for (i = 0; i < (n > 0 ? n : 0 + 1); i++) a[i] = 1;"),
    ("int i = 0; do { a[i] = 1; i++; } while (i < 4);", "for (i = 0; i < 4; i++) a[i] = 1;"),
    ("int i = 6; do { a[i] = 1; i++; } while (i < 4);", "for (i = 6; i < 7; i++) a[i] = 1;"),
    ("int i = n; do a[i] = 1; while (--i > m);",
     "for (i = n; i > (m < n ? m : n - 1); i--) a[i] = 1;"),
    ("do a[n] = 1; while (--n > m);",
     "n_start = n; for (n = n_start; n > (m < n_start ? m : n_start - 1); n--) a[n] = 1;"),
    ("do a[n] = 1; while (--n);",
     "n_start = n; for (n = n_start; n > (0 < n_start ? 0 : n_start - 1); n--) a[n] = 1;"),
    ("int i, j; for (i = 0, j = n; i < j; i++, j--) a[i] = b[j];",
     "j = n; for (i = 0; i < (n + 1) / 2; i++) a[i] = b[j]; j -= 1;"),
    ("for (int i = 0, j = 0; i < n; i++, j += 2) a[i] = b[j];",
     "j = 0; for (i = 0; i < n; i++) a[i] = b[j]; j += 2;"),
    ("for (int i = 0, s = 0; i < n; s = 3 + s, s += x[i], i++) a[i] = s;",
     "s = 0; for (i = 0; i < n; i++) a[i] = s; s += 3; s += x[i];"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(statements, PARAMS) == expected


def test_a_member_may_have_the_name_of_what_is_stepped() -> None:
    loop = "for (int i = 0; i < n; i++) { *g++ = p->g; p++; }"
    read = "struct s { int r, g; };\nvoid f(int n, const struct s *p, int *g)"
    assert not opaques(lower(f"{read} {{ {loop} }}"))


UNKNOWN = [
    "a[n] = x[n++];",
    "n && a[m++];",
    "float *p = a; if (n) p = b; *p = 1;",
    "float *p = a; float **h = &p; *h = b; p++; *p = 1;",
    "float *p = a; for (int i = 0; i < n; i++) { *p = 1; p = p > b ? a : b; }",
    "int *p = (int *)a; p++; *p = 1;",
    # A pointer that walks out of its row.
    "float *p = &w[0][0]; for (int i = 0; i < 64; i++) *p++ = 1;",
    "float *p = a; again: *p++ = 1; if (p < a + n) goto again;",
    "for (; a < b; a++) *a = 1;",
    "while (*a) a++;",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    assert opaques(body(statements, PARAMS))


def verdicts(text: str) -> list[LoopVerdict]:
    return [v for fn in parsed(text).unit.functions for v in judge(fn)]


P = "int n, double *restrict a, const double *restrict b"
LOOP = "for (int i = 0; i < n; i++)"

VERDICTS = [
    ("double s = 0; for (const double *p = b; p < b + n; p++) s += *p; a[0] = s;", ["reduction"]),
    ("double *p = a; for (p = a; p < a + n; p++) *p = 2 * *p;", ["yes"]),
    ("double *p; for (p = a + 1; p < a + n; p++) *p = p[-1];", ["no"]),
    ("double *e = a + n; while (a != e) *a++ = 0;", ["yes"]),
    (f"{LOOP} *a++ = *b++;", ["no"]),
    (f"double *p = a; {LOOP} {{ *p = i; p += 2; }}", ["no"]),
    (f"double *p = a; {LOOP} {{ for (int j = 0; j < n; j++) p[j] = 0; p += n; }}", ["no", "yes"]),
    ("size_t i; for (i = n; i-- > 0;) a[i] = b[i];", ["yes"]),
    ("for (size_t i = n; i-- > 0;) a[i] = a[i + 1];", ["no"]),
    ("int i = 1; do { a[i] = b[i]; i++; } while (i < n);", ["yes"]),
    ("int i = 1; do { a[i] = a[i - 1]; i++; } while (i < n);", ["no"]),
    (f"double *t = malloc(n * sizeof *t); if (!t) return; {LOOP} t[i] = b[i];"
     f" {LOOP} a[i] = t[n - 1 - i]; free(t);", ["yes", "yes"]),
    (f"{LOOP} {{ double *t = (double *)calloc(4, sizeof(double));"
     " for (int k = 0; k < 4; k++) t[k] = b[i]; a[i] = t[2]; free(t); }", ["yes", "yes"]),
    (f"double *t = malloc(sizeof(double) * n * n); {LOOP} for (int j = 0; j < n; j++)"
     " t[i * n + j] = b[j]; a[0] = t[1]; free(t);", ["yes", "yes"]),
    (f"double *t = malloc(8 * sizeof *t); {LOOP} {{ for (int k = 0; k < 8; k++) t[k] = b[i] * k;"
     " a[i] = t[3]; } free(t);", ["privatizable", "yes"]),
    (f"double *t; if ((t = malloc(n * sizeof(double))) == NULL) exit(1); {LOOP} t[i] = b[i];",
     ["yes"]),
    (f"double *p = a; {LOOP} {{ *p = b[i]; p = a + 5; }}", ["no"]),
    # A pragma speaks of the pointer.
    (f"double *p = a;\n#pragma omp parallel for firstprivate(p)\n{LOOP} *p++ = 1;", ["unknown"]),
    # The memory has another name, too.
    (f"double *t = malloc(n * sizeof *t); g = t; {LOOP} t[i] = g[i + 1];", ["unknown"]),
    (f"double *t = malloc(n * sizeof *t); reg(t); {LOOP} t[i] = g[i + 1];", ["unknown"]),
    (f"double *t = malloc(n * sizeof *t); s->x = t; {LOOP} t[i] = s->x[i + 1];", ["unknown"]),
    (f"double *t = malloc(n * sizeof *t); double **h = &t; {LOOP} t[i] = (*h)[i];", ["unknown"]),
    (f"double *t = malloc(n * sizeof *t); if (!t) n = 1; {LOOP} t[i] = 0;", ["yes"]),
    (f"{LOOP} printf(\"%g\", a[i]); {LOOP} a[i] = 0;", ["unknown", "yes"]),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), VERDICTS)
def test_verdicts(statements: str, expected: list[str]) -> None:
    head = "#include <stdlib.h>\n#include <stdio.h>\nstruct s { double *x; }; double *g;"
    head += " void reg(double *p);"
    params = f"{P}, struct s *s" if "s->" in statements else P
    found = verdicts(f"{head} void f({params}) {{ {statements} }}")
    assert [v.parallel for v in found] == expected


REASONS = [
    (f'{LOOP} printf("%d", i);', "the call to 'printf': the order of output would change"),
    (f"{LOOP} a[i] = rand();", "the call to 'rand': it keeps a state"),
    (f'{LOOP} scanf("%lf", a + i);', "the call to 'scanf': the order of input"),
    (f"{LOOP} a[i] = fact(i);", "calling 'fact' are not known: it calls itself"),
    (f"{LOOP} a[i] = even(i);", "calling 'even' are not known: it calls itself"),
    (f"{LOOP} a[i] = find(b, i);", "calling 'find' are not known: it returns from inside a loop"),
    (f"{LOOP} a[i] = count();", "++ inside an expression"),
    (f"int k = 0; {LOOP} if (b[i] > 0) a[k++] = b[i];", "k grows only where a condition holds"),
    (
        f"int k = 0; {LOOP} {{ a[k++] = 1; a[k++] = b[i]; }}",
        "k is an induction variable, k + 2*q in iteration q from 0",
    ),
    (f"int k = 0; {LOOP} for (int j = 0; j < 3; j++) a[k++] = 1;", "in the loop over 'j' too"),
    (f"{LOOP} *a++ = 1;", "'substitute a_offset i' takes the dependence away"),
]


@pytest.mark.parametrize(("statements", "reason"), REASONS)
def test_reasons(statements: str, reason: str) -> None:
    head = """
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int find(double *x, int n)
{
  for (int i = 0; i < n; i++) switch (i) { case 1: if (x[i] > 1) return i; case 2: n--; }
  return n;
}
int count(void) { static int c; return c++; }
"""
    functions = parsed(f"{head} void f({P}) {{ {statements} }}").unit.functions
    assert reason in judge(functions[-1])[0].reasons[0].message


def test_elements_that_never_change_bound_a_loop_exactly() -> None:
    text = "struct s { int n; double *x; }; void f(struct s *s) {"
    text += " for (int i = 1; i < s->n; i++) s->x[i] = s->x[i - 1]; }"
    (found,) = verdicts(text)
    assert found.parallel == "no"


@needs_compiler
def test_means_the_same() -> None:
    source = "\n".join(f"void f{k}({PARAMS}) {{ {s} }}" for k, (s, _) in enumerate(MEANS))
    values = np.random.default_rng(1).random(32)
    calls = [
        {"n": n, "m": m, "a": values, "b": -values, "x": range(1, 9), "w": np.zeros((8, 8))}
        for n, m in ((2, 1), (5, 3), (1, 4))
    ]
    assert_same(source, *calls)


def arguments(n: int) -> dict[str, object]:
    arrays = {name: np.arange(200) * k % 13 for name, k in (("a", 3), ("b", 5), ("c", 7))}
    return {"n": n, **arrays}


@needs_compiler
@pytest.mark.parametrize(
    ("count", "least"), [(20, 5), pytest.param(60, 26, marks=pytest.mark.slow)]
)
def test_random_walks_do_what_the_compiler_makes_of_them(count: int, least: int) -> None:
    names = [f"f{seed}" for seed in range(count)]
    programs = "\n".join(Walker(seed).text(name) for seed, name in enumerate(names))
    compared, reasons = compare(f"#include <stddef.h>\n{programs}", *map(arguments, (0, 1, 4)))
    assert compared >= least, reasons


WRAPPED = """
#include <stddef.h>
unsigned f0(unsigned n, int *a) { for (unsigned i = n - 1; i < n; i--) a[i] += i; return n; }
unsigned f1(unsigned n, int *a) { unsigned i; for (i = n - 1; i != -1; --i) a[i] += i * a[i];
  return i; }
unsigned f2(size_t n, int *a) { for (size_t i = n - 1; i != (size_t)-1; i--)
  for (size_t k = n - 1; k < n; k--) a[i] += a[k] + k; return 0; }
unsigned f3(unsigned n, int *a) { unsigned i, t = 0; for (i = n - 1; i < n; i--) { if (a[i] > 3)
  continue; t += a[i] + i; } return t + i; }
"""


@needs_compiler
def test_loops_that_end_below_zero() -> None:
    calls = [{"n": n, "a": np.arange(12)} for n in (0, 1, 2, 11)]
    assert_same(WRAPPED, *calls)


NOT_WRAPPED = [
    # Another type than the counter's has another greatest number, or another end is meant.
    "for (unsigned i = n - 1; i != (unsigned char)-1; i--) a[i] = 1;",
    "for (unsigned i = n - 1; i != (unsigned long)-1; i--) a[i] = 1;",
    "for (unsigned i = n - 1; i < m; i--) a[i] = 1;",
    "for (unsigned i = n - 1; i < n; i--) { a[i] = 1; n--; }",
    "for (unsigned i = n - 1; i < n; i--) { if (a[i] > 2) break; a[i] = 1; }",
    "for (unsigned i = n - 2; i < n; i--) a[i] = 1;",
    "for (unsigned i = k - 1; i < k; i--) a[i] = 1;",
    "for (int i = k - 1; i < k; i--) a[i] = 1;",
]


@pytest.mark.parametrize("loop", NOT_WRAPPED)
def test_loops_that_do_not_end_below_zero(loop: str) -> None:
    assert opaques(body(loop, "unsigned n, unsigned m, int k, float *a"))
