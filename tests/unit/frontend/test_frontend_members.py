"""Structs: one array per member."""

from __future__ import annotations

import re

import numpy as np
import pytest
from differential import needs_compiler
from lowering import body, opaques, param, parsed, shape

import loopxform as lx
from loopxform.analysis.verdict import judge
from loopxform.codegen.c import program
from loopxform.errors import EmitError, InputError
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import run

TYPES = """
enum { THREE = 3 };
typedef struct { float re, im; } C;
struct P { float x, y; int tag; float v[THREE]; C z; unsigned bit : 3; };
typedef struct { int n; float *a; const float *b; struct P in; } S;
union U { float f; int i; };
struct T { int n; float end[1]; };
struct O { int n; struct T in; };
struct P g[16]; S h;
static void add(struct P *q, float d) { q->x += d; q->tag++; }
"""
PARAMS = "int n, struct P *p, struct P *q, S *s, float *w, union U *u, struct T *e, struct O *o"


def function(statements: str, params: str = PARAMS) -> Function:
    used = [p for p in params.split(", ") if re.search(rf"\b{p[-1]}\b", statements)]
    return parsed(f"{TYPES} void f({', '.join(used)}) {{ {statements} }}").unit.functions[-1]


def text(statements: str) -> str:
    return " ".join(listing(function(statements)).split())


