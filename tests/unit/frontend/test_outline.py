"""Parts of functions as functions of their own: parameters, what comes back, what is refused, and
the extents of statements in the text."""

from __future__ import annotations

from itertools import count

import pytest

from loopxform import budget
from loopxform.errors import InputError
from loopxform.frontend.outline import Item, Original, Part
from loopxform.frontend.parsed import CppOptions
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing


def read(text: str) -> Original:
    return Original("f.c", text.encode(), CppOptions())


def items_of(original: Original) -> tuple[Item, ...]:
    return original.definitions["f"].body.items


def part(text: str, first: int, last: int | None = None) -> tuple[Function | InputError, str]:
    """Statements of `f` as a function, and the call that stands for them."""
    original = read(text)
    items = items_of(original)[first : (first if last is None else last) + 1]
    region = original.region("f_1", original.definitions["f"], items)
    made = original.lower([region])["f_1"]
    if isinstance(made, InputError):
        return made, ""
    return made.function, ", ".join(original.outlined(region).arguments)


def made(text: str, first: int, last: int | None = None) -> tuple[str, str, str]:
    fn, call = part(text, first, last)
    assert isinstance(fn, Function), fn
    return fn.signature, call, listing(fn).strip()


def test_a_number_that_is_read_afterwards_comes_back_through_a_pointer() -> None:
    text = """double f(int n, const double *x) {
      double s = n; int i;
      for (i = 0; i < n; i++) s += x[i];
      return s; }"""
    signature, call, body = made(text, 2)
    assert signature == "void f_1(int n, const double *x, double *restrict s_out)"
    assert call == "n, x, &s"
    assert body.splitlines() == [
        "s = s_out[0];",
        "for (i = 0; i < n; i++)",
        "  s += x[i];",
        "s_out[0] = s;",
    ]


@pytest.mark.parametrize("storage", ["static", "extern"])
def test_a_number_that_lasts_comes_back_for_the_next_call(storage: str) -> None:
    text = f"""void f(int n, const int *x) {{
      {storage} int s;
      for (int i = 0; i < n; i++) s += x[i]; }}"""
    assert made(text, 1)[1] == "n, x, &s"


def test_counters_and_numbers_that_are_set_first_belong_to_the_part() -> None:
    text = """void f(int n, double *x) { int i, t;
      for (i = 0; i < n; i++) { t = i * i; x[i] = t; }
      i = 3; t = n; x[i] = t; }"""
    signature, call, _ = made(text, 1)
    assert (signature, call) == ("void f_1(int n, double *x)", "n, x")


@pytest.mark.parametrize(
    ("after", "comes_back"),
    [
        ("for (t = 0; t < 3; t++) g(t);", False),
        ("for (; t < 3; t++) g(t);", True),
        ("if (n) t = 1; g(t);", True),
        ("if (n) t = 1; else t = 2; g(t);", False),
        ("if (n) return; t = 1; g(t);", False),
        ("while (n) { t = 1; g(t); }", False),
        ("while (n) { if (n > 3) break; t = 1; } g(t);", True),
        ("do { t = 1; } while (n); g(t);", False),
        ("do { if (n) break; t = 1; } while (n); g(t);", True),
        ("n && (t = 1); g(t);", True),
        ("t = t + 1;", True),
        ("t += 1;", True),
        ("g(n ? t : 1);", True),
        ("{ int t = 3; g(t); }", False),
        ("lab: t = 1; g(t);", True),
    ],
)
def test_what_is_read_afterwards(after: str, comes_back: bool) -> None:
    text = f"""void g(int); void f(int n, int *x) {{ int t;
      for (int i = 0; i < n; i++) {{ t = x[i]; x[i] = 2 * t; }}
      {after} }}"""
    original = read(text)
    region = original.region("f_1", original.definitions["f"], [items_of(original)[1]])
    assert ("&t" in original.outlined(region).arguments) is comes_back


