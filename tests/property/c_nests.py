"""Random loop nests as C text: affine ones, and ones with what is not (`kind`).

affine     coefficients from -2 to 2, triangular bounds, steps of both signs, guards with else
           branches, temporaries, sums: every loop can be judged
induction  scalars that grow with the iterations, and ones that hold the value of the one before
unsigned   loops over unsigned variables, whose arithmetic may wrap around, and over narrow ones
extremum   the largest element, with its place; histograms
overlap    pointers that may be the same memory
pointers   pointers that move through one array, counters that are stepped in expressions
data       loops inside that data end: `while`, `do`, `break`
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from random_nests import lowered

from loopxform.ir.nodes import Function
from loopxform.prepare.while_loops import whole_loops

KINDS = ("affine", "induction", "unsigned", "extremum", "overlap", "pointers", "data")
MIDDLE, EXTENT = 40, 99
"""Subscripts stay inside the arrays: the values of an expression lie around the middle."""


@dataclass
class Writer:
    """Writes one function over A, B (two dimensions), a, b (one), scalars t, u, and M, N."""

    rng: random.Random
    kind: str
    lines: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    below_n: set[str] = field(default_factory=set)
    signed: list[str] = field(default_factory=list)
    """Those of the loops that count an int."""

    def text(self) -> str:
        one = ("*a", "*b") if self.kind == "overlap" else (f"a[{EXTENT}]", f"b[{EXTENT}]")
        two = "" if self.kind == "overlap" else f", int A[{EXTENT}][{EXTENT}], int B[{EXTENT}][9]"
        params = f"int M, int N, int {one[0]}, int {one[1]}, int k[{EXTENT}]{two}"
        self.lines = [f"void f({params})", "{", "  int t = 0, u = 1, j0 = 3, w0 = 2, m = 0, h;"]
        if self.kind == "pointers":
            self.emit(1, f"int *p = a + {MIDDLE}, *q = b + {MIDDLE}, *r;")
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            self.loop(1)
        if self.kind == "extremum":
            self.emit(1, "a[0] = t; a[1] = m;")
        elif self.rng.random() < 0.3:
            self.emit(1, f"a[0] = {self.rng.choice('tum')};")
        return "\n".join([*self.lines, "}", ""])

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def loop(self, depth: int) -> None:
        var = "ijk"[len(self.loops)]
        var = {"k": "l"}.get(var, var)
        type = "unsigned" if self.kind == "unsigned" and self.rng.random() < 0.5 else "int"
        if self.kind == "unsigned" and self.rng.random() < 0.2:
            type = self.rng.choice(["unsigned char", "signed char", "short", "unsigned short"])
        self.emit(depth, f"for ({type} {var} = {self.header(var)}) {{")
        self.loops.append(var)
        self.signed += [var] * (type in ("int", "short", "signed char"))
        self.body(depth + 1)
        self.loops.pop()
        self.signed = [v for v in self.signed if v != var]
        self.emit(depth, "}")

    def header(self, var: str) -> str:
        rng = self.rng
        low, high = rng.choice(["0", "0", "0", "1"]), rng.choice(["M", "N", "N", "4", "M + N"])
        if self.loops and rng.random() < 0.35:
            outer = rng.choice(self.loops)
            if rng.random() < 0.5:
                low = rng.choice([outer, f"{outer} + 1"])
            else:
                fall = f"5 - {outer}"
                if self.kind == "unsigned":
                    fall = f"N - {outer}" if outer in self.below_n else "4"
                high = rng.choice([outer, f"{outer} + 1", fall])
        self.below_n = {v for v in self.below_n if v != var} | ({var} if high == "N" else set())
        shape = rng.random()
        if shape < 0.15 and self.kind == "unsigned":
            return rng.choice(
                [
                    f"{low}; {var} < {high} + 2u - 1u; {var}++",
                    f"N + 3u - 1u; {var} > {low}; {var}--",
                ]
            )
        if shape < 0.15:
            return f"{high} - 1; {var} >= {low}; {var} -= {rng.choice([1, 1, 2])}"
        step = "++" if shape < 0.85 else f" += {rng.choice([2, 3])}"
        return f"{low}; {var} < {high}; {var}{step}"

    def body(self, depth: int) -> None:
        rng = self.rng
        carried = self.carried() if self.kind in ("induction", "pointers") else ""
        if carried and rng.random() < 0.5:
            self.emit(depth, carried)
            carried = ""
        for _ in range(rng.choice([1, 1, 2, 3])):
            form = rng.random()
            if form < 0.45 and len(self.loops) < 3:
                self.loop(depth)
            elif form < 0.6:
                self.emit(depth, f"if ({self.condition()}) {{ {self.assignment()} }}")
                if rng.random() < 0.5:
                    self.emit(depth, f"else {{ {self.assignment()} }}")
            else:
                self.emit(depth, self.assignment())
        if carried or (self.kind == "induction" and rng.random() < 0.3):
            self.emit(depth, carried or self.carried())

    def carried(self) -> str:
        inner = self.loops[-1]
        if self.kind == "pointers":
            return self.rng.choice(
                ["p++;", "p += 2;", "q--;", f"p = a + {inner};", f"p = a + {MIDDLE};",
                 f"if (a[{inner}] > 5) p++;", f"q = b + 2*{inner};"]
            )  # fmt: skip
        return self.rng.choice(["j0++;", "j0 = j0 + 2;", "j0 -= 1;", f"w0 = {inner};"])

    def assignment(self) -> str:
        rng = self.rng
        if self.kind == "extremum" and rng.random() < 0.5:
            e = self.element("b")
            return rng.choice(
                [f"if ({e} > m) {{ m = {e}; u = {self.loops[-1]}; }}", f"if ({e} < m) m = {e};",
                 f"t += {e}; t *= {self.element('b')};", f"t += {e}; u += t;",
                 f"a[{MIDDLE} + b[{self.affine()}] % 4] += 1;", f"m = {e} > m ? {e} : m;"]
            )  # fmt: skip
        if self.kind == "pointers" and rng.random() < 0.5:
            e, at = self.element("b"), MIDDLE + rng.randint(-2, 1)
            return rng.choice(
                [f"*p++ = {e};", f"*--q += {e};", "t += *p++;", f"a[j0++] = {e};",
                 f"p[{rng.randint(-2, 2)}] = *q;", f"*p = p[{rng.randint(-1, 1)}] + {e};",
                 f"for (r = a + {MIDDLE}; r < a + {at} + N; r++) *r = r[1] + {e};",
                 f"r = a + {MIDDLE} + N; while (r > a + {at}) {{ r--; *r += {e}; }}"]
            )  # fmt: skip
        if self.kind == "data" and rng.random() < 0.25:
            return self.on_data()
        form = rng.random()
        if form < 0.15:
            return f"{rng.choice('tu')} = {self.value()};"
        if form < 0.25:
            return f"{rng.choice('tu')} {rng.choice(['+=', '*=', '-='])} {self.element()};"
        op = rng.choice(["=", "=", "=", "+="])
        return f"{self.element()} {op} {self.value()};"

    def on_data(self) -> str:
        """A loop that ends when data say so, after few iterations."""
        rng, s = self.rng, self.rng.choice("tum")
        start = f"{s} = {rng.choice(['0', '1', self.element()])}; " * (rng.random() < 0.7)
        some, e = f"{self.element()} = {self.element()} + {s};", self.element()
        count = f"for (h = {rng.choice('01')}; h < {rng.choice(['N', '4'])}; h++)"
        leave = f"if ({self.element()} > {rng.randint(2, 6)}) break;"
        return start + rng.choice(
            [f"while ({s} < {e}) {s} = 2*{s} + 1;",
             f"while ({s} < 4 && {e} > {s}) {{ {some} {s}++; }}",
             f"do {{ {s} = 2*{s} + 1; {some} }} while ({s} < {e});",
             f"{count} {{ {leave} {some} }}", f"{count} {{ {some} {leave} {some} }} {s} = h;"]
        )  # fmt: skip

    def value(self) -> str:
        rng = self.rng
        names = {"induction": ["t", "j0", "w0"], "extremum": ["t"]}.get(self.kind, ["t", "u"])
        if rng.random() < 0.3:
            return rng.choice(names)
        form = rng.choice(["{0}", "{0} + 1", "{0} + {1}"])
        return form.format(self.element(), self.element())

    def element(self, name: str = "") -> str:
        two = "" if self.kind == "overlap" else "AB"
        name = name or self.rng.choice("aab" + two)
        if name == "A":
            return f"A[{self.affine()}][{self.affine()}]"
        if name == "B":
            return f"B[{self.affine()}][{self.rng.randint(0, 1)}]"
        return f"{name}[{self.affine()}]"

    def affine(self) -> str:
        rng = self.rng
        if self.kind == "induction" and rng.random() < 0.4:
            return f"{MIDDLE} + {rng.choice(['j0', 'w0'])}"
        if self.kind == "unsigned" and rng.random() < 0.5:
            v, c = rng.choice(self.signed or self.loops), rng.randint(1, 2)
            if self.signed and rng.random() < 0.6:
                return f"(unsigned)({v} - {c}) % 7u + {MIDDLE}"
            return rng.choice([f"{v} - {c} + {MIDDLE}", f"{v} / {c + 1}", f"{v} % {c + 1} + {v}"])
        used = rng.sample(self.loops, min(len(self.loops), rng.choice([0, 1, 1, 1, 2])))
        terms = [rng.choice(["", "", "", "-", "2*", "-2*"]) + v for v in used]
        if terms and rng.random() < 0.12:
            cut = rng.choice([" / 2", " / 3", " % 2", " % 3"])
            return f"({' + '.join([*terms, str(rng.randint(-3, 1))])}){cut} + {MIDDLE}"
        if rng.random() < 0.1:
            terms.append(rng.choice("MN"))
        return " + ".join([*terms, str(MIDDLE + rng.choice([-1, 0, 0, 0, 1, 2]))])

    def condition(self) -> str:
        rng = self.rng
        left = rng.choice(self.loops)
        right = rng.choice(["2", "N", "M - 1", *self.loops])
        if self.kind == "unsigned" and rng.random() < 0.2:
            return f"{left} - {rng.randint(1, 2)} {rng.choice(['<', '>'])} {rng.randint(1, 3)}"
        if self.kind == "unsigned" and left in self.signed and rng.random() < 0.3:
            return f"(unsigned)({left} - 2) {rng.choice(['<', '>'])} {rng.randint(1, 3)}u"
        out = f"{left} {rng.choice(['<', '>', '<=', '>=', '==', '!='])} {right}"
        if rng.random() < 0.2:
            out = f"{out} {rng.choice(['&&', '||'])} {rng.choice(self.loops)} > 1"
        return rng.choice([out, out, out, f"{left} % 2 == {rng.randint(0, 1)}"])


def programs(kind: str, seed: int, count: int) -> Iterator[tuple[str, Function]]:
    """(name, function); the name says how to make it again."""
    for n in range(seed * 100_000, seed * 100_000 + count):
        fn = lowered(Writer(random.Random(f"{kind} {n}"), kind).text())
        yield f"{kind} {n}", whole_loops(fn) if kind == "data" else fn
