"""Structs as values: what initialisers, literals, calls and copies give their members."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from lowering import opaques, parsed

from loopxform.analysis.verdict import judge
from loopxform.ir.printer import listing

TYPES = """
typedef struct { float x, y, z; } V;
typedef struct { V at, to; float m; int id[2]; const char *name; void *more; unsigned bit : 3; } B;
static V add(V a, V b) { return (V){a.x + b.x, a.y + b.y, a.z + b.z}; }
static V scaled(V a, float s) { V r = {.z = a.z * s, .x = a.x * s, a.y * s}; return r; }
static float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static void turn(V *v, float s) { V u = scaled(*v, s); v->x = u.y; v->y = -u.x; v->z = u.z; }
static float norm(const B *b) { V p = b->at; return dot(p, b->at); }
static void moved(B *b, float d) { V p = b->at; turn(&p, d); b->at.x = p.x; b->at.y = p.y; }
"""
PARAMS = "int n, float *a, B *b, V *v"
USED = {"n": "int n", "a": "float *a", "b": "B *b", "v": "V *v"}
LOOP = "for (int i = 0; i < n; i++)"


def text(statements: str) -> str:
    params = ", ".join(p for n, p in USED.items() if re.search(rf"\b{n}\b", statements))
    fn = parsed(f"{TYPES} void f({params}) {{ {statements} }}").unit.functions[-1]
    return " ".join(listing(fn).split())


MEANS = [
    ("V p = {.y = a[1]}; a[0] = p.x + p.y;", "p.x = 0; p.y = a[1]; a[0] = p.x + p.y;"),
    ("V p = {1, .z = a[1]}; a[0] = p.z;", "p.z = a[1]; a[0] = p.z;"),
    ("B p = {.at = {1, 2}, {.y = 3}, .m = a[1]}; a[0] = p.at.y + p.to.y + p.to.x + p.m;",
     "p.at.x = 1; p.at.y = 2; p.to.x = 0; p.to.y = 3; p.m = a[1]; "
     "a[0] = p.at.y + p.to.y + p.to.x + p.m;"),
    ("B p = {0}; a[0] = p.to.z + p.id[1];",
     "p.id[2]; p.to.z = 0; p.id[0] = 0; p.id[1] = 0; a[0] = p.to.z + p.id[1];"),
    ("B p = b[n]; a[0] = p.m;", "p.m = b.m[n]; a[0] = p.m;"),
    ('B p = {.name = "c", .m = a[1]}; a[0] = p.m;', "p.m = a[1]; a[0] = p.m;"),
    ("V p = v[1]; *v = p;", "p.x = v.x[1]; p.y = v.y[1]; p.z = v.z[1]; v.x[0] = p.x; "
     "v.y[0] = p.y; v.z[0] = p.z;"),
    ("V p; p = (V){p.y, 2}; a[0] = p.x;",
     "literal.x = p.y; literal.y = 2; p.x = literal.x; p.y = literal.y; a[0] = p.x;"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_members_are_given_their_values(statements: str, expected: str) -> None:
    assert text(statements) == expected


UNKNOWN = [
    "B p = b[n]; a[0] = p.name[0];",
    "B p = b[n]; a[0] = p.bit;",
    "B p = b[n]; b[1] = p;",
    "B p = b[n], q; q = p; unknown(&q); a[0] = q.m;",
    "B p = {.name = unknown(), .m = 1}; a[0] = p.m;",
    "B p = {1, 2, 3, 4}; a[0] = p.m;",
    "B p = {.at = *v}; a[0] = p.at.x;",
    "V p = {.x = 1, .x = 2}; a[0] = p.x;",
    "V p = n ? v[0] : v[1]; a[0] = p.x;",
    "V p = v[(int)a[0]]; a[0] = p.x;",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_what_else_may_see_a_struct_keeps_it_whole(statements: str) -> None:
    assert opaques(parsed(f"{TYPES} void f({PARAMS}) {{ {statements} }}").unit.functions[-1])


VERDICTS = [
    ("v[i] = add(v[i], scaled(b[i].to, a[0]));", "yes"),
    ("v[i] = add(v[i + 1], (V){1, 2, 3});", "no"),
    ("B *p = &b[i]; moved(p, 2);", "yes"),
    ("B p = b[i + 1]; b[i].m = p.m;", "no"),
    ("B p = b[i + 1]; b[i].m = p.to.x;", "yes"),
    ("B p = b[i + 1], q = p; b[i].m = p.to.x + q.m;", "no"),
    ("B p = b[i + 1]; a[i] = norm(&p) + p.m; b[i].id[1] = 0;", "yes"),
    ("B p = b[i + 1]; b[i].at.x = norm(&p);", "no"),
    ("V p = v[0]; p.x += i; v[0] = p;", "no"),
    ("V p = v[i]; turn(&p, b[i].m); v[i] = p;", "yes"),
]


@pytest.mark.parametrize(("statements", "expected"), VERDICTS)
def test_loops_over_structs_are_judged(statements: str, expected: str) -> None:
    fn = parsed(f"{TYPES} void f({PARAMS}) {{ {LOOP} {{ {statements} }} }}").unit.functions[-1]
    assert [v.parallel for v in judge(fn)] == [expected]


def test_what_a_struct_holds_after_the_loop_matters() -> None:
    fn = parsed(f"{TYPES} V f({PARAMS}) {{ V p; {LOOP} p = v[i]; return p; }}").unit.functions[-1]
    assert judge(fn)[0].parallel != "yes"


def test_a_declaration_is_there_whatever_its_values_are() -> None:
    source = f"{TYPES} void f({PARAMS}) {{ {LOOP} {{ V p = {{a[i], *unknown()}}; turn(&p, 1); }} }}"
    assert judge(parsed(source).unit.functions[-1])[0].parallel == "unknown"


class Statements:
    """Random statements over the local structs p, q, t[] and the array a of 32."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def one(self, depth: int = 2) -> str:
        pick = self.rng.choice
        forms = [
            f"{self.place()} = {self.value()};",
            f"{self.place()} = (V){{{self.number()}, {self.number()}}};",
            f"{self.place()}.{pick('xyz')} += {self.number()};",
            f"turn(&{self.place()}, {self.number()});",
            f"a[{self.index()}] = {self.number()};",
            f"{{ V q = {self.initial()}, r = q; {self.place()} = r; a[i & 7] = q.{pick('xyz')}; }}",
            f"{{ B c = {{{self.initial()}, .m = {self.number()}}}; B d = c; d.at.x += d.m;"
            f" p = d.at; }}",
        ]
        if depth:
            forms.append(f"if ({self.number()} > 1) {{ {self.one(depth - 1)} }} else p = q;")
        return pick(forms)

    def initial(self) -> str:
        first, second = self.rng.sample("xyz", 2)
        named = f"{{.{first} = {self.number()}, .{second} = {self.number()}}}"
        return self.rng.choice([named, f"{{{self.number()}, {self.number()}}}", "{0}"])

    def index(self) -> str:
        return self.rng.choice(["i & 7", "3", "(i + 5) & 15"])

    def place(self) -> str:
        return self.rng.choice(["p", "q", "t[i & 3]", "t[1]"])

    def value(self) -> str:
        one, other = self.place(), self.place()
        return self.rng.choice(
            [one, f"add({one}, {other})", f"scaled({one}, {self.number()})",
             f"add(scaled({one}, 0.5f), scaled({other}, {self.number()}))"]
        )  # fmt: skip

    def number(self) -> str:
        rng = self.rng
        return rng.choice(
            [f"a[{self.index()}]", "0.25f * i", f"{self.place()}.{rng.choice('xyz')}",
             f"dot({self.place()}, {self.place()})"]
        )  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("count", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_random_values_mean_the_same(count: int) -> None:
    functions = []
    for seed in range(count):
        s = Statements(seed)
        body = " ".join(s.one() for _ in range(3))
        start = "V p = {1, 2, 3}, q = {.y = 1}; V t[4]; " + " ".join(
            f"t[{k}] = scaled(p, {k});" for k in range(4)
        )
        functions.append(
            f"float f{seed}(int n, float *a) {{ {start} {LOOP} {{ {body} }}"
            f" return dot(p, add(q, t[2])); }}"
        )
    source = TYPES + "\n".join(functions)
    calls = [{"n": n, "a": np.linspace(-1, 1, 32, dtype=np.float32)} for n in (1, 5)]
    compared, reasons = compare(source, *calls, only="f")
    assert compared >= count * 0.5, reasons


@needs_compiler
def test_values_mean_the_same() -> None:
    values = np.linspace(-1, 1, 32, dtype=np.float32)
    source = (
        TYPES
        + """
    void f(int n, float *a) {
      V p = {1, .z = a[1]}, q = {0};
      for (int i = 0; i < n; i++) {
        B c = {.at = {a[i], 2}, {.y = 3}, .m = a[i + 1], .id = {4}};
        q = (V){q.y, q.x, c.id[0] + c.id[1]};
        p = add(q, scaled(p, c.m));
        turn(&p, c.at.x + c.to.y);
        a[i] = dot(p, q) + c.to.z;
      }
    }"""
    )
    assert_same(source, {"n": 9, "a": values}, only="f")
