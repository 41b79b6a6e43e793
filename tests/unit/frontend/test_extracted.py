"""Loops that are not understood where they stand, judged apart from the rest of their function."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import loopxform as lx

STRUCTS = """struct cell { int n; double x[8]; double at[100][3]; };
struct grid { double **rows, *row; };
struct cell *some(int k);
double *given(int k);
void other(double *p);
int *counts(int k);
void count(int *p);
void keep(void **p);
int sscanf(const char *, const char *, ...);
"""

LOOPS = {
    # pointers to structs and to elements, set in one of several ways before the loop
    """void f(int n, int k, struct cell *cells) {
      struct cell *p;
      if (k) p = &cells[k]; else p = some(n);
      for (int i = 0; i < n; i++) p->at[i][0] = 1; }""": "yes",
    """void f(int n, int k, struct cell *cells) {
      struct cell *p = k ? &cells[k] : some(n);
      for (int i = 1; i < n; i++) p->at[i][0] = p->at[i - 1][0]; }""": "no",
    """void f(int n, int k, double *a, double *b) {
      double *p = k ? a + k : given(2 * k);
      for (int i = 0; i < n; i++) p[i] = 2 * b[i]; }""": "yes if b and p do not overlap",
    """void f(int n, int k, double *b) {
      for (int j = 0; j < k; j++) {
        double *p = j % 2 ? given(j) : given(k + j);
        for (int i = 0; i < n; i++) p[i] = 2 * b[i]; } }""": "yes if b and p do not overlap",
    """void f(int n, int k) {
      double *p = k ? given(1) : given(2), s = 0;
      for (int i = 0; i < n; i++) s += p[i];
      other(&s); }""": "reduction",
    # a pointer to structs leads to no number, one to other numbers neither
    """int f(int n, int k) {
      struct cell *p = k ? some(1) : some(2); int found = 0;
      for (int i = 0; i < n; i++) if (p->at[i][0] > 0) { p->at[i][0] = 0; found++; }
      count(&found);
      return found; }""": "reduction",
    """int f(int n, int k) {
      double *p = k ? given(1) : given(2); int found = 0;
      do { for (int i = 0; i < n; i++) if (p[i] > 0) { p[i] = 0; found++; }
        count(&found); } while (found < k);
      return found; }""": "reduction",
    """int f(int n, int k) {
      int *p = k ? counts(1) : counts(2), found = 0;
      do { for (int i = 0; i < n; i++) if (p[i] > 0) { p[i] = 0; found++; }
        count(&found); } while (found < k);
      return found; }""": "unknown",
    """int f(int n, int k) {
      unsigned char *p = (unsigned char *)(k ? given(1) : given(2)); int found = 0;
      do { for (int i = 0; i < n; i++) if (p[i] > 0) { p[i] = 0; found++; }
        count(&found); } while (found < k);
      return found; }""": "unknown",
    # an address that a call forgets is known to nobody behind it
    """void f(int n, const char *text) {
      double step, *p = given(n); sscanf(text, "%lf", &step);
      for (int i = 1; i < n; i++) p[i] = p[i] / (i * step); }""": "yes",
    """static void part(double x, double *a, double *b) { *a = x / 2; *b = x - *a; }
    void f(int n, double x) {
      double a, b, *p = given(n); part(x, &a, &b);
      for (int i = 0; i < n; i++) p[i] = p[i] * a + b; }""": "yes",
    """static void part(double x, double *a, double *b) { *a = x / 2; *b = x - *a; }
    void f(int n, double *x) {
      double a, b, *p = given(n);
      for (int i = 0; i < n; i++) { part(x[i], &a, &b); p[i] = a * b; } }""": (
        "privatizable if x and p do not overlap"
    ),
    """static double *kept; static void part(double *a) { kept = a; }
    void f(int n) {
      double a = 1, *p = given(n); part(&a);
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """static double *part(double *a) { return a; }
    void f(int n) {
      double a = 1, *p = part(&a);
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """static long place; static void part(double *a) { place = (long)a; }
    void f(int n) {
      double a = 1, *p; part(&a); p = (double *)place;
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """static void part(double **p, double *a) { *p = a; }
    void f(int n) {
      double a = 1, *p; struct grid g; part(&g.row, &a); p = g.row;
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """static void part(struct grid *g, double *a) { g->row = a; }
    void f(int n, struct grid *g) {
      double a = 1, *p; part(g, &a); p = g->row;
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    # an address that a call gives back in a pointer of the file
    """long strtol(const char *, char **, int); static char *end;
    void f(int n, int *restrict x) {
      char c = 0; strtol(&c, &end, 10);
      for (int i = 1; i < n; i++) { end[i - 1] = i; x[i] = c; } }""": "unknown",
    """long strtol(const char *, char **, int); static char *end;
    void f(int n, int *restrict x) {
      char at[64] = "1x1"; strtol(&at[0], &end, 10);
      for (int i = 1; i < n; i++) end[i] = at[i] + x[0];
      x[1] = at[3]; }""": "yes if x and end do not overlap if at and end do not overlap",
    """long strtol(const char *, char **, int); static char *end;
    static void part(char *a) { strtol(a, &end, 10); }
    void f(int n, int *restrict x) {
      char c = 0; part(&c);
      for (int i = 1; i < n; i++) { end[i - 1] = i; x[i] = c; } }""": "unknown",
    """static int (*time)(double *);
    void f(int n) {
      double a = 1, *p = n ? given(1) : given(2); time(&a);
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """static int (*time)(double *); static double *p;
    void f(int n) {
      double a = 1; time(&a);
      for (int i = 0; i < n; i++) p[i] = p[i] * a; }""": "unknown",
    """void f(int n, const char *text) {
      int k = n; double *p = given(n); sscanf(text, "%d", &k);
      for (int i = 0; i < n; i++) p[i] = p[i + k]; }""": "unknown",
    """void f(int n, int k, const char *text) {
      double *p = given(n); sscanf(text, "%d", &k);
      for (int i = 0; i < n; i++) p[i] = p[i + k]; }""": "unknown",
    # pointers that others may know, where the loop stores numbers alone
    """void f(int n, int k, double *b) {
      static struct cell *p; p = some(k); keep((void **)&p);
      for (int i = 0; i < n; i++) p->at[i][0] = b[i]; }""": "yes if b and p.at do not overlap",
    """void f(int n, int k) {
      static double *p; double *q = given(k); keep((void **)&p); keep((void **)&q);
      for (int i = 0; i < n; i++) p[i] = 2 * q[i]; }""": "yes if p and q do not overlap",
    """void f(int n, int k) {
      static double *p; double *q = given(k); keep((void **)&p); keep((void **)&q); p = q;
      for (int i = 0; i < n; i++) p[i] = 2 * q[i]; }""": "unknown",
    """void f(int n, int k) {
      static double *p; keep((void **)&p);
      for (int i = 0; i < n; i++) { p[i] = i; keep((void **)&n); } }""": "unknown",
    """void f(int n, int k, struct grid *g) {
      static double *p; p = given(k); keep((void **)&p);
      for (int i = 0; i < n; i++) { p[i] = i; g[i].row = 0; } }""": "unknown",
    """void f(int n, int k, char *c) {
      static double *p; p = given(k); keep((void **)&p);
      for (int i = 0; i < n; i++) { p[i] = i; c[i] = 0; } }""": "unknown",
    """void f(int n, int k) {
      static double *volatile p; p = given(k); keep((void **)&p);
      for (int i = 0; i < n; i++) p[i] = i; }""": "unknown",
    # two counters, where what the rest does makes the end unknown
    """void f(int n, int k, double *a, double *b) {
      double *p = k ? given(1) : given(2); int last = n;
      if (k > 2) last = k;
      for (int i = k; i < last; i++, n++) p[i] = b[n]; }""": "no if b and p do not overlap",
    # what the loop sets and the function reads afterwards
    """int f(int n, int k) {
      double *p = k ? given(1) : given(2), t;
      for (int i = 0; i < n; i++) { t = p[i]; p[i] = t * t; }
      return t > 0; }""": "privatizable",
    """double f(int n, int k) {
      double *p = k ? given(1) : given(2), t[4];
      for (int i = 0; i < n; i++) { t[0] = p[i]; p[i] = t[0] * 2; }
      return t[0]; }""": "no",
    """double f(int n, int k) {
      double *p = k ? given(1) : given(2), t[2][1];
      for (int i = 0; i < n; i++) { t[0][0] = p[i]; t[1][0] = 2 * p[i]; }
      return t[1][0]; }""": "privatizable",
    # the function makes both the same memory
    """void f(int n, int k, double *a) {
      double *p = k ? a : a + 1;
      for (int i = 0; i < n; i++) p[i] = 2 * a[i]; }""": "unknown",
    """void f(int n, int k, double *a) {
      double *p = k ? given(1) : given(2), *q = p;
      p = k ? p : a; q = k ? q + 1 : q;
      for (int i = 0; i < n; i++) p[i] = 2 * q[i]; }""": "unknown",
    # or leads into the same memory, however far apart
    """void f(int n, int k, double *a, double *b) {
      double *p = k ? a + k : b + 2 * k;
      for (int i = 0; i < n; i++) p[i] = 2 * b[i]; }""": "unknown",
    """void f(int n, int k, double *a) {
      double *p = k ? given(1) : &a[n - k];
      for (int i = 0; i < n; i++) p[i] = 2 * a[i]; }""": "unknown",
    """void f(int n, int k, double *a, double *b) {
      while (n-- > k) {
        int m = *b++; double *p = a - m;
        if (m > n) { p = b; other(p); }
        for (int i = 0; i < m; i++) a[i] = p[i];
        a += m; } }""": "unknown",
    """void f(int n, int k, double *a) {
      double *p = k ? given(1) : a, *q = p + n * k; p = k ? p + n : given(2);
      for (int i = 0; i < n; i++) p[i] = 2 * q[i]; }""": "unknown",
    # one of several structs is apart from others
    """void f(int n, int k, int m, struct cell *c) {
      struct cell *p = &c[k], *q = c + m; if (k < 2) p = some(k);
      for (int i = 0; i < n; i++) p->at[i][0] = q->at[i + 1][1]; }""": (
        "yes if p.at and q.at do not overlap"
    ),
    """void f(int n, int k, int m, struct cell *c) {
      struct cell *p = &c[1], *q = c + 2; if (k < 2) p = some(k);
      for (int i = 0; i < n; i++) p->at[i][0] = q->at[i + 1][0]; }""": "unknown",
    """void f(int n, int m, double **a, double *b) {
      for (int i = 0; i < n; i++) a[i] = b + i * m;
      for (int i = 1; i < n; i++) a[i][0] = b[i]; }""": "unknown",
    """void f(int n, int m, double **a) {
      for (int i = 1; i < n; i++) a[i] = a[i - 1] + m;
      for (int i = 1; i < n; i++) a[i][0] = a[0][i]; }""": "yes if no rows of a overlap",
    """void f(int n, int m, double **a, double *b) {
      for (int i = 1; i < n; i++) a[i] = a[i - 1] + m;
      for (int i = 0; i < n; i++) a[i][0] = b[i]; }""": (
        "yes if a and b do not overlap if no rows of a overlap"
    ),
    """void f(int n, int k, struct cell *c) {
      double *p = k ? c->x : c->at[0];
      for (int i = 1; i < n; i++) p[i] = c->x[i - 1]; }""": "unknown",
    # a collision for some value of what the function computes is not proven
    """void f(int n, int k) {
      double *p = k ? given(1) : given(2); int m = n;
      for (int i = 0; i < n; i++) p[i] = p[i + m]; }""": "unknown",
    """void f(int n, int k) {
      double *p = k ? given(1) : given(2); n = n > 3 ? 1 : 0;
      for (int i = 1; i < n; i++) p[i] = p[i - 1]; }""": "unknown",
    """void f(int n, int k, int m) {
      double *p = k ? given(1) : given(2);
      for (int i = 0; i < n; i++) p[i] = p[i + m]; }""": "no",
    """int g; void f(int n, int k) {
      double *p = k ? given(1) : given(2); g = n;
      for (int i = 0; i < n; i++) p[i] = p[i + g]; }""": "unknown",
    """void f(int n, int k, struct cell *c) {
      double *p = k ? given(1) : given(2); c->n = n;
      for (int i = 0; i < n; i++) p[i] = p[i + c->n]; }""": "unknown",
    """static void prepare(struct cell *c, int n) { if (n > 3) { c->n = n; other(c->x); } }
    void f(int n, int k, struct cell *c) {
      double *p = k ? given(1) : given(2); prepare(c, n);
      for (int i = 0; i < n; i++) p[i] = p[i + c->n]; }""": "unknown",
    """void f(int n, int k, struct cell *c) {
      double *p = k ? given(1) : given(2);
      for (int i = 0; i < n; i++) p[i] = p[i + c->n]; }""": "no",
    # rows that pointers lead to
    """void f(int n, int m, double **a) {
      for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i - 1][j]; }""": (
        "yes if no rows of a overlap"
    ),
    """void f(int n, double **a) {
      for (int i = 1; i < n; i++) a[i][0] = a[i - 1][0]; }""": "no if no rows of a overlap",
    """void f(int n, double **a, double **b) {
      for (int i = 0; i < n; i++) a[i][0] = b[0][i]; }""": (
        "yes if a and b do not overlap if no rows of a overlap"
    ),
    """void f(int n, double **a) {
      for (int i = 0; i < n; i++) a[2][i] = a[2][i] + 1; }""": "yes",
    """void f(int n, struct grid *g, int k) {
      for (int i = 0; i < n; i++) g->rows[k][i] = g->rows[k + 1][i]; }""": (
        "yes if no rows of g.rows overlap"
    ),
    """void f(int n, struct grid *g) {
      for (int i = 0; i < n; i++) g[i].row[0] = 1; }""": "yes if no rows of g.row overlap",
    """void f(int n, int m, struct grid *g, double *b) {
      for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) g->row[i * m + j] = b[j]; }""": (
        "yes if g.row and b do not overlap"
    ),
    """void f(int n, double *a[4], double *b) {
      for (int i = 0; i < n; i++) a[3][i] = b[i]; }""": "yes if a and b do not overlap",
    # the rows themselves change, or the function makes some the same
    """void f(int n, double **a, double *b) {
      for (int i = 0; i < n; i++) { a[i] = b + i; a[i][0] = 1; } }""": "unknown",
    """void f(int n, double **a, double *b) {
      a[3] = b; for (int i = 0; i < n; i++) a[i][0] = b[i + 1]; }""": "unknown",
    """void f(int n, double **a) {
      double *b = a[2]; if (n) b = given(n);
      for (int i = 0; i < n; i++) a[i][0] = b[i + 1]; }""": "unknown",
    """void f(int n, double **a, struct grid *g) {
      g->rows = a; for (int i = 0; i < n; i++) a[i][0] = g->rows[i + 1][0]; }""": "unknown",
    """void f(int n, double **a) {
      for (int i = 0; i < n; i++) { other(a[i]); a[i][0] = 1; } }""": "unknown",
    """void f(int n, struct grid *g, struct grid *h, int k) {
      if (k) h = g; double *p = k ? h->row : given(1);
      for (int i = 0; i < n; i++) p[i] = g->row[i + 1]; }""": "unknown",
    """void f(int n, struct grid *g, struct grid *h, int k) {
      double *p = k ? h->row : given(1);
      for (int i = 0; i < n; i++) p[i] = g->row[i + 1]; }""": "yes if g.row and p do not overlap",
    """void f(int n, struct grid *g, int k) {
      struct grid x, *h = k ? &x : g; x.row = g->row; double *p = k ? h->row : given(1);
      for (int i = 0; i < n; i++) p[i] = x.row[i + 1]; }""": "unknown",
    # what others may know of the arrays of the function
    """void f(int n, int k) {
      double m[4][100], *p = k ? given(1) : given(2); other(m[1]);
      for (int i = 0; i < n; i++) p[i] = m[1][i]; }""": "yes if m and p do not overlap",
    """void f(int n, int k) {
      double m[4][100], *p = k ? given(1) : given(2); m[2][3] = k; given(m[2][3]);
      for (int i = 0; i < n; i++) p[i] = m[1][i]; }""": "yes",
    """void f(int n, int k) {
      struct cell c; c.x[0] = 1; double *p = k ? c.x + k : given(1);
      for (int i = 1; i < n; i++) p[i] = c.x[i - 1]; }""": "unknown",
    """void f(int n, int k) {
      struct cell c; c.x[0] = 1; double *p = k ? given(2) : given(1), t = c.x[0];
      for (int i = 1; i < n; i++) p[i] = c.x[i - 1] + t; }""": "yes",
    # others may change it
    """void f(int n, int k) {
      int m = k; double *p = k ? given(1) : given(2); other((double *)&m);
      for (int i = 0; i < m; i++) { other(p); } }""": "unknown",
    """void f(int n, int k) {
      double *p = k ? given(1) : given(2); double **q = &p; other(*q);
      for (int i = 0; i < n; i++) { p[i] = 1; *q = given(i); } }""": "unknown",
    # nothing is judged that is left in the middle
    """void f(int n, int k) {
      double *p = k ? given(1) : given(2);
      for (int i = 0; i < n; i++) { if (n < 3) return; p[i] = 1; } }""": "unknown",
}


def said(text: str) -> str:
    verdict = lx.loads(STRUCTS + text)["f"].check()[-1]
    return " if ".join([verdict.parallel, *verdict.assumes])


@pytest.mark.parametrize(("text", "verdict"), LOOPS.items())
def test_verdicts(text: str, verdict: str) -> None:
    assert said(text) == verdict


def test_the_loop_keeps_its_place() -> None:
    text = """void f(int n, int k, double *b) {
      for (int j = 0; j < k; j++) {
        double *p = j % 2 ? given(j) : given(k + j);
        for (int i = 0; i < n; i++)
          p[i] = 2 * b[i]; } }"""
    outer, inner = lx.loads(text)["f"].check()
    assert (outer.parallel, inner.parallel) == ("unknown", "yes")
    assert (inner.var, inner.depth, inner.line) == ("i", 1, 4)


MACRO = """#define EACH(S) for (int i = n; i > 0; i--, p += m) for (int k = 0; k < m; k++) S
#define NEXT(S) for (struct cell *c = list; c; c = next(c)) for (int k = 0; k < m; k++) S
double *given(int k);
struct cell { double x[8]; } *next(struct cell *c);
void f(int n, int m, struct cell *list)
{
  double *p = n ? given(1) : given(2);
  EACH(p[k] = p[k - m];)
  NEXT(c->x[k] = 1;)
}
"""


def test_loops_of_one_place_are_not_taken_for_each_other() -> None:
    """Both loops of a macro stand where it is used."""
    verdicts = [v.parallel for v in lx.loads(MACRO)["f"].check()]
    assert verdicts[0] != "yes"
    assert verdicts[3] != "no"


SEVERAL = """double *given(int k);
#define ONE for (int i = 0; i < n; i++) p[i] = 0;
#define TWO(FROM) ONE for (int j = 1; j < n; j++) p[j] = p[j FROM];
#define NEST for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
#define EITHER switch (m) { case 1: for (int i = 1; i < n; i++) p[i] = 0; break; \\
  case 2: for (int j = 1; j < n; j++) p[j] = p[j - 1]; }