@pytest.mark.parametrize(
    ("loop", "comes_back"),
    [
        ("while (n--) { PART }", False),
        ("while (n--) { g(t); PART }", True),
        ("while (t) { PART }", True),
        ("while (n--) { PART if (n == 3) continue; t = 1; } g(t);", True),
        ("while (n--) { if (n) { PART break; } t = 1; } g(t);", True),
        ("while (n--) { PART t = 1; } g(t);", False),
        ("for (t = 0; t < 9; t++) { PART }", True),
        ("do { PART } while (t);", True),
        ("do { PART t = 3; } while (t);", False),
    ],
)
def test_what_is_read_when_the_loop_around_comes_back(loop: str, comes_back: bool) -> None:
    nest = "for (int i = 0; i < 9; i++) { t = x[i]; x[i] = 2 * t; }"
    text = f"void g(int); void f(int n, int *x) {{ int t = 0; {loop.replace('PART', nest)} }}"
    original = read(text)
    waiting = list(items_of(original))
    while original.raw[waiting[0].start : waiting[0].end].decode() != nest:
        waiting += [i for b in waiting.pop(0).bodies for i in b.items]
    region = original.region("f_1", original.definitions["f"], waiting[:1])
    assert ("&t" in original.outlined(region).arguments) is comes_back


def test_arrays_come_with_their_sizes() -> None:
    text = """void f(int n, int m) { double a[n][m]; int b[4] = {1};
      for (int i = 0; i < 4; i++) a[0][i] = b[i]; g(a); }"""
    signature, call, _ = made(text, 2)
    assert signature == "void f_1(int n, int m, double a[n][m], int b[4])"
    assert call == "n, m, a, b"


def test_sizes_of_arrays_are_those_of_the_declaration() -> None:
    """As a parameter an array is a pointer."""
    text = """void f(int n, double *p) { double a[7]; int b[n][3];
      for (int i = 0; i < (int)(sizeof a / sizeof a[0]); i++) {
        a[i] = sizeof b[0]; p[i] = sizeof(b); b[i][0] = 1; } }"""
    *_, body = made(text, 2)
    assert body.splitlines() == [
        "for (i = 0; i < (int)(7*8UL/8UL); i++)",
        "  a[i] = 3*4UL;",
        "  p[i] = 3*(n*4UL);",
        "  b[i, 0] = 1;",
    ]


def test_macros_are_those_in_front_of_the_function() -> None:
    text = """#define A 1
#define EMPTY
void f(void) { }
#undef A
void g(void) { }
"""
    original = Original("f.c", text.encode(), CppOptions(defines=('B=(A + "x" )',)))
    names = ["A", "B", "C", "EMPTY"]
    f = {"A": "1", "B": '(1 + "x" )', "C": "C", "EMPTY": ""}
    assert original.expansions(original.definitions["f"], names) == f
    g = {**f, "A": "A", "B": '(A + "x" )'}
    assert original.expansions(original.definitions["g"], names) == g


def test_structs_come_by_their_address() -> None:
    text = """struct s { int n; double *x; }; void f(struct s v) {
      v.n = 3;
      for (int i = 0; i < v.n; i++) v.x[i] = i;
      g(v.x); }"""
    signature, call, body = made(text, 1)
    assert signature == "void f_1(struct s *v_at)"
    assert call == "&v"
    assert body.splitlines()[0] == "for (i = 0; i < v_at.n; i++)"


@pytest.mark.parametrize(
    ("inside", "after", "is_given"),
    [
        ("d.x = x[i]; d.y = d.x; x[i] = d.y;", "", False),
        ("d.x = x[i]; x[i] = d.x;", "d.x = 1;", True),
        ("x[i] = d.x; d.x = i;", "", True),
        ("if (x[i]) d.x = 1; x[i] = d.x;", "", True),
        ("d.x = d.e.z = i; x[i] = d.x;", "", True),
        ("d.x = x[i]; x[i] = *p;", "", True),
        ("d.v[0] = x[i]; x[i] = d.v[0];", "", True),
    ],
)
def test_structs_of_which_members_are_set_first_belong_to_the_part(
    inside: str, after: str, is_given: bool
) -> None:
    taken = "int *p = &d.y;" if "*p" in inside else ""
    text = f"""typedef struct {{ int x, y, v[2]; struct {{ int z; }} e; }} T;
    void f(int n, int *x) {{ T d; {taken}
      for (int i = 0; i < n; i++) {{ {inside} }} {after} }}"""
    original = read(text)
    loop = items_of(original)[2 if taken else 1]
    region = original.region("f_1", original.definitions["f"], [loop])
    assert ("&d" in original.outlined(region).arguments) is is_given


