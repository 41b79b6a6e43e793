"""What is lowered means what the compiler makes of the same text, on random programs."""

from __future__ import annotations

import random
import shutil

import numpy as np
import pytest
from lowering import opaques, parsed

from loopxform.ir.nodes import Function
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import evaluate, run

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
)

HEAD = """#include <stddef.h>
#define SIDE 8
#define AT(p, i, j) (p)[(i) * SIDE + (j)]
#define CLAMP(x) ((x) < 0 ? 0 : (x) > 7 ? 7 : (x))
typedef unsigned char byte;
typedef long wide;
enum { TWO = 2, SEVEN = SIDE - 1 };
static const int FOUR = TWO * TWO;
int G[SIDE][SIDE];
"""
PARAMS = (
    "int n, unsigned u, wide l, float x, double d, int *restrict p, float A[SIDE][SIDE], "
    "byte *q, float (*B)[SIDE], size_t z, int w, int *r"
)
LOOPS = [
    "for (int {v} = 0; {v} < n; {v}++)",
    "for (int {v} = n - 1; {v} >= 0; {v}--)",
    "for (int {v} = 1; {v} <= SEVEN; {v} += TWO)",
    "for ({v} = 0; {v} != n; ++{v})",
    "for (size_t {v} = 0; {v} < z; {v}++)",
    "for (unsigned {v} = u; {v} > 0; {v}--)",
    "for (int {v} = SEVEN; 0 <= {v}; {v} = {v} - 3)",
    "for (wide {v} = 0; {v} + 1 < l; {v}++)",
    "for (byte {v} = 0; {v} < FOUR; {v}++)",
]