MEANS = [
    ("p[n].x = p[n + 1].y;", "p.x[n] = p.y[n+1];"),
    ("p->tag++; (*p).x = 1; (p + n)->y = 2;", "p.tag[0] += 1; p.x[0] = 1; p.y[n] = 2;"),
    ("p[n].v[1] = *p->v;", "p.v[n, 1] = p.v[0, 0];"),
    ("p[n].z.re = p[1].z.im;", "p.z.re[n] = p.z.im[1];"),
    ("g[n].x = h.in.y;", "g.x[n] = h.in.y;"),
    ("for (int i = 0; i < s->n; i++) s->a[i] = s->b[i];",
     "for (i = 0; i < s.n; i++) s.a[i] = s.b[i];"),
    ("w[0] = s->n; s->n = 1;", "w[0] = s.n[0]; s.n[0] = 1;"),
    ("w[0] = s->n + s[1].n;", "w[0] = s.n[0] + s.n[1];"),
    ("S *t = s + 1; w[0] = t->n + s->n;", "w[0] = s.n[1] + s.n[0];"),
    ("struct P *r = &p[n]; r->x = r[1].y;", "p.x[n] = p.y[n+1];"),
    ("float *a = s->a; a[n] = s->b[n];", "s.a[n] = s.b[n];"),
    ("float *v = p[n].v; v[1] = 2;", "p.v[n, 1] = 2;"),
    ("struct P t; t.x = 1; p->x = t.x;", "t.x = 1; p.x[0] = t.x;"),
    ("struct P t[4]; t[n].v[2] = 1;", "t.v[4, 3]; t.v[n, 2] = 1;"),
    ("add(&p[n], 2);", "p.x[n] += (float)2; p.tag[n] += 1;"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(statements) == expected


UNKNOWN = [
    "u->f = 1; u->i = 2;",
    "p->bit = 1;",
    "p[0] = p[1];",
    "s[n].a[0] = 1;",
    "s->a = w; s->a[0] = 1;",
    "s->a = w; h.b = w; w[0] = h.a[1];",
    "float *a = s->a; s->a = w; a[0] = 1;",
    "float *a; s->n || (a = s->a); a[0] = 1;",
    "unknown(s); s->a[0] = 1;",
    "((struct P *)w)->x = 1;",
    "struct P { int x; } t; t.x = 1;",
    "p->nothing = 1;",
    "e->end[n] = 1;",
    "o->in.end[0] = 1;",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    assert opaques(function(f"{{ {statements} }}"))


def test_an_array_at_the_end_of_a_struct_may_be_longer_than_it_says() -> None:
    (found,) = opaques(function("w[0] = e->n; e->end[n] = 1;"))
    assert found.reason == "how long 'end' is, at the end of a struct, is not known"
    source = f"{TYPES} void f(int n, struct T *t) {{ LOOP t->end[i] = t->end[i - 1]; }}"
    loop = "for (int i = 1; i < n; i++)"
    assert lx.loads(source.replace("LOOP", loop))["f"].check()[0].parallel == "no"


def test_a_bound_that_the_body_sets_is_refused() -> None:
    found = opaques(function("for (int i = 0; i < s->n; i++) s->n = 2;"))
    assert "which the body modifies" in found[0].reason
    found = opaques(function("for (int i = 0; i < s->n; i++) *s = h;"))
    assert "which a store through 's' in the body may modify" in found[0].reason


def test_parameters_have_the_shape_of_their_members() -> None:
    fn = function("p[n].v[1] = g[n].x + s->a[n];")
    assert shape(fn, "p.v") == [None, "3"]
    assert shape(fn, "g.x") == ["16"]
    assert (param(fn, "p.v").part_of, param(fn, "s.a").part_of) == ("p", "")


def verdict(statements: str, params: str = PARAMS) -> tuple[str, tuple[str, ...]]:
    (v,) = judge(function(f"for (int i = 1; i < n; i++) {{ {statements} }}", params))
    return v.parallel, v.assumes


def test_members_do_not_overlap_but_pointers_may() -> None:
    assert verdict("p[i].x = p[i - 1].y;") == ("yes", ())
    assert verdict("p[i].x = p[i - 1].x;") == ("no", ())
    assert verdict("p[i].x = q[i].x;") == ("yes", ("p.x and q.x do not overlap",))
    assert verdict("s->a[i] = s->b[i];")[1] == ("s.b and s.a do not overlap",)
    assert verdict("p[i].x = w[i];", "int n, struct P *restrict p, float *restrict w") == (
        "yes",
        (),
    )


def test_structs_that_may_lie_otherwise_are_not_written() -> None:
    """A bit-field, and what packs or aligns."""
    with pytest.raises(EmitError, match="how the struct 'p' lies in memory is not known"):
        program.function_text(function("p[n].x = 1;"))
    with pytest.raises(InputError, match="how the struct 'p' lies in memory is not known"):
        Library(CSource(text=TYPES), [function("p[n].x = 1;")])
    for odd in (
        "struct __attribute__((packed)) P { char c; int x; };",
        "struct P { char c; int x; } __attribute__((aligned(16)));",
        "struct P { char c; _Alignas(8) int x; };",
        "#pragma pack(1)\nstruct P { char c; int x; };",
        "struct P { long double c; int x; };",
        "union U { int i; }; struct P { union U u; int x; };",
        "enum __attribute__((packed)) E { A }; struct P { enum E c; int x; };",
        "typedef int I __attribute__((aligned(16))); struct P { char c; I x; };",
        "struct Q { char c; int i; } __attribute__((packed)); struct P { struct Q q; int x; };",
        "struct __attribute__((unused)) P { char c; int x; } __attribute__((packed)) *first;",
    ):
        fn = parsed(f"{odd} \n void f(struct P *p) {{ p[1].x = 1; }}").unit.functions[0]
        with pytest.raises(EmitError, match="lies in memory is not known"):
            program.function_text(fn)


def test_what_is_packed_elsewhere_leaves_a_struct_as_it_is() -> None:
    fn = parsed(
        "enum __attribute__((packed)) E { A, B };\n"
        "static float table[4] __attribute__((aligned(64)));\n"
        "struct Q { char c; int i; } __attribute__((packed));\n"
        "struct P { char c; int x; };\n"
        "void g(void) { struct __attribute__((packed)) L { char c; } l; }\n"
        "void f(struct P *p) { p[1].x = 1; }"
    ).unit.functions[-1]
    assert [m.offset for m in fn.structs[0].type.members] == [0, 4]
    program.function_text(fn)


def test_structs_as_c() -> None:
    text = program.file_text(
        parsed(
            """typedef struct { char c; float v[2]; struct { double d; } in[3]; void (*f)(int); } P;
            struct M { int n; const float *a; P *ps; struct M *next; } *m;
            struct O { int x; };
            void f(P p, P *q, struct M *s, struct M t) {
              struct O own[4];
              for (int i = 0; i < s->n; i++) {
                own[i % 4].x = i;
                q[i].v[i % 2] = p.v[0] + s->a[i] + t.ps[i].in[1].d + m->n + own[i % 4].x;
              }
            }"""
        ).unit.functions[0]
    )
    assert "struct M { int n; const float *a; P *ps; void *next; };" in text
    assert "extern struct M *m;" in text
    assert "int own_x[4];" in text
    assert "q[i].v[i % 2] = p.v[0] + s->a[i] + t.ps[i].in[1].d + m->n + own_x[i % 4];" in text


def test_an_unknown_struct_is_refused_at_its_use() -> None:
    assert opaques(body("p->x = 1;", "struct Q *p"))[0].code == "LX015"


@pytest.mark.parametrize("place", ["(*t)->a", "t[0]->a"])
def test_arrays_behind_pointers_to_pointers_are_refused(place: str) -> None:
    """What was written called them `t->a`, which is no C."""
    (left,) = opaques(function(f"w[0] = {place}[n];", "int n, float *w, S **t"))
    assert (left.code, left.reason) == ("LX015", "each struct has its own array 't.a'")


@needs_compiler
def test_members_mean_the_same() -> None:
    source = (
        TYPES
        + """
void f(int n, struct P *p) {
  for (int i = 1; i < n; i++) {
    struct P *r = p + i, t;
    t.x = p[i - 1].x;
    add(r, t.x);
    r->v[i % 3] = r[-1].v[1] + r->y;
    p[i].z.im = p[i].z.re;
  }
}
void all(int n, float *x, float *y, int *tag, float v[][3], float *re, float *im) {
  struct P p[16];
  for (int i = 0; i < 16; i++) {
    struct P t = {x[i], y[i], tag[i], {v[i][0], v[i][1], v[i][2]}, {re[i], im[i]}};
    p[i] = t;
  }
  f(n, p);
  for (int i = 0; i < 16; i++) {
    x[i] = p[i].x; y[i] = p[i].y; tag[i] = p[i].tag; re[i] = p[i].z.re; im[i] = p[i].z.im;
    for (int k = 0; k < 3; k++) v[i][k] = p[i].v[k];
  }
}
"""
    )
    functions = {f.name: f for f in parsed(source).unit.functions}
    rng = np.random.default_rng(1)
    names = ("x", "y", "re", "im")
    given = {k: rng.random(16).astype(np.float32) for k in names}
    given |= {"v": rng.random((16, 3)).astype(np.float32), "tag": np.arange(16, dtype=np.int32)}
    mine = {f"p.{'z.' if k in ('re', 'im') else ''}{k}": np.copy(v) for k, v in given.items()}
    assert not opaques(functions["f"])
    run(functions["f"], {"n": 9, **mine})
    Library(CSource(text=source), [functions["all"]]).run("all", {"n": 9, **given})
    for name, value in mine.items():
        np.testing.assert_equal(value, given[name.rpartition(".")[2]])


INLINED = [
    ("static void put(M *m, int i) { m->a[i * m->cols] = 1; }", "c.a[i, 0] = 1"),
    ("static void put(M *m, int i) { m->a[i] = m->cols; m->cols += 1; }", "c.a[i] = c.cols[0]"),
    ("static void put(M *m, int i) { m[0].a[i] = m[0].cols; }", "c.a[i] = c.cols[0]"),
    ("static void put(M *m, int i) { m->a[i] = m->cols; ((O *)m)->cols = i; }", "c.cols[0]"),
]


@pytest.mark.parametrize(("callee", "reads"), INLINED)
def test_members_behind_parameters_of_inlined_functions(callee: str, reads: str) -> None:
    text = f"""
    typedef struct {{ int rows, cols; double *a; }} M; typedef struct {{ int cols, rows; }} O;
    {callee}
    void f(M *c, int n) {{ for (int i = 0; i < n; i++) put(c, i); }}"""
    assert reads in listing(parsed(text).unit.functions[-1])
