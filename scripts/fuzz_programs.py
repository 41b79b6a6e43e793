"""Random C programs: loops over arrays in every odd style, all of them valid and well defined.

Loops run at most 6 iterations, subscripts stay below 64, integers wrap as unsigned numbers or are
cut to 8 bits: what a program computes is said by C, whatever compiles it. In the tables of what may
be written `$e` is an expression, `$i` a subscript below 32, `$p` an element, `$c` and `$d` are
counters of loops around, `$v` and `$w` new names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

HEAD = """\
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#define TRIPS 6
#define AT(i, j) ((i) + 2 * (j))
#define SQUARE(x) ((x) * (x))
#define same same
#define twice(x) (same(x) + twice_of(x))
#define twice_of(x) ((x) & 7)
#define GLUE(a, b) a##b
#define EACH(t, v, n) for (t v = 0; v < (n); v++)
#define SET(x, e) do { (x) = (e); } while (0)
typedef unsigned int word;
typedef struct pair { word x; float y; word z[8]; } pair;
typedef struct both { word a, b; float f; void *none; } both;
enum colour { RED, GREEN = 3, BLUE };
word A[64], B[64], M[12][12];
int C[64];
float X[64];
unsigned char bytes[64];
pair P[16], one;
struct two { word a, b; } Q[16];
static const int limit = 5;
"""
HELPERS = """\
static word same(word x) { return x; }
static word zero(void) { return 0; }
static word larger(word x, word y) { if (x > y) return x; else return y; }
static void put(word *p, word i, word v) { p[i] = v; }
static word sum(int n, const word *p) { word s = 0; while (n--) s += *p++; return s; }
static word bits(word x) { word c = 0; while (x) { c += x & 1; x >>= 1; } return c; }
static word joined(word x) { union { word w; unsigned char b[4]; } u; u.w = x; return u.b[0]; }
static word coded(word x) { enum { LOW = 1 }; struct { word a; } s; s.a = x; return s.a & LOW; }
static word old(x, y) word x; int y; { return x + (word)y; }
static struct two mixed(struct two u, word k) { struct two r = { .b = k, .a = u.b }; return r; }
static struct two whole(word x) { return (struct two){ x, x ^ 5 }; }
static void flip(struct two *u) { struct two t = *u; u->a = t.b; u->b = t.a; }
static word fact(word x) { return x < 2 ? 1 : x * fact(x - 1); }
"""


def lines(table: str) -> list[str]:
    return table.split("\n")


def short(table: str) -> list[str]:
    """The entries of a table that are parts of lines."""
    return table.replace("\n", "; ").split("; ")


INDEX = short("""$c; $c; $c; $c + 1; 2 * $c; 7 - $c; $c + $d; AT($c, $d); $c + 6 * $d & 31; $c * $d
A[$c] & 15; $c / 2; 3; ~$e & 31""")
PLACE = short("""A[$i]; A[$i]; B[$i]; *(A + ($i)); ~($i)[B]; P[($i) & 15].x
P[($i) & 15].z[($i) & 7]; ~one.x; ~one.z[($i) & 7]; ~(&A[$i])[1]
M[$c][$d]; M[$d][$c]; M[$c + 1][$d]; M[$c][$c]""")
LEAF = short("""$p; $p; $s; $s; bytes[$i]; (word)C[$i]; GREEN; limit; 'a'; ~sizeof(pair); 0x1fu; 2
3; 7; (word)($c); (word)($c)""")
EXPRESSION = short("""($e + $e); ($e + $e); ($e - $e); ($e * $e); ($e & $e); ($e ^ $e); ($e | $e)
($e % 7u); ($e / 3u); ($e >> 2); ($e < $e ? $e : $e); ($e && $e); !$e; (word)($e == $e); SQUARE($e)
twice($e); larger($e, $e); ~old($e, 2); zero(); ~(0, $e); ~(word)(uint8_t)($e); - $e; ~joined($e)
coded($e); bits($e & 63); GLUE(lar, ger)($e, 2u); ~fact($e & 3); ~sum(4, A)""")
SIMPLE = lines("""$p = $e;
$p = $e;
$p += $e;
$p ^= $e;
s += $e;
s += $p;
t = $e;
SET($p, $e);
s = t = $e;
C[$i] = (int)($e & 255);
bytes[$i] = $e & 255;
~one = P[($i) & 7];
if ($e > s) s = $p;
~t = $e, s += t;
s = s > $e ? s : 3;
(void)($e);
zero();
{ struct two $v = Q[($i) & 15]; $v.a += $e; Q[($i) & 15] = mixed($v, s); }
{ struct two $v = { .b = $e }, $w = $v; flip(&$w); s += $w.a; }
Q[($i) & 15] = whole(s);
flip(&Q[($i) & 15]);
Q[($i) & 15] = (struct two){ Q[($i) & 15].b, $e };
{ both $v = { $e, .f = 1 }, $w; $w = $v; $w.b++; s += $w.a + $w.b; }
~{ pair $v = P[($i) & 7]; s += $v.x + $v.z[1]; P[($i) & 7] = $v; }
larger($e, 2);
~put(A, ($i) & 31, $e);
~put(&B[2], ($i) & 15, $e);
~put(M[3], ($i) & 7, $e);
~old($e, 1);
same(zero());
(void)zero();
X[$i] = X[$i] + 1.5f;
X[$i] += 0.5f * X[$i];
X[$i] = s & 1 ? X[$i] : 2.0f;
X[$i] = fabsf(X[$i]) - 1.0f;
~P[($i) & 15].y = X[$i];
X[$i] = X[$i] * X[$i] > 4.0f ? 1 : X[$i];
{ word *$v = A + 2; *$v++ = $e; *$v = $e; }
~{ word *$v, *$w; $v = $w = &B[1]; *$w = $e; $v[1] += 2; }
~{ pair *$v = &P[($i) & 15]; $v->x = $e; $v->z[1]++; }
~{ word *$v = t & 1 ? A : B; $v[4] = $e; }
~{ word *const $v = &s; *$v += $e; }
~{ const word *$v = B, *$w = $v + 6; while ($v != $w) s += *$v++; }
~{ word **$v, *$w = A; $v = &$w; (*$v)[2] = $e; }
~{ pair *$v = P; for (word k = 0; k < 3; k++, $v++) $v->x += k; }
s++;
--t;
~($p)++;
~s += t++;
;
{ }
~A[(s++) & 31] = $e;
t <<= 1;
~{ int $w = 3; switch (n & 1) { case 0: do { s += 2; case 1: B[$w] += 1; } while (--$w > 0); } }
for (int $v = 0, $w = 5; $v < $w; $v++, $w--) A[$v] += B[$w];
~for (word $v = 6; $v--;) A[$v] = $e;
~for (int $v = 0;;) { if ($v > 4) break; B[$v] += 1; $v++; }
for (int $v = 0; $v < 6 && s < 9; $v++) s += A[$v];
~for (word *$v = A; $v < A + 6; $v++) *$v += $e;
~{ int $w = 6; while ($w--) B[$w] = $e; }
~for (s = 0; s < 4; s++) { A[s] = 2; }
~for (int $v = 0; $v < 6; A[$v] = 1, $v++) ;
~for (float $v = 0; $v < 3; $v += 1) s++;
~{ int $w = 4; again_$w: A[$w] += 1; if (--$w) goto again_$w; }
for (int $v = 0; $v < 3; $v++) for (int $v = 1; $v < 4; $v++) s += 1;
for (int $v = n & 1 ? 0 : 1; $v < 4; $v++) X[$v] = 1;
for (int $v = 0; $v < 6; $v++) { extern word B[]; extern int C[64]; B[$v] = (word)C[$v]; }
~for (int $v = 0; $v < 6; $v++) { static word last; last += A[$v]; B[$v] = last; }""")
DECLARATION = lines("""word $v = $e;
const word $v = $e;
register word $v = $e;
~word $v = $e, *p$v = &A[3]; *p$v += 1;
word $v; $v = $e;
~enum { $v = 4 };
~struct { word a, b; } q$v = { $e, 2 }; word $v = q$v.a;
~word a$v[3] = { 1, [2] = 5 }; word $v = a$v[2];
extern word A[]; word $v = A[1];
~union { word w; char c[4]; } u$v; u$v.w = $e; word $v = u$v.w;
~typedef word t$v; t$v $v = $e;
~word (*r$v)[12] = M; word $v = r$v[1][2];
~pair q$v = P[2]; word $v = q$v.x;
~volatile word $v = $e;
~const char *c$v = "abc"; word $v = (word)c$v[1];""")
LOOP = lines("""for ($t $v = 0; $v < $b; $v++)
for ($t $v = 0; $v < $b; $v++)
for ($t $v = 0; $v < $b; $v++)
for ($t $v = 1; $v <= 5; ++$v)
for ($t $v = 0; $v < 6; $v += 2)
for ($t $v = 5; $v > 0; $v--)
for ($t $v = 0; 6 > $v; $v = $v + 1)
for ($t $v = 0; $v != 6; $v++)
~EACH($t, $v, 6)
~for ($t $v = 1; $v < 6; $v *= 2)
int $v; for ($v = 0; $v < $b; $v++)
int $v; for ($v = 1; $v < $b; ++$v)""")
COUNTER = short("int; int; word; unsigned char; long; short")
BOUND = short("TRIPS; 6; limit; (int)(n & 3) + 2; ($c < 5 ? $c + 1 : 6); ($c & 3)")
WHILE = short("$v < 6; $v < limit; $v < (int)(n & 3); $v < 5 && s != 9")
LEAVING = lines("""if ($e == 3) break;
if ($e & 1) continue;
if ($e & 1) { s++; continue; }""")


@dataclass
class Grammar:
    """Writes one program. `scalars` are unsigned numbers in scope, `counters` those of loops, which
    nothing but the loops themselves changes. A `calm` program has nothing of what the tables mark
    with ~: most of its functions are modelled."""

    random: Random
    calm: bool = False
    scalars: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    names: int = 0
    loops: int = 0

    def program(self) -> str:
        functions = [self.function(k) for k in range(self.random.randint(1, 3))]
        text = "\n".join(functions)
        called = set(re.findall(r"\w+", text.replace("GLUE(lar, ger)", "larger, GLUE")))
        called |= {"same"} & {x.replace("twice", "same") for x in called}
        helpers = [h for h in lines(HELPERS) if called & set(re.findall(r"(\w+)\(", h)[:1])]
        return "\n".join([HEAD, *helpers, text])

    def function(self, k: int) -> str:
        self.scalars, self.counters, self.lines, self.loops = ["n", "s", "t"], [], [], 0
        self.line("word s = 0, t = n;")
        self.statements(self.random.randint(1, 3))
        self.loop()
        self.line("A[63] += s + t;")
        gives = self.one_in(3)
        if gives:
            self.line("return s;")
        body = "\n".join(self.lines)
        return f"{'word' if gives else 'void'} f{k}(word n)\n{{\n{body}\n}}\n"

    # ------------------------------------------------------------ pieces

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def pick(self, table: list[str], depth: int = 2) -> str:
        """One of a table, written out; `depth` limits how deep expressions go."""
        new = {"$v": "", "$w": ""}

        def piece(m: re.Match[str]) -> str:
            match word := m.group():
                case "$v" | "$w":
                    new[word] = new[word] or self.fresh(word[1:])
                    return new[word]
                case "$c" | "$d":
                    return self.random.choice(self.counters or ["2"])
                case "$s":
                    return self.random.choice(self.scalars)
                case "$i":
                    return self.pick(INDEX if depth else INDEX[:6], max(0, depth - 1))
                case "$p":
                    return self.pick(PLACE, max(0, depth - 1))
                case "$t":
                    return self.pick(COUNTER)
                case "$b":
                    return self.pick(BOUND)
                case _:
                    return self.expression(depth)

        known = [x for x in table if not (self.calm and x.startswith("~"))]
        return re.sub(r"\$[a-z]", piece, self.random.choice(known).removeprefix("~"))

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.one_in(4):
            return self.pick(LEAF, depth - 1)
        return self.pick(EXPRESSION, depth - 1)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def block(self, inside: Callable[[], None]) -> None:
        """What is declared inside is forgotten behind it."""
        scalars, counters = list(self.scalars), list(self.counters)
        self.line("{")
        self.depth += 1
        inside()
        self.depth -= 1
        self.line("}")
        self.scalars, self.counters = scalars, counters

    # ------------------------------------------------------------ statements

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        simple = [lambda: self.line(self.pick(SIMPLE))] * 8 + [self.declare]
        nested = [self.loop] * 3 + [self.branch, self.scope]
        nested += [] if self.calm else [self.switch, self.jump]
        kinds = simple + (nested if self.depth < 5 and self.loops < 4 else [])
        self.random.choice(kinds)()

    def declare(self) -> None:
        self.line(self.pick(DECLARATION))
        self.scalars.append(f"v{self.names}" if f"v{self.names}" in self.lines[-1] else "s")

    def branch(self) -> None:
        self.line(f"if ({self.expression(2)})")
        self.block(lambda: self.statements(self.random.randint(1, 2)))
        if self.one_in(2):
            self.line("else" if self.one_in(2) else f"else if ({self.expression(1)})")
            self.block(lambda: self.statements(1))

    def switch(self) -> None:
        self.line(f"switch ({self.expression(1)} % 4u)")
        self.block(self.cases)

    def cases(self) -> None:
        for k in range(self.random.randint(1, 4)):
            self.line("default:" if k == 3 else f"case {k}:")
            self.block(lambda: self.statements(1))
            if not self.one_in(3):
                self.line("break;")

    def jump(self) -> None:
        label = self.fresh("skip")
        self.line(f"if ({self.expression(1)} & 1) goto {label};")
        self.block(lambda: self.statements(1))
        self.line(f"{label}: ;")

    def scope(self) -> None:
        self.block(lambda: self.statements(2))

    # ------------------------------------------------------------ loops

    def loop(self) -> None:
        self.loops += 1
        kind = self.random.choice((self.counted,) * 6 + (self.while_loop, self.do_loop))
        self.block(kind)

    def body(self, counter: str, *last: str) -> None:
        def inside() -> None:
            self.counters.append(counter)
            self.statements(self.random.randint(1, 2))
            if self.one_in(6):
                self.line(self.pick(["if (s == 77) break;"] if last else LEAVING))
            for text in last:
                self.line(text)

        self.block(inside)

    def counted(self) -> None:
        text = self.pick(LOOP)
        before, _, header = text.rpartition("; for ") if text.startswith("int") else ("", "", "")
        if before:
            self.line(f"{before};")
            text = f"for {header}"
        if self.one_in(8) and text.startswith("for (int"):
            self.line("#pragma omp parallel for")
        self.line(text)
        self.body(f"v{self.names}")

    def while_loop(self) -> None:
        w = self.fresh("w")
        self.line(f"int {w} = 0;")
        self.line(f"while ({self.random.choice(WHILE).replace('$v', w)})")
        self.body(w, f"{w} += {self.random.choice((1, 1, 2))};")

    def do_loop(self) -> None:
        w = self.fresh("w")
        self.line(f"int {w} = 0;")
        self.line("do")
        self.body(w, f"{w}++;")
        self.line(f"while ({w} < 4);")


def program(seed: int) -> str:
    """The program of a seed."""
    return Grammar(Random(seed), calm=seed % 2 == 0).program()