class Generator:
    """Random statements whose subscripts stay inside: every loop variable is in 0..8."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names: list[str] = []

    def index(self) -> str:
        r = self.rng
        forms = ["0", "TWO", "SEVEN", "FOUR + 1"]
        forms += [f"CLAMP((int){v})" for v in self.names]
        forms += [f"({v} & 7)" for v in self.names] + [f"{v} % SIDE" for v in self.names]
        return r.choice(forms)

    def element(self) -> str:
        i, j = self.index(), self.index()
        forms = [f"A[{i}][{j}]", f"p[{i}*8 + {j}]", f"*(q + {i}*SIDE + {j})", f"G[{i}][{j}]"]
        forms += [f"B[{i}][{j}]", f"(*(B + {i}))[{j}]", f"(&q[8*{i}])[{j}]", f"AT(p, {i}, {j})"]
        if self.names and self.rng.random() < 0.4:
            # Plain loop variables: a flat matrix whose shape can be recovered.
            v, w = self.rng.choice(self.names), self.rng.choice(self.names)
            return self.rng.choice(
                [f"r[{v}*w + {w}]", f"r[{w} + w*{v}]", f"r[{v}*w + (w - 1 - {w})]"]
            )
        return self.rng.choice(forms)

    def value(self, depth: int = 2) -> str:
        r = self.rng
        if depth == 0 or r.random() < 0.2:
            leaves = ["n", "u", "l", "x", "d", "3", "0x1F", "2u", "1.5f", "0.25", "'a'", "TWO"]
            return r.choice([*leaves, *self.names, self.element(), self.element()])
        a, b = self.value(depth - 1), self.value(depth - 1)
        i = self.index()
        return r.choice(
            [f"({a}) + ({b})", f"({a}) - ({b})", f"({a}) * ({b})", f"(({a}) < ({b}))", f"-({a})",
             f"({a}) / (({i}) + 1)", f"(({a}) > ({b}) ? ({a}) : ({b}))", f"(!({a}) || ({b}))",
             f"((int)({i}) << 2)", f"(({i}) ^ ({self.index()}))", f"(byte)({i})", f"(float)({a})",
             f"(~({i}) >> 1)", f"sizeof(wide) + ({i})"]
        )  # fmt: skip

    def small(self) -> str:
        """A value that every integer type holds (a conversion of more is not defined)."""
        return self.rng.choice([self.index(), f"({self.index()}) + ({self.index()})", "n", "u"])

    def statement(self, depth: int) -> str:
        r = self.rng
        kind = r.random()
        if kind < 0.45 or depth == 0:
            target = r.choice(["x", "d", f"A[{self.index()}][{self.index()}]"])
            if r.random() < 0.4:
                return f"{self.element()} {r.choice(['=', '='])} {self.small()};"
            return f"{target} {r.choice(['=', '=', '+=', '-=', '*='])} {self.value()};"
        if kind < 0.85:
            return self.loop(depth)
        if kind < 0.95:
            then, orelse = self.statement(depth - 1), self.statement(0)
            return f"if ({self.value(1)}) {{ {then} }} else {{ {orelse} }}"
        return f"{{ float x = {self.small()}; A[1][{self.index()}] = x; }} ({self.element()})++;"

    def loop(self, depth: int) -> str:
        v = self.rng.choice("ijk")
        head = self.rng.choice(LOOPS).format(v=v)
        outer = ""
        if f"for ({v} = 0" in head:
            outer = f"int {v}; "
        self.names.append(v)
        body = " ".join(self.statement(depth - 1) for _ in range(self.rng.randint(1, 2)))
        self.names.pop()
        return f"{{ {outer}{head} {{ {body} }} }}"


def program(seed: int) -> str:
    g = Generator(seed)
    statements = "\n  ".join(g.statement(3) for _ in range(4))
    return f"{HEAD}double f({PARAMS})\n{{\n  {statements}\n  return x + d;\n}}\n"


def arguments() -> dict[str, object]:
    rng = np.random.default_rng(3)
    return {
        "n": 5, "u": 6, "l": 7, "z": 4, "w": 8, "x": 1.25, "d": -0.5,
        "p": rng.integers(0, 9, 64, np.int32),
        "r": rng.integers(0, 9, 64, np.int32),
        "A": rng.integers(0, 9, (8, 8)).astype(np.float32),
        "q": rng.integers(0, 9, 64, np.uint8),
        "B": rng.integers(0, 9, (8, 8)).astype(np.float32),
        "G": rng.integers(0, 9, (8, 8)).astype(np.int32),
    }  # fmt: skip


def holds(fn: Function) -> bool:
    """Whether the arguments meet what the model of the function assumes."""
    scalars = {p.name: (p.type, arguments()[p.name]) for p in fn.params if not p.array}
    return all(evaluate(a, scalars) for a in fn.assumes)  # type: ignore[arg-type]


@pytest.mark.parametrize("batch", range(4))
def test_random_programs_mean_the_same(batch: int) -> None:
    sources = [program(100 * batch + n).replace("double f(", f"double f{n}(") for n in range(25)]
    # One translation unit: a compiler start is dearer than the rest.
    text = HEAD + "".join(s.removeprefix(HEAD) for s in sources)
    out = parsed(text)
    assert not out.problems
    library = Library(CSource(text=text), out.unit.functions)
    compared = recovered = 0
    for fn in out.unit.functions:
        if opaques(fn) or not holds(fn):
            continue
        mine, theirs = ({k: np.copy(v) if isinstance(v, np.ndarray) else v
                         for k, v in arguments().items() if k in {p.name for p in fn.objects}}
                        for _ in range(2))  # fmt: skip
        want = library.run(fn.name, theirs)
        got = run(fn, mine)
        assert want is not None
        assert got is not None
        np.testing.assert_equal(got, want, err_msg=text)
        for name, value in theirs.items():
            if isinstance(value, np.ndarray):
                np.testing.assert_equal(mine[name], value, err_msg=f"{fn.name} {name}")
        compared += 1
        recovered += any(p.name == "r" and len(p.shape) == 2 for p in fn.params)
    assert recovered >= 3
    assert compared >= 12, [o.reason for fn in out.unit.functions for o in opaques(fn)]
