"""Arrays of parts of functions, as long as these have allocated them, or why nothing is known."""

from __future__ import annotations

import pytest

from loopxform.frontend.outline import Original, allocated_sizes
from loopxform.frontend.parsed import CppOptions
from loopxform.ir.printer import expr_text

HEAD = """
typedef unsigned long size_t; typedef double real;
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t);
void free(void *); int printf(const char *, ...); void *memset(void *, int, size_t);
int fclose(void *); void *memcpy(void *, const void *, size_t); int setjmp(int *);
struct list { double *first; }; static double *kept; void unknown(double *);
static double look(int n, const double *x) { return n > 0 ? look(n - 1, x) + *x : x[0]; }
static double sum(int n, const double *x) { double s = 0; while (n--) s += *x++; return s; }
static double both(int n, const double *x) { return sum(n, x) + sum(n, &x[0]); }
static void keep(double *x) { kept = x; }
static void done(double *x) { free(x); }
static void hand(double *x) { done(x + 0); }
static double *same(double *x) { return x; }
static double *shorter(double *x) { return realloc(x, 8); }
"""
LOOP = "for (int i = 0; i < m; i++) s += a[key[i]];"
KNOWN = {
    "double *a = malloc(n * sizeof(double)); LOOP": "n",
    "double *a = (double *)malloc(sizeof *a * n); LOOP free(a);": "n",
    "double *a; a = calloc(n, sizeof a[0]); LOOP": "n",
    "double *a = 0; n++; a = malloc((n + 1) * sizeof(*a)); LOOP": "n + 1",
    "double *a = malloc((n - m * 2) * sizeof(*a)); LOOP": "n - (long long)m * 2",
    "double *a = malloc(sizeof *a * n * m); LOOP": "(long long)n * m",
    'scanf("%d", &n); double *a = malloc(n * sizeof *a); scanf("%g", &s); LOOP': "n",
    "struct list *a = malloc(n * sizeof(struct list)); s = a[m].first[0]; LOOP": "n",
    "double *a = malloc(64 * sizeof(double)); LOOP n = 3;": "64",
    "double *a = malloc(sizeof(double)); LOOP": "1",
    "real *a = malloc(n * sizeof(real)); LOOP": "n",
    "double *a = malloc(k * sizeof(double)); LOOP": "k",
    "double *a = malloc(n * sizeof(double)); if (!a) return 1; while (m--) { LOOP } free(a);": "n",
    "double *a = malloc(n * sizeof *a); if (m < 0) { free(a); return 1; } LOOP free(a);": "n",
    "while (m > 0) { double *a = malloc(n * sizeof *a); LOOP free(a); n--; }": "n",
    "double *a = malloc(n * sizeof *a); memset(a, 0, 8); s = both(n, a) + *(a + 1); LOOP": "n",
    'double *a = malloc(n * sizeof *a); printf("%p", a); LOOP printf("%g", a[0]);': "n",
}
UNKNOWN = [
    # More than one place, or none for certain.
    "double *a = malloc(n * sizeof *a); if (m) a = key2; LOOP",
    "double *a; if (m) a = malloc(n * sizeof *a); LOOP",
    "double *a = malloc(n * sizeof *a); a++; LOOP",
    "static double *a; a = malloc(n * sizeof *a); LOOP",
    "while (m--) { LOOP a = malloc(n * sizeof *a); } double *b = a;",
    "double *a = malloc(n * sizeof *a), **p = &a; LOOP",
    "again: ; double *a = malloc(n * sizeof *a); LOOP goto again;",
    "int at[9]; double *a = malloc(n * sizeof *a); if (setjmp(at)) s = 1; LOOP",
    "double *volatile a = malloc(n * sizeof *a); LOOP",
    # Another size.
    "double *a = malloc(n); LOOP",
    "double *a = malloc(n * sizeof(float)); LOOP",
    "double *a = malloc(n * sizeof *a); n = 2 * n; LOOP",
    "double *a = malloc(n * sizeof *a); while (m--) { LOOP n++; }",
    "double *a = malloc(n * sizeof *a); int *p = &n; LOOP",
    'double *a = malloc(n * sizeof *a); scanf("%d", &n); LOOP',
    "double *a = malloc(sizeof *a * n * k); LOOP",
    "double *a = malloc((k - 1) * sizeof *a); LOOP",
    "double *a = malloc(key[0] * sizeof *a); LOOP",
    "double *a = malloc(sum(n, key2) * sizeof *a); LOOP",
    # Freed in front of the loop, or there for somebody else to free.
    "double *a = malloc(n * sizeof *a); free(a); LOOP",
    "double *a = malloc(n * sizeof *a); while (m--) { LOOP free(a); }",
    "double *a = malloc(n * sizeof *a); if (m) { free(a); LOOP return 1; }",
    "double *a = malloc(n * sizeof *a); if (m) { free(a); if (n) { LOOP } return 1; }",
    "double *a = calloc(n, sizeof *a); while (m--) { if (n) { free(a); break; return 2; } } LOOP",
    "double *a = malloc(n * sizeof *a); while (m--) { LOOP if (n > 3) { free(a); } }",
    "double *a = malloc(n * sizeof *a); done(a); LOOP",
    "double *a = malloc(n * sizeof *a); hand(a); LOOP",
    "double *a = malloc(n * sizeof *a); keep(a); LOOP",
    "double *a = malloc(n * sizeof *a); unknown(a); LOOP",
    "double *a = malloc(n * sizeof *a); double *b = same(a); LOOP",
    "double *a = malloc(n * sizeof *a); shorter(a); LOOP",
    "double *a = malloc(n * sizeof *a); double *b = memset(a, 0, 8); LOOP",
    "double *a = malloc(n * sizeof *a); double *b = a + 0; LOOP",
    "double *a = malloc(n * sizeof *a); struct list l = {a}; LOOP",
    "double *a = malloc(n * sizeof *a); struct list l; l.first = &a[0]; LOOP",
    "double *a = malloc(n * sizeof *a); double *b; b = m ? a : key2; LOOP",
    "double *b, *a; b = a = malloc(n * sizeof *a); LOOP",
    "double *a = malloc(n * sizeof *a); void (*look)(double *) = keep; look(a); LOOP",
    "double *a = malloc(n * sizeof *a); look(n, a); LOOP",
]


