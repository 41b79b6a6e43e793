"""What loops are taken to keep, against C: a loop that has a verdict runs as often as its bound
says in front of it, and finds its pointers where they were, wherever the arguments lie in memory,
unless the verdict asks for something else.

Random functions read bounds from variables of the file, locals whose address is known, and structs,
and store through pointers of every type. The same functions, compiled, count what they do, for
arguments that overlap in every way that the types of C allow.
"""

from __future__ import annotations

import random
import subprocess
from itertools import product
from pathlib import Path

import pytest

import loopxform as lx
from loopxform import compiler

pytestmark = pytest.mark.skipif(compiler.find() is None, reason="no C compiler")

TYPES = """
int sscanf(const char *, const char *, ...);
void keep(int *); void touch(void); double *fresh(int);
struct T { int n; double d; };
struct S { int n; double *a; int *p; struct T *t; struct T in; };
static void half(int *x) { *x = *x / 2 + 2; }
static void swap(int *x, int *y) { int t = *x; *x = *y; *y = t; }
int g; static int h; double w; int *gp; struct S so, s2, *gs; struct T to;
static void hold(int *x) { int *t = x; gp = t; }
static int *back(int *x) { return x; }
static void put(struct S *s, int *x) { s->p = x; }
"""
PARAMS = "int *p, double *q, unsigned char *c, struct S *s, struct T *t, struct S *r"

KNOWN = ("keep(&x);", "gp = &x;", "s->p = &x;", "y = &x;", "y = &g;", "keep(&g);", "keep(m);")
INTEGER = ("p[0] = 2;", "c[0] = 2;", "gp[0] = 2;", "s->p[0] = 2;", "r->p[0] = 2;", "y[0] = 2;")
DOUBLE = ("q[0] = 2;", "w = 2;", "s->a[0] = 2;", "t->d = 2;", "s->t->d = 2;", "s->in.d = 2;")
POINTER = ("s->a = q;", "s->a = fresh(3);", "r->p = p;", "(*s).t = t;", "*r = so;", "r->in = *t;")
BY_NAME = (
    "so.n = 2;",
    "so.n = 2;",
    "t->n = 2;",
    "r->n = 2;",
    "gs->in.n = 2;",
    "h += 0;",
    "m[0] = 3;",
    "g = 2;",
    "touch();",
)
LENT = ('sscanf("5", "%d", &x);', "half(&x);", "int z = 3; swap(&x, &z);")
KNOWN += ("hold(&x);", "y = back(&x);", "put(s, &x);", "half(&x); hold(&x);")
SET = ("r->a = q;", "r->a = fresh(3);", "if (g > 3) y = gp;", "touch();")
BOUNDS = ("g", "h", "x", "s->n", "t->n", "so.n", "so.in.n", "gs->n", "s->t->n", "s->in.n", "m[1]")
THEMES = (
    (("", "", "", *LENT, *KNOWN, *SET), BOUNDS, (*INTEGER, *DOUBLE, *POINTER, *BY_NAME)),
    ((*LENT, *KNOWN), ("x", "x", "g", "m[1]"), (*INTEGER, "m[0] = 3;")),
    (("", *SET), ("s->n", "t->n", "g", "s->t->n"), (*INTEGER, "s->a[0] = 2;", "q[0] = 2;")),
)
"""What comes in front of the loop, its bounds, and what its body does."""

DRIVER = """
static int *kept, ints[9], more[9]; static double doubles[9]; static unsigned char bytes[9];
double *fresh(int size) { static double memory[9]; (void)size; return memory; }
void keep(int *x) { gp = kept = x; so.p = x; }
void touch(void) { if (kept) *kept = 2; so.a = doubles + 1; so.n = s2.n = 3; g = 3; }
static void begin(int A, int I, int G) {
  int *i[] = {ints, &g, &so.n, &to.n, &so.in.n};
  double *d[] = {doubles, &w, &to.d, &so.in.d};
  g = h = 4; to.n = so.n = s2.n = so.in.n = s2.in.n = 5; kept = 0;
  so.t = s2.t = &to; so.a = s2.a = d[A]; so.p = s2.p = i[I]; gp = i[G]; gs = &so;
}
static int call(int (*f)(int *, double *, unsigned char *, struct S *, struct T *, struct S *),
                int P, int Q, int C, int S) {
  int *i[] = {ints, &g, &so.n, &to.n, &so.in.n};
  double *d[] = {doubles, &w, &to.d, &so.in.d};
  void *c[] = {bytes, &g, &so.n, &to.n, &so.in.n};
  return f(i[P], d[Q], c[C], S ? &s2 : &so, S ? &so.in : &to, &so);
}
"""
INTS = ("ints", "g", "so.n", "to.n", "so.in.n")
DOUBLES = ("doubles", "w", "to.d", "so.in.d")
BYTES = ("bytes", "g", "so.n", "to.n", "so.in.n")
SEEDS = 3
Layout = tuple[int, ...]
LAYOUTS: list[Layout] = [
    *product(range(5), range(1), range(1), range(2), range(1), range(5), range(1)),
    *product(range(1), range(4), range(1), range(2), range(4), range(1), range(1)),
    *product(range(1), range(1), range(5), range(2), range(1), range(1), range(5)),
]


def body(rng: random.Random) -> tuple[str, str, list[str]]:
    """What comes before the loop, its bound, and its body."""
    before, bounds, stores = rng.choice(THEMES)
    done = rng.sample(stores, rng.choice([1, 1, 2, 3]))
    done = [x.replace("= 2", "+= 1") if rng.random() < 0.6 else x for x in done]
    return rng.choice(before), rng.choice(bounds), done