def test_pointers_that_are_set_first_belong_to_the_part() -> None:
    text = """typedef struct { double v, w; } T;
    void f(int n, const int *at, const T *a, T *b) { const T *p; T *q; int i, k; puts("f");
      for (i = 0; i < n; i++) {
        k = at[i]; p = &a[k]; q = &b[i];
        q->v = p->v + p->w; } }"""
    signature, call, body = made(text, 4)
    assert signature == "void f_1(int n, const int *at, const T *a, T *b)"
    assert call == "n, at, a, b"
    assert body.splitlines()[-1].strip() == "b.v[i] = a.v[k] + a.w[k];"


def test_of_a_loop_that_returns_the_search_is_taken_out() -> None:
    text = """int f(int n, double *x, int *at) {
      for (int i = 2; i < n; i++) if (x[i] > 3) { *at = i; return 1; } return 0; }"""
    signature, call, body = made(text, 0)
    assert signature == "void f_1(int n, double *x, int *restrict i_out)"
    assert call == "n, x, &lx_at"
    assert body.splitlines()[0] == "for (i = 2; i < n; i++)"
    assert body.splitlines()[-1] == "i_out[0] = i;"


@pytest.mark.parametrize(
    ("before", "is_alone"),
    [("int k;", True), ("int k; int *q = &k; if (n > 9) g(q);", False), ("", False)],
)
def test_other_pointers_lead_to_a_number_that_comes_back(before: str, is_alone: bool) -> None:
    """Where its address is taken, or it is the file's: not to one that is the function's alone."""
    text = f"""static int k; void g(int *p);
    int f(int n, const int *first, double *x) {{ {before}
      for (k = 0; k < n; k++) x[k] = first[k]; return k; }}"""
    original = read(text)
    items = items_of(original)
    region = original.region("f_1", original.definitions["f"], [items[-2]])
    (param,) = [p for p in original.outlined(region).node.decl.type.args.params if "k_" in p.name]
    assert (param.type.quals == ["restrict"]) is is_alone


SET = "'n' may be set through its address"