def sizes(statements: str) -> dict[str, str]:
    """Of the arrays of the loop that reads `key`."""
    params = "int n, int m, const int *key, double *key2, size_t k, double s"
    body = statements.replace("LOOP", LOOP)
    original = Original(
        "f.c", f"{HEAD}int f({params}) {{ {body} return 0; }}".encode(), CppOptions()
    )
    owner = original.definitions["f"]
    waiting = list(owner.body.items)
    while waiting:
        item = waiting.pop(0)
        if original.text[item.start : item.end].startswith("for (int i"):
            found = allocated_sizes(original, original.region("f_1", owner, [item]))
            return {name: expr_text(size) for name, size in found.items()}
        waiting += [x for b in item.bodies for x in b.items]
    raise AssertionError(statements)


@pytest.mark.parametrize(("statements", "size"), KNOWN.items())
def test_known(statements: str, size: str) -> None:
    assert sizes(statements) == {"a": size}


@pytest.mark.parametrize("statements", UNKNOWN)
def test_unknown(statements: str) -> None:
    assert sizes(statements) == {}


def test_a_malloc_of_the_file_may_do_anything() -> None:
    text = "void *malloc(long n) { return 0; }"
    text += "void f(int n) { double *a = malloc(n * sizeof *a); LOOP }"
    text = text.replace("LOOP", "for (int i = 0; i < n; i++) a[i] = 1;")
    original = Original("f.c", text.encode(), CppOptions())
    owner = original.definitions["f"]
    assert allocated_sizes(original, original.region("f_1", owner, owner.body.items[1:])) == {}