void f(int n, int m) {
  double *p = n ? given(1) : given(2);
  TWO(- 1)
  TWO(+ 0)
  NEST p[i * n + j] = 1;
  EITHER
}
"""


def test_loops_of_one_macro_that_count_different_variables() -> None:
    found = {(v.line, v.var): v.parallel for v in lx.loads(SEVERAL)["f"].check()}
    assert found == {
        **{(9, "i"): "yes", (9, "j"): "no", (10, "i"): "yes", (10, "j"): "yes"},
        **{(11, "i"): "yes", (11, "j"): "yes", (12, "i"): "yes", (12, "j"): "no"},
    }


TWO = """double *given(int k);
#define DEFINE(NAME, FROM) void NAME(int n) { double *p = n ? given(1) : given(2); EACH(FROM) }
#define EACH(FROM) for (int i = 1; i < n; i++) p[i] = p[i FROM];
DEFINE(shift, - 1) DEFINE(copy, + 0)
"""


def test_functions_of_one_place_are_not_taken_for_each_other() -> None:
    file = lx.loads(TWO)
    shift, copy = (file[name].check()[0].parallel for name in ("shift", "copy"))
    assert shift in ("no", "unknown")
    assert copy in ("yes", "unknown")


# ---------------------------------------------------------------- against execution

SPACE = 10000
BASES = {"a": 0, "b": SPACE}
SEEDS = range(60)


class Draw:
    """A function that sets pointers p and q somewhere in two arrays, and a loop that uses them."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.settings = [self._setting(rng) for _ in range(rng.randint(2, 4))]
        self.written = rng.choice("pqab"), rng.randint(0, 2)
        self.read = [(rng.choice("pqab"), rng.randint(0, 2)) for _ in range(rng.randint(1, 2))]

    def _setting(self, rng: random.Random) -> tuple[str, str, str, str]:
        value = rng.choice(["a", "b", "p", "q"])
        offset = rng.choice(["", " + 1", " + k", " + n", " + 2 * n + k", " + 500"])
        return rng.choice("pq"), value, offset, rng.choice(["", "k > 1", "k < 3"])

    @property
    def text(self) -> str:
        lines = [
            (f"if ({when}) " if when else "") + f"{target} = {value}{offset};"
            for target, value, offset, when in self.settings
        ]
        reads = " + ".join(f"{name}[i + {c}]" for name, c in self.read)
        name, c = self.written
        loop = f"for (int i = 0; i < n; i++) {name}[i + {c}] = {reads};"
        head = "void f(int n, int k, double *a, double *b) { double *p = b, *q = a; "
        return head + " ".join(lines) + loop + "}"

    def bases(self, n: int, k: int) -> dict[str, int]:
        found = {**BASES, "p": BASES["b"], "q": BASES["a"]}
        for target, value, offset, when in self.settings:
            if not when or eval(when, {"k": k}):
                found[target] = found[value] + eval(f"0{offset}", {"n": n, "k": k})
        return found

    def touched(self, n: int, k: int) -> list[tuple[int, int, bool]]:
        """The iteration and the address of each access, and whether it writes."""
        bases = self.bases(n, k)
        accesses = [(self.written, True), *((r, False) for r in self.read)]
        return [(i, bases[name] + i + c, w) for (name, c), w in accesses for i in range(n)]