@pytest.mark.parametrize(
    ("body", "at", "why"),
    [
        ("do { if (x[n]) return; } while (n--);", 0, "a return leaves the loops"),
        ("for (int i = 0; i < n; i++) { if (x[i]) return; x[i] = n; }", 0, "before set x[i]"),
        ("for (int i = 0; i < n; i++) { here: x[i] = 1; } if (n) goto here;", 0, "label 'here'"),
        (
            "for (int i = 0; i < n; i++) { if (x[i]) goto on; x[i] = 1; on:; } if (n) goto on;",
            0,
            "label 'on'",
        ),
        ("for (int i = 0; i < n; i++) { if (x[i]) goto end; x[i] = 1; } end:;", 0, "'goto end'"),
        ("volatile int v = 3; for (int i = 0; i < n; i++) x[i] = v;", 1, "'v' is volatile"),
        ("for (int i = 0; i < n; i++) *x++ = 1; g(x);", 0, "the pointer 'x' is set"),
        ("h(&n); x = g(); for (int i = 0; i < n; i++) x[i] = 1;", 2, SET),
        ("h(&n); x = g(); for (int i = 0; i < 9; i++) n += x[i];", 2, SET),
        ("int *p = &n; for (int i = 0; i < n; i++) p[i] = 1;", 1, SET),
        ("int *p = 4 + &n; h(p); for (int i = 0; i < n; i++) p[i] = 1;", 2, SET),
        ("int *p = x, *q = &n; p = q; for (int i = 0; i < n; i++) p[i] = 1;", 2, SET),
        ("h(&n); int *p = kept; for (int i = 0; i < n; i++) p[i] = 1;", 2, SET),
        ("h(&n); for (int i = 0; i < n; i++) kept[i] = 1;", 1, SET),
        ("int *p; p = n ? x : &n; for (int i = 0; i < n; i++) p[i] = 1;", 2, SET),
        ("int **q = all(&n); for (int i = 0; i < n; i++) q[i][0] = 1;", 1, SET),
        ("int *q[2] = {&n}; for (int i = 0; i < n; i++) q[i][0] = 1;", 1, SET),
        ("int *p; h(&n); h(&p); for (int i = 0; i < n; i++) p[i] = 1;", 3, SET),
        ("static int m; h(&m); for (int i = 0; i < m; i++) x[i] = 1;", 2, "'m' may be set"),
        ("h(&n); for (int i = 0; i < n; i++) x[i] = h(0);", 1, SET),
        ("h(&x); for (int i = 0; i < n; i++) x[i] = 1;", 1, "the address of 'x' is taken"),
        ("register int s = 0; for (int i = 0; i < n; i++) s += x[i]; g(s);", 1, "register"),
        ("struct s { int a; } v; for (int i = 0; i < n; i++) x[i] = 1;", 0, "a type of the"),
        (
            'char t[] = "abc"; for (int i = 0; i < sizeof t; i++) x[i] = t[i];',
            1,
            "sizeof 't' is not",
        ),
        ("int *t[3]; for (int i = 0; i < n; i++) x[i] = *t[0] + sizeof t;", 1, "sizeof 't' is not"),
    ],
)
def test_what_cannot_be_taken_out(body: str, at: int, why: str) -> None:
    text = "int *kept, h(int *), **all(int *), *g(void);"
    found, _ = part(f"{text} void f(int n, int *x) {{ {body} }}", at)
    assert isinstance(found, InputError)
    assert why in found.message


def test_a_number_whose_address_is_known_may_be_passed_where_nothing_stores_to_its_type() -> None:
    text = 'void f(double *x) { int n; scanf("%d", &n); for (int i = 0; i < n; i++) x[i] = i; }'
    assert made(text, 2)[1] == "n, x"


@pytest.mark.parametrize(
    ("body", "at", "call"),
    [
        ("h(&n); for (int i = 0; i < n; i++) x[i] = 1;", 1, "n, x"),
        ("int s = 0; h(&s); for (int i = 0; i < n; i++) s += x[i]; g(s);", 2, "n, x, &s"),
        ("h(&n); for (int i = 0; i < n; i++) all[i] = 1;", 1, "n"),
        ("int a[n]; h(&n); for (int i = 0; i < 9; i++) all[i] = n;", 2, "n"),
        ("int *p = malloc(9); h(&n); p++; for (int i = 0; i < n; i++) p[i] = 1;", 3, "n, p"),
        ("int *p; posix_memalign(&p, 64, n); for (int i = 0; i < n; i++) p[i] = 1;", 2, "n, p"),
        ("int *p = g(0); time(&n); for (int i = 0; i < n; i++) p[i] = 1;", 2, "n, p"),
        ("int *p = x + 1, *q = &p[n]; h(&n); for (int i = 0; i < n; i++) q[i] = 1;", 2, "n, q"),
        ("g(&x[2]); for (int i = 0; i < n; i++) x[i] = 1;", 1, "n, x"),
    ],
)
def test_a_pointer_that_cannot_lead_to_a_variable(body: str, at: int, call: str) -> None:
    text = "int all[9], h(int *), *g(int *);"
    assert made(f"{text} void f(int n, int *x) {{ {body} }}", at)[1] == call


def test_a_number_that_is_always_the_same_is_no_parameter() -> None:
    text = """void f(int n, int *x) { const int k = 3; int m = 4, u = 5; m++;
      for (int i = 0; i < n; i++) x[i] = k + m + u; }"""
    signature, call, body = made(text, 3)
    assert (signature, call) == ("void f_1(int n, int m, int *x)", "n, m, x")
    assert body.startswith("k = 3;\nu = 5;\n")