def function(name: str, before: str, bound: str, stores: list[str]) -> str:
    return (
        f"void {name}({PARAMS}) {{ int x = 4, m[2] = {{4, 4}}, *y = p; {before}\n"
        f"  for (int i = 0; i < {bound}; i++) {{ {' '.join(stores)} }} }}\n"
    )


def counted(name: str, before: str, bound: str, stores: list[str]) -> str:
    """The same, giving whether it went as it should."""
    kept = [("s->a", "double"), ("s->p", "int"), ("gp", "int")]
    used = [(e, t) for e, t in kept if any(f"{e}[" in s for s in stores)]
    start = "".join(f"{t} *was_{n} = {e};" for n, (e, t) in enumerate(used))
    check = "".join(f"bad |= {e} != was_{n};" for n, (e, _) in enumerate(used))
    return (
        f"static int {name}({PARAMS}) {{ int x = 4, m[2] = {{4, 4}}, *y = p; {before}\n"
        f"  int want = {bound}, trips = 0, bad = 0; {start}\n"
        f"  for (int i = 0; i < {bound} && trips < 99; i++, trips++) {{\n"
        f"    {check} {' '.join(stores)} }}\n"
        f"  return bad || trips != want; }}\n"
    )


def places(layout: Layout) -> dict[str, str]:
    """What the objects are that the names of verdicts mean."""
    p, q, c, s, a, i, g = layout
    own = ("so", "s2")[s]
    found = {"p": INTS[p], "q": DOUBLES[q], "c": BYTES[c], "gp": INTS[g], "r.p": INTS[i]}
    found |= {"s.a": DOUBLES[a], "r.a": DOUBLES[a], "s.p": INTS[i]}
    for name, struct in (("s", own), ("r", "so"), ("gs", "so"), ("so", "so"), ("s2", "s2")):
        found |= {f"{name}.{x}": f"{struct}.{x}" for x in ("n", "in.n", "in.d")}
        found |= {f"{name}.t.n": "to.n", f"{name}.t.d": "to.d"}
    inner = ("to", "so.in")[s]
    return found | {"t.n": f"{inner}.n", "t.d": f"{inner}.d"}


def set_before(before: str, s: str) -> dict[str, str]:
    """What pointers mean that are set in front of the loop, if that is a struct of the file."""
    found: dict[str, str] = {}
    for known in ("x", "g", "m"):
        if before in (f"keep(&{known});", f"keep({known});"):
            found |= {"gp": known, "r.p": known} | ({"s.p": known} if s == "so" else {})
    if "gp = &x" in before or "hold(&x)" in before:
        found["gp"] = "x"
    if "s->p = &x" in before or "put(s, &x)" in before:
        found |= {"s.p": "x"} | ({"r.p": "x"} if s == "so" else {})
    for name, value in (("fresh", "fresh"), ("q", "q")):
        if f"r->a = {name}" in before:
            found |= {"r.a": value} | ({"s.a": value} if s == "so" else {})
    return found


def holds(assumption: str, before: str, layout: Layout) -> bool:
    at = places(layout)
    at["y"] = next(
        (at.get(x, x) for x in ("gp", "x", "g") if f"y = {x}" in _plain(before)), at["p"]
    )
    set_here = set_before(before, "s2" if layout[3] else "so")
    at |= {name: at.get(value, value) for name, value in set_here.items()}
    a, b = assumption.removesuffix(" do not overlap").split(" and ")
    return at.get(a, a) != at.get(b, b)


def _plain(before: str) -> str:
    return before.replace("&", "").replace("back(x)", "x")


def run(made: list[tuple[str, str, list[str]]], folder: Path) -> set[tuple[int, int]]:
    """The functions, with the layouts for which they did something else, of the text as it is
    compiled."""
    layouts = ", ".join(f"{{{','.join(map(str, x))}}}" for x in LAYOUTS)
    functions = ", ".join(f"f{n}" for n in range(len(made)))
    text = TYPES + DRIVER + "".join(counted(f"f{n}", *m) for n, m in enumerate(made))
    text += f"int printf(const char *, ...);\nstatic int layouts[][7] = {{{layouts}}};\n"
    text += f"int main(void) {{ int (*f[])({PARAMS}) = {{{functions}}};\n"
    text += f"""for (int n = 0; n < {len(made)}; n++) for (int k = 0; k < {len(LAYOUTS)}; k++) {{
      int *x = layouts[k];
      begin(x[4], x[5], x[6]);
      if (call(f[n], x[0], x[1], x[2], x[3])) printf("%d %d\\n", n, k);
    }} return 0; }}"""
    (folder / "t.c").write_text(text)
    words = [*compiler.command(), "-w", "-O0", "t.c", "-o", "t"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    out = subprocess.run(["./t"], cwd=folder, check=True, capture_output=True, text=True)
    return {(int(a), int(b)) for a, b in map(str.split, out.stdout.splitlines())}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_loops_keep_what_they_are_taken_to_keep(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    made = [body(rng) for _ in range(150)]
    text = TYPES + "".join(function(f"f{n}", *m) for n, m in enumerate(made))
    source, broken, judged = lx.loads(text), run(made, tmp_path), 0
    for n, m in enumerate(made):
        (v,) = source[f"f{n}"].check()
        if v.parallel == "unknown":
            continue
        judged += 1
        for k, layout in enumerate(LAYOUTS):
            asked = all(holds(a, m[0], layout) for a in v.assumes if a.endswith("overlap"))
            assert not asked or (n, k) not in broken, (m, layout, v)
    assert judged > 30
