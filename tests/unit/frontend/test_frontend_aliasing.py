"""What stores and calls may modify of what a loop reads again: by types, by names, by addresses."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.deps import dependences
from loopxform.analysis.verdict import LoopVerdict, judge

HEAD = """
struct T { int n; double d; float *f; };
struct S { int n; unsigned u; char tag; _Bool on; short h; double *a; double *b; struct T *t;
           double **rows; int **table; union { int i; float f; } either; struct T in; };
struct Z { double x, y; }; struct A { double *p; int n; }; struct B { double *p; int n; };
struct C { double *p; }; struct D { double *p; }; union Both { struct C c; struct D d; };
int g; static int own, shown; double w; int *gp; double *gd; struct S gs, *ps;
void touch(void); void keep(int *); void fill(struct S *); int *address(void);
void *malloc(unsigned long), *realloc(void *, unsigned long); double *get(int), *same(double *);
double *mine(int m) { touch(); return m ? gd : 0; }
void show(void) { keep(&shown); }
int both(struct S *s) { return s->either.i; }
"""
PARAMS = (
    "int n, int *p, double *q, float *f, unsigned *u, char *c, long *l, int **pp, "
    "struct S *s, struct S *r, struct T *t, struct A *a, struct B *b, struct C *k, struct D *d, "
    "struct Z *z"
)


def judged(body: str, *flags: str, head: str = HEAD) -> LoopVerdict:
    """Of the last loop, where it stands."""
    source = lx.loads(f"{head} void f({PARAMS}) {{ {body} }}", cflags=flags)
    return judge(source["f"].function)[-1]


def loop(bound: str, store: str, before: str = "") -> str:
    return f"{before} for (int i = 0; i < {bound}; i++) {{ {store} }}"


BY_TYPE = [
    # a bound of a type, what is stored, and whether it is asked that they are apart
    ("g", "q[i] = 1;", ()),
    ("g", "f[i] = 1;", ()),
    ("g", "l[i] = 1;", ()),
    ("g", "p[i] = 1;", ("p and g do not overlap",)),
    ("g", "u[i] = 1;", ("u and g do not overlap",)),
    ("g", "c[i] = 1;", ("c and g do not overlap",)),
    ("g", "s[i].u = 1;", ("s.u and g do not overlap",)),
    ("g", "s[i].in.d = 1;", ()),
    ("g", "gd[i] = 1;", ()),
    ("g", "gp[i] = 1;", ("gp and g do not overlap",)),
    ("own", "p[i] = 1;", ()),
    ("shown", "p[i] = 1;", ("p and shown do not overlap",)),
    ("gs.n", "q[i] = 1;", ()),
    ("gs.n", "p[i] = 1;", ("p and gs.n do not overlap",)),
    ("s->n", "q[i] = 1;", ()),
    ("s->n", "p[i] = 1;", ("p and s.n do not overlap",)),
]


@pytest.mark.parametrize(("bound", "store", "asked"), BY_TYPE)
def test_stores_by_their_types(bound: str, store: str, asked: tuple[str, ...]) -> None:
    v = judged(loop(bound, store))
    names = {" and ".join(sorted(a.removesuffix(" do not overlap").split(" and "))) for a in asked}
    found = {
        " and ".join(sorted(a.removesuffix(" do not overlap").split(" and "))) for a in v.assumes
    }
    assert (v.parallel, found) == ("yes", names)


@pytest.mark.parametrize(("bound", "store", "asked"), BY_TYPE)
def test_without_strict_aliasing_every_store_counts(
    bound: str, store: str, asked: tuple[str, ...]
) -> None:
    for flags in (("-fno-strict-aliasing",), ("-fstrict-aliasing", "-fno-strict-aliasing")):
        v = judged(loop(bound, store), *flags)
        assert v.parallel == "yes"
        assert bool(v.assumes) == (bound != "own")
    v = judged(loop(bound, store), "-O0", "-fno-strict-aliasing", "-fstrict-aliasing")
    assert len(v.assumes) == len(asked)


@pytest.mark.parametrize(
    "said",
    [
        '#pragma GCC optimize("no-strict-aliasing")\n',
        '__attribute__((optimize("no-strict-aliasing"))) void other(void) { }\n',
    ],
)
def test_what_the_text_says_of_aliasing(said: str) -> None:
    assert judged(loop("g", "q[i] = 1;"), head=f"{said}{HEAD}").assumes == (
        "q and g do not overlap",
    )


REFUSED = [
    # what comes before the loop, its bound, its body, and a part of the reason
    ("int x = n; keep(&x);", "x", "touch();", "a call in the body may modify 'x'"),
    ("int x = n; keep(&x);", "x", "gp[i] = 1;", "writing to 'gp' may modify 'x'"),
    ("int x = n; keep(&x);", "x", "pp[0][i] = 1;", "writing to 'pp' may modify 'x'"),
    ("int x = n; keep(&x);", "x", "c = (char *)address(); c[i] = 1;", "may modify 'x'"),
    ("int x = n; keep(&x);", "x", "s->table[0][i] = 1;", "writing to 's' may modify 'x'"),
    ("int x = n; p = &x;", "x", "p[i] = 1;", "writing to 'p' may modify 'x'"),
    ("int x = n, *y = &x;", "x", "y[0] = 1;", "writing to 'y' may modify 'x'"),
    ("int x = n;", "x", "keep(&x);", "the address of 'x' is taken in the loop"),
    ("", "g", "touch();", "a call in the body may modify the global 'g'"),
    ("", "own", "touch();", "a call in the body may modify the global 'own'"),
    ("", "s->n", "s->table[0][i] = 1;", "a store through 's' in the body may modify"),
    ("", "s->n", "s->either.f = 1;", "a store through 's' in the body may modify"),
    ("", "s->n", "*s = gs;", "a store through 's' in the body may modify"),
    ("", "s->n", "s[i].n = 1;", "which the body modifies"),
]


@pytest.mark.parametrize(("before", "bound", "store", "reason"), REFUSED)
def test_what_a_bound_may_not_read(before: str, bound: str, store: str, reason: str) -> None:
    v = judged(loop(bound, store, before))
    assert v.parallel == "unknown"
    assert any(reason in r.message for r in v.reasons)


KEPT = [
    ("int x = n; keep(&x); touch();", "x", "q[i] = 1;", "yes"),
    ("int x = n; keep(&x);", "x", "p[i] = 1;", "yes"),
    ("int x = n; keep(&x);", "x", "gd[i] = 1;", "yes"),
    ("int x = n; keep(&x);", "x", "s->b[i] = 1;", "yes"),
    ('int x; scanf("%d", &x); keep(0);', "x", "gp[i] = 1;", "yes"),
    ("int x = n, *y = &x; y[0] = 4;", "x", "q[i] = 1;", "yes"),
    ("touch();", "s->n", "q[i] = 1;", "yes"),
    ("touch();", "n", "s->a[i] = 1;", "yes"),
    ("touch();", "n", "s->a[i] = s->b[i];", "yes"),
    ("fill(s);", "s->t->n", "s->t->f[i] = 1;", "yes"),
    ("s->b = q;", "n", "s->a[i] = 1;", "yes"),
    ("r->b = q;", "n", "s->a[i] = 1;", "yes"),
    ("b->p = q;", "n", "a->p[i] = 1;", "yes"),
    ("s->a = malloc(n * sizeof *s->a);", "n", "s->a[i] = s->b[i];", "yes"),
    ("s->a = (double *)realloc(s->a, 8 * s->n);", "n", "s->a[i] = q[i];", "yes"),
    ("s->a = 0; if (n) s->a = get(n + s->n);", "n", "s->a[i] = q[i];", "yes"),
    ("r->a = malloc(8 * n);", "n", "s->a[i] = r->a[i];", "yes"),
    ("gs.a = malloc(8 * n); gs.b = gs.a;", "n", "gs.a[i] = 1;", "yes"),
    # What may be set here, under another name too, is not what it was.
    ("gs.a = malloc(8 * n); gs.b = gs.a;", "n", "gs.a[i] = gs.b[i];", "unknown"),
    ("s->a = realloc(q, 8 * n);", "n", "s->a[i] = q[i];", "unknown"),
    ("s->a = same(q);", "n", "s->a[i] = q[i];", "unknown"),
    ("s->a = mine(n);", "n", "s->a[i] = gd[i];", "unknown"),
    ("s->a = malloc(8 * n); s->a++;", "n", "s->a[i] = 1;", "unknown"),
    ("s->a = get((long)q);", "n", "s->a[i] = q[i];", "unknown"),
    ("", "n", "s->a = malloc(8); s->a[i] = 1;", "unknown"),
    ("s->a = q;", "n", "s->a[i] = q[i];", "unknown"),
    ("r->a = q;", "n", "s->a[i] = q[i];", "unknown"),
    ("*r = gs;", "n", "s->a[i] = gs.a[i];", "unknown"),
    ("k->p = q;", "n", "d->p[i] = q[i];", "unknown"),
    ("double *y = s->a; t[0] = t[1];", "n", "y[i] = s->a[i];", "unknown"),
    ("double *y = s->a; z[0] = z[1]; c[0] = 1;", "n", "y[i] = s->a[i];", "yes"),
    ("double *y = s->a; touch();", "n", "y[i] = s->a[i + 1];", "unknown"),
    ("double *y = s->a; fill(s);", "n", "y[i] = 1;", "unknown"),
    ("int x = n; keep(&x); fill(s);", "n", "s->table[0][i] = x;", "unknown"),
    ("int x = 0; gp = &x;", "n", "x += gp[i];", "unknown"),
    ("", "n", "touch(); s->a[i] = 1;", "unknown"),
]


@pytest.mark.parametrize(("before", "bound", "store", "expected"), KEPT)
def test_what_is_kept(before: str, bound: str, store: str, expected: str) -> None:
    assert judged(loop(bound, store, before)).parallel == expected


def test_a_counter_whose_address_is_known_has_its_value_afterwards() -> None:
    v = judged("int i; keep(&i); for (i = 0; i < n; i++) q[i] = 1; touch();")
    assert (v.parallel, v.private, v.copies) == ("privatizable", ("i",), ("i",))


def test_the_time_of_a_call_decides_what_a_pointer_means() -> None:
    """A loop around the call meets several arrays, one beside it meets one."""
    source = lx.loads(
        f"{HEAD} void f(struct S *s, int n) {{ for (int t = 0; t < n; t++) {{ fill(s);\n"
        "for (int i = 1; i < n; i++) s->a[i] = s->a[i - 1]; } }\n"
        "void h(int n) { for (int t = 0; t < n; t++) { touch();\n"
        "for (int i = 0; i < n; i++) gd[i] = 1; } }"
    )
    assert [v.parallel for v in source["f"].check()] == ["unknown", "no"]
    assert [v.parallel for v in source["h"].check()] == ["unknown", "yes"]
    for name in "fh":
        rows = [d for d in dependences(source[name].function) if d.array in ("s.a", "gd")]
        rows = [d for d in rows if d.direction[0] != "="]
        assert rows
        assert not any(d.exact for d in rows)
        assert "may change in between" in str(rows[-1].doubt)


def test_rows_may_be_what_others_know() -> None:
    """The pointers to them are in memory: who knows an address may have put it there."""

    def whole(body: str) -> LoopVerdict:
        return lx.loads(f"{HEAD} void f({PARAMS}) {{ {body} }}")["f"].check()[-1]

    reads = "for (int i = 0; i < n; i++) {{ q[i] = pp[0][i]; {own} = i; }}"
    assert whole(f"int x = 0; {reads.format(own='x')}").parallel == "privatizable"
    v = whole(f"int x = 0; keep(&x); {reads.format(own='x')}")
    assert v.parallel == "unknown"
    v = whole(f"int x[64]; keep(x); {reads.format(own='x[i]')}")
    assert (v.parallel, "pp and x do not overlap" in v.assumes) == ("yes", True)


def test_a_struct_of_the_function_is_not_the_one_of_the_file() -> None:
    body = "struct T { float n; int *d; } x; x.n = 1; *((struct T *)q) = x;"
    assert judged(loop("s->n", body)).parallel == "unknown"