@pytest.mark.parametrize("flags", [(), ("-fno-strict-aliasing",)])
def test_types_tell_apart_where_the_compiler_says_so(flags: tuple[str, ...]) -> None:
    text = """double *kept; void f(int n) {
      h(&n); for (int i = 0; i < n; i++) kept[i] = 1; }"""
    original = Original("f.c", text.encode(), CppOptions(flags=flags))
    owner = original.definitions["f"]
    region = original.region("f_1", owner, owner.body.items[1:])
    assert isinstance(original.lower([region])["f_1"], InputError) == bool(flags)


def test_names_are_those_of_the_place() -> None:
    """The inner `n` is another variable."""
    text = """void f(int n, int *x) {
      { x[n] = 0; int n = 4; for (int i = 0; i < n; i++) x[i] = n; } }"""
    assert made(text, 0)[1] == "n, x"


def extents(text: str) -> list[str]:
    return [text.encode()[i.start : i.end].decode() for i in items_of(read(text))]


def test_statements_end_where_they_end() -> None:
    text = """#define N 10
#define FOR(i, n) for (int i = 0; i < (n); i++)
int a[2][2] = { { 1 }, { 2 } };
static double
f (void) /* { */
{
\tint x = 3, y[] = { 1, 2 }; // } not the end
  #pragma omp parallel for
  FOR(i, N) { y[0] += ';'; }
  if (x) ; else { "}"; }
  do x--; while (x > '}');
  switch (x) { case 1: x = 2; break; default: ; }
  for (;;) if (x) while (x) { ; } else break;
  return x;
}"""
    assert extents(text) == [
        "int x = 3, y[] = { 1, 2 };",
        "  #pragma omp parallel for\n  FOR(i, N) { y[0] += ';'; }",
        'if (x) ; else { "}"; }',
        "do x--; while (x > '}');",
        "switch (x) { case 1: x = 2; break; default: ; }",
        "for (;;) if (x) while (x) { ; } else break;",
        "return x;",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "#define BEGIN {\nvoid f(int x) BEGIN x = 1; }",
        "#define SET x = 1;\nvoid f(int x) { SET x = 2; }",
        "void f(int x) {\n#include <math.h>\nx = 1;\n}",
    ],
)
def test_text_that_does_not_show_its_statements(text: str) -> None:
    assert "f" not in read(text).definitions


def test_taking_a_part_out_takes_as_long_whatever_else_is_in_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time passes by questions here. The functions that a part does not use are not lowered."""
    seconds = count()
    monkeypatch.setattr(budget, "cpu_seconds", lambda: next(seconds))
    monkeypatch.setattr(budget, "PAUSE", 0)
    loop = "for (int i = 0; i < n; i++) a[i] = twice(a[i]);"
    used = f"static float twice(float x) {{ return x + x; }} void f(int n, float *a) {{ {loop} }}\n"
    other = "void g{}(int n, float *a) {{ while (n) {{ a[n] = n; n--; }} }}\n"
    work = []
    for others in (1, 30):
        o = read("".join(map(other.format, range(others))) + used)
        region = o.region("f_1", o.definitions["f"], o.definitions["f"].body.items)
        for _ in range(2):
            with budget.within(budget.Budget.of(1e9)):
                began = next(seconds)
                assert isinstance(o.lower([region])["f_1"], Part)
                work.append(next(seconds) - began)
    assert work[1] == work[3] > 10


@pytest.mark.parametrize(
    ("statement", "may"),
    [
        ("if (n) { a[0] = 1; if (n > 1) { a[1] = 2; } }", False),
        ("if (n) { while (n) n--; }", True),
        ("if (n) { fill(n, a); }", True),
    ],
)
def test_what_may_hold_a_loop_is_looked_into(statement: str, may: bool) -> None:
    fill = "void fill(int n, float *a) { for (int i = 0; i < n; i++) a[i] = 1; }"
    o = read(f"{fill} void f(int n, float *a) {{ {statement} }}")
    assert [o.may_loop(item) for item in items_of(o)] == [may]
