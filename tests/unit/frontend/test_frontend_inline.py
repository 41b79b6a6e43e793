"""Calls of functions of the same file: what stands in their place."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from jumping import Generator
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.codegen.c import program
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.prepare.while_loops import whole_loops
from loopxform.verify.cref import CSource, Library

FUNCTIONS = """
typedef float real;
int g; real table[4]; enum { TWO = 2 };
static real sq(real x) { return x * x; }
static int at(int i, int j, int n) { return i * n + j; }
static inline int larger(int x, int y) { if (x > y) return x; return y; }
static real get(const real *p, int i) { return p[i + TWO]; }
static void put(real *p, int i, real v) { p[i] = v; }
static real total(int n, const real *x) { real s = 0; for (int k = 0; k < n; k++) s += x[k]; return s; }
static void clear(int n, real m[n][n], int i) { for (int j = 0; j < n; j++) m[i][j] = 0; }
static void step(int *p) { *p += 1; }
static int tick(void) { g++; return g; }
static int half(int n) { n = n / 2; return n; }
static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int first(const int *x, int n) { for (int i = 0; i < n; i++) if (x[i]) return i; return n; }
static int any(const int *x, int n, int k) { switch (k) { case 1: for (int i = 0; i < n; i++) if (x[i]) return i; } return n; }
static int passed(int n) { int r = n; return r++; }
static int before(int n) { return --n; }
static int count(void) { static int c; return c++; }
static int skip(int n) { if (n > 2) n = 2; return n; }
static real lookup(int i) { return table[i & 3]; }
typedef struct { real x, y; } pair; struct at { int pos; };
static real dot(pair p, pair q) { return p.x * q.x + p.y * q.y; }
static real square(pair p) { return dot(p, p); }
static pair twice(pair p) { p.x *= 2; return p; }
static int spot(const int *s, int i) { const int *d = s + 1; short w = d[0]; return i * w + d[1]; }
static int twisted(int i) { int w = i + 1; return w * w; }
static int seen(int i) { volatile int w = i; return w; }
static real *row(real *p, int i) { return p + 4 * i; }
static int next(struct at *s) { s->pos += 1; return s->pos; }
"""  # noqa: E501

PARAMS = "int n, real *a, real *b, real m[n][n], int *x"


def function(statements: str) -> Function:
    return parsed(f"{FUNCTIONS} void f({PARAMS}) {{ {statements} }}").unit.functions[-1]


def text(statements: str) -> str:
    return " ".join(listing(function(statements)).split())


LOOP = "for (i = 0; i < n; i++)"
MEANS = [
    ("a[i] = sq(b[i]);", "a[i] = b[i] * b[i];"),
    ("a[i] = sq(i);", "a[i] = (float)i * (float)i;"),
    ("a[i] = sq(sq(2));", "a[i] = (float)2 * (float)2 * ((float)2 * (float)2);"),
    ("a[i] = larger(i, 3);", "a[i] = i > 3 ? i : 3;"),
    ("if (n > 2 && larger(i, 3)) a[i] = 1;", "if (n > 2 && (i > 3 ? i : 3)) a[i] = 1;"),
    ("a[i] = get(b + i, 1);", "a[i] = b[i+(1+2)];"),
    ("a[i] = get(m[i], 1);", "a[i] = m[i, 1+2];"),
    ("put(a, i, 1);", "a[i] = (float)1;"),
    ("put(&a[i], 0, b[i]);", "v = b[i]; a[i] = v;"),
    ("a[i] = total(n, m[i]);",
     "s = 0; for (k = 0; k < n; k++) s += m[i, k]; total_value = s; a[i] = total_value;"),
    ("clear(n, m, i);", "for (j = 0; j < n; j++) m[i, j] = 0;"),
    ("step(&x[i]);", "x[i] += 1;"),
    ("int k = 2; step(&k); x[i] = k;", "k = 2; k += 1; x[i] = k;"),
    ("int g = tick(); x[i] = g;", "g += 1; tick_value = g; g_2 = tick_value; x[i] = g_2;"),
    ("x[i] = half(i);", "n_2 = i; n_2 = n_2/2; half_value = n_2; x[i] = half_value;"),
    ("sq(b[i]); larger(i, 2); lookup(i); a[i] = 1;", "a[i] = 1;"),
    ("sq(tick()); x[i] = 1;", "g += 1; tick_value = g; x_2 = tick_value; x[i] = 1;"),
    ("x[i] = 2 * tick() + i;", "g += 1; tick_value = g; x[i] = 2*tick_value + i;"),
    ("if (tick() < i) x[i] = 1;", "g += 1; tick_value = g; if (tick_value < i) x[i] = 1;"),
    ("x[i] = spot(x, i & 1);", "x[i] = (i & 1) * (short)x[1] + x[1+1];"),
    ("x[i] = twisted(i);", "w = i + 1; twisted_value = w*w; x[i] = twisted_value;"),
    ("row(a, i)[1] = 2;", "a[4*i+1] = 2;"),
    ("real *p = row(b, i); p[2] = 1;", "b[4*i+2] = 1;"),
    ("pair p = {1, b[i]}; a[i] = dot(p, p);",
     "p.x = 1; p.y = b[i]; a[i] = p.x*p.x + p.y*p.y;"),
    ("pair p = {1, b[i]}; a[i] = square(p);",
     "p.x = 1; p.y = b[i]; a[i] = p.x*p.x + p.y*p.y;"),
    ("pair p = {1, b[i]}; pair q = twice(p); a[i] = q.x;",
     "p.x = 1; p.x_2 = p.x; p.x_2 *= 2; twice_value.x = p.x_2; q.x = twice_value.x; a[i] = q.x;"),
    ("g += tick();", "g += 1; tick_value = g; g += tick_value;"),
    ("x[i] -= 2*tick();", "g += 1; tick_value = g; x[i] -= 2*tick_value;"),
    ("x[i] = passed(i);", "x[i] = i;"),
    ("x[i] = before(i);", "n_2 = i; n_2 -= 1; before_value = n_2; x[i] = before_value;"),
    ("float table = 1; a[i] = lookup(i) + table;", "table_2 = 1; a[i] = table[i&3] + table_2;"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(f"for (int i = 0; i < n; i++) {{ {statements} }}") == f"{LOOP} {expected}"


def test_a_subscript_that_is_computed_by_a_function_gets_its_shape_back() -> None:
    found = text("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[at(i, j, n)] = 0;")
    assert found == f"{LOOP} for (j = 0; j < n; j++) a[i, j] = 0;"


UNKNOWN = [
    "x[i] = seen(i);",
    "x[i] = fact(i);",
    "x[i] = even(i);",
    "x[i] = count();",
    "x[i] = any(x, n, i);",
    # Whether x is read before or after the call is not said by C.
    "a[i] = a[g] + tick();",
    "x[g] = tick();",
    "x[i] = tick() + tick();",
    "x[i] = tick() + g;",
    "x[i] = tick() * (a[0] > 1);",
    "if (tick() > x[0]) x[i] = 1;",
    "int k = 1; step(&k); x[i] = (step(&k), k) + k;",
    "x[i] = n > 2 ? tick() : 1;",
    "struct at s = {0}; x[i] = next(&s) + s.pos;",
    # More arguments than parameters, a function that the function itself declares.
    "x[i] = half(i, 2);",
    "int (*half)(int) = 0; x[i] = half(i);",
    # Another type of element.
    "put((float *)x, i, 1);",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    assert opaques(function(f"for (int i = 0; i < n; i++) {{ {statements} }}"))


def test_a_loop_is_judged_where_it_is_defined() -> None:
    fn = function("for (int i = 0; i < n; i++) {\n a[i] = total(n, m[i]);\n clear(n, m, i); }")
    (loop,) = judge(fn)
    assert (loop.var, loop.parallel) == ("i", "yes")


def test_a_call_outside_of_loops_leaves_the_loops_where_they_are() -> None:
    fn = function("clear(n, m, 0); for (int i = 0; i < n; i++) a[i] = 1;")
    assert [o.reason for o in opaques(fn)] == ["the effects of calling 'clear' are not known"]


def test_what_an_unknown_statement_holds_is_at_the_place_of_the_definition() -> None:
    fn = parsed("extern int u(int);\nstatic int w(int k)\n{\n  return u(k);\n}\n"
                "void f(int n, int *x)\n{\n  for (int i = 0; i < n; i++)\n    x[i] = w(i);\n}\n"
                ).unit.functions[-1]  # fmt: skip
    (found,) = opaques(fn)
    assert "'u'" in found.reason


@needs_compiler
def test_calls_mean_the_same() -> None:
    source = FUNCTIONS + "\n".join(
        f"void f_{k}({PARAMS}) {{ for (int i = 0; i < n; i++) {{ {statements} }} }}"
        for k, (statements, _) in enumerate(MEANS)
    )
    values = np.random.default_rng(1).random(32)
    call = {"n": 4, "a": values, "b": -values, "m": np.arange(16).reshape(4, 4), "x": [3, 2, 1, 0],
            "g": 1, "table": [0.5, 1.5, 2.5, 3.5]}  # fmt: skip
    assert_same(source, call, only="f_")


CALLS = [
    "x = {h}({v}, a, x);",
    "x = {h}(x & 3, a + {v}, {v});",
    "{{ int y = {h}({v}, b + x % 3, {v}); a[y & 7]++; }}",
    "a[e(x, b, {v}) & 7] = e(i, a + 1, e(1, b, x));",
    "a[{v}] = {h}({v}, &a[2], a[{v}]);",
    "{h}(4, a + 1, x);",
    "if (x > 2) a[0]++; else {h}(1, a, 1);",
    "{{ int n = i; int y = {h}(n + 1, a, n); int *a = b; a[y & 7] = {h}(n, a, y); }}",
    "{k}(&x, a, {v}); a[0] = {k}(&g, b, x); x = {k}(&x, a, x);",
    "x = x > 3 ? s({v}) : s(x) + g;",
    "{{ int y = 2 * {h}({v}, a, 1) + i; if (3 - {h}(2, b, y & 3) > y) a[1]++; }}",
    "if ({k}(&g, a, {v}) > i) a[i & 7] = ({h}(1, b, 2) & 15) - i;",
]


def caller(seed: int) -> str:
    """A function that calls random ones, and those: some modify what they are given."""
    rng = random.Random(seed)
    helpers = []
    for n in range(2):
        g = Generator(10 * seed + n)
        inner = " ".join(g.statement(2, loop=False) for _ in range(2))
        last = rng.choice(["return x;", "g += n; return g + x;", "{ int b = a[n]; return b; }"])
        name = f"h{seed}_{n}"
        helpers.append(f"static int {name}(int n, int *a, int x) {{ {inner} {last} }}")
        body = f"int a = b[x & 3]; *p = (*p + {name}(x & 3, b, a)) & 63; return *p;"
        helpers.append(f"static int k{seed}_{n}(int *p, int *b, int x) {{ {body} }}")
    calls = " ".join(
        rng.choice(CALLS).format(
            h=f"h{seed}_{rng.randint(0, 1)}", k=f"k{seed}_{rng.randint(0, 1)}", v=rng.choice("in2")
        )
        for _ in range(3)
    )
    loop = f"for (int i = 0; i < n; i++) {{ {calls} }}"
    return "\n".join(
        [*helpers, f"int f{seed}(int n, int *a, int *b, int x) {{ {loop} return x; }}"]
    )


@needs_compiler
@pytest.mark.parametrize("count", [8, pytest.param(25, marks=pytest.mark.slow)])
def test_random_calls_mean_the_same(count: int) -> None:
    shared = """int g; static int s(int n) { return n * n & 63; }
    static int e(int n, int *a, int x)
    { const int *q = a + (x & 3); short y = q[1] * 3; return y + q[n & 1] - (q[0] & 7); }
    """
    source = shared + "\n".join(map(caller, range(count)))
    calls = [{"n": n, "x": 3, "a": np.arange(40), "b": np.arange(40)[::-1], "g": n} for n in (1, 4)]
    compared, reasons = compare(source, *calls, only="f")
    assert compared >= count * 0.28, reasons


class Returning(Generator):
    """Statements that return from wherever they are."""

    def statement(self, depth: int, *, loop: bool, case: bool = False) -> str:
        if self.rng.random() > 0.12:
            return super().statement(depth, loop=loop, case=case)
        return f"if ({self.condition()}) return (x + {self.rng.choice(self.names)}) & 63;"


def searching(seed: int) -> str:
    """A function that calls one which returns from inside of loops."""
    g = Returning(seed)
    body = " ".join([g.loop(2), *(g.statement(2, loop=False) for _ in range(2)), g.loop(1)])
    call = g.rng.choice(
        ["x += s{0}(i, a, x);", "a[s{0}(x & 3, b, i) & 7] ^= i;", "s{0}(i, a + 1, i);",
         "if (s{0}(2, b, x) > i) a[i] += s{0}(i, a, 1);", "b[i] -= 3 * s{0}(i, b, x) + i;"]
    )  # fmt: skip
    searched = f"static int s{seed}(int n, int *a, int x) {{ {body} return x & 7; }}"
    loop = f"for (int i = 0; i < n; i++) {{ {call.format(seed)} }}"
    return f"{searched}\nint f{seed}(int n, int *a, int *b, int x) {{ {loop} return x; }}"


@needs_compiler
@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_functions_that_return_from_inside_of_loops(count: int) -> None:
    calls = [{"n": n, "x": 3, "a": np.arange(40), "b": np.arange(40)[::-1]} for n in (1, 4)]
    source = "\n".join(map(searching, range(count)))
    compared, reasons = compare(source, *calls, only="f", read=whole_loops)
    assert compared >= count * 0.3, reasons


@needs_compiler
def test_what_is_written_as_c_does_the_same() -> None:
    """The text made of a function no longer calls the functions of its file."""
    values = np.random.default_rng(1).random(32).astype(np.float32)
    statements = "x[i] = larger(tick(), half(i)); put(a + i, 0, total(n, m[i]) + lookup(i));"
    source = f"{FUNCTIONS} void f({PARAMS}) {{ for (int i = 0; i < n; i++) {{ {statements} }} }}"
    fn = parsed(source).unit.functions[-1]
    written = program.file_text(fn, define_globals=True)
    assert "tick(" not in written
    results = []
    for text in (source, written):
        call = {"n": 4, "a": values.copy(), "b": values, "x": np.zeros(4, np.int32), "g": 1,
                "m": np.arange(16, dtype=np.float32).reshape(4, 4),
                "table": np.arange(4, dtype=np.float32)}  # fmt: skip
        args = {
            p.name: np.array(call[p.name], p.type.numpy) if p.is_global else call[p.name]
            for p in fn.objects
        }
        Library(CSource(text=text), [fn]).run("f", args)
        results.append((call["a"].tolist(), call["x"].tolist(), int(args["g"])))
    assert results[0] == results[1]
    assert results[0][2] == 5