@pytest.mark.parametrize("seed", SEEDS)
def test_parallel_loops_have_no_collision_where_the_arrays_are_apart(seed: int) -> None:
    draw = Draw(seed)
    verdict = lx.loads(draw.text)["f"].check()[-1]
    if verdict.parallel != "yes":
        return
    for n, k in [(1, 0), (4, 1), (6, 2), (9, 3), (20, 5)]:
        collide = any(
            i != j and at == there and (writes or others)
            for (i, at, writes), (j, there, others) in combinations(draw.touched(n, k), 2)
        )
        assert not collide, (draw.text, n, k, verdict.assumes)


def test_the_draws_reach_loops_that_are_judged_apart() -> None:
    texts = [Draw(seed).text for seed in SEEDS]
    verdicts = [lx.loads(t)["f"].check()[-1] for t in texts]
    assert sum(v.parallel == "yes" and "p" in str(v.assumes) for v in verdicts) >= 8
    assert sum(v.parallel == "unknown" for v in verdicts) >= 8


GUARDED = {
    # the loop has one iteration, or more
    "if (n > 2) return; for (int i = 1; i < n; i++) p[i] = p[i - 1];": "yes",
    "if (n == 2) for (int i = 1; i < n; i++) p[i] = p[i - 1];": "yes",
    "if (n > 2) p[0] = 1; else { for (int i = 1; i < n; i++) p[i] = p[i - 1]; }": "yes",
    "if (!p || n <= 0) return; for (int i = 1; i < n; i++) p[i] = p[i - 1];": "no",
    "if (n > 9 && b) { for (int i = 1; i < n; i++) p[i] = p[i - 1]; }": "no",
    "if (n > b[0]) return; for (int i = 1; i < n; i++) p[i] = p[i - 1];": "no",
    "while (b[0]) { if (n < 5) break; for (int i = 1; i < n; i++) p[i] = p[i - 1]; }": "no",
    # which values are left is not known
    "if (s->n > 2) return; for (int i = 1; i < s->n; i++) p[i] = p[i - 1];": "unknown",
    "if (n > 2) goto end; for (int i = 1; i < n; i++) p[i] = p[i - 1]; end:;": "unknown",
    "switch (n) { case 2: for (int i = 1; i < n; i++) p[i] = p[i - 1]; }": "unknown",
    "if (n > k) return; { int k = n; for (int i = 1; i < n; i++) p[i + k] = p[i + k - 1]; }":
        "unknown",
}  # fmt: skip


@pytest.mark.parametrize(("body", "verdict"), GUARDED.items())
def test_what_holds_where_the_loop_begins(body: str, verdict: str) -> None:
    text = f"""struct numbers {{ int n; }};
    void f(int n, int k, double *b, struct numbers *s) {{
      double *p = b[0] > 0 ? given(1) : b; {body} }}"""
    assert lx.loads(STRUCTS + text)["f"].check()[-1].parallel == verdict
