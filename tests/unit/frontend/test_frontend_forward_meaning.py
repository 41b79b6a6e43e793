"""Random programs that compute subscripts in temporaries mean what the compiler makes of them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import compare, needs_compiler
from lowering import parsed

from loopxform.ir.printer import listing

SEED = 20
TYPES = ["int", "int", "long", "size_t", "unsigned", "short", "unsigned char", "signed char"]
SIZE = 4096


class Generator:
    """Statements over temporaries whose values stay between 0 and a few hundred, so that subscripts
    stay inside and only what is cut off to eight bits wraps around."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = 0

    def function(self, name: str) -> str:
        self.count = 0
        body = self.block(["n", "m"], [], 0)
        return f"void {name}(int n, int m, int a[{SIZE}]) {{ {body} }}"

    def value(self, known: list[str]) -> str:
        x, y = self.rng.choice(known[-4:]), self.rng.choice(known)
        forms = [x, f"{x} + {y}", f"{x} * 3 + {y}", f"({x} + 700) / 2", f"{x} % 5", f"{x} + 200"]
        return self.rng.choice([*forms, f"a[{x} % 9 + 9] + 50", f"{x} > {y} ? {x} : {y}"])

    def block(self, known: list[str], own: list[str], depth: int) -> str:
        known, own = list(known), list(own)
        first = [self.temporary(known, own) for _ in range(3 - depth)]
        rest = [self.statement(known, own, depth) for _ in range(self.rng.randint(3, 5))]
        return " ".join([*first, *rest])

    def temporary(self, known: list[str], own: list[str]) -> str:
        self.count += 1
        name, value = f"t{self.count}", self.value(known)
        known.append(name)
        own.append(name)
        return f"{self.rng.choice(TYPES)} {name} = {value};"

    def statement(self, known: list[str], own: list[str], depth: int) -> str:
        """`known` are scalars with a value, `own` those that may be changed."""
        self.count += 1
        kind = self.rng.choice(["new", "set", "set", "store", "store", "store", "loop", "if"])
        if kind == "new":
            return self.temporary(known, own)
        if kind == "set":
            return f"{self.rng.choice(own[-4:])} = ({self.value(known)}) % 900;"
        if kind == "loop" and depth < 2:
            i = f"i{self.count}"
            body = self.block([*known, i], own, depth + 1)
            return f"for (int {i} = 0; {i} < {self.rng.choice('nm')}; {i}++) {{ {body} }}"
        if kind == "if" and depth < 3:
            then, orelse = self.block(known, own, depth + 1), self.block(known, own, depth + 1)
            return f"if ({self.value(known)} > 9) {{ {then} }} else {{ {orelse} }}"
        at, value = self.rng.choice(own[-4:]), self.value(known)
        return f"a[{at} % 2000 + {self.rng.randint(256, 999)}] = ({value}) % 97;"


@needs_compiler
@pytest.mark.parametrize("functions", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_random_temporaries(functions: int) -> None:
    rng = random.Random(SEED)
    generator = Generator(rng)
    text = "#include <stddef.h>\n" + "\n".join(
        generator.function(f"f{n}") for n in range(functions)
    )
    calls = [
        {"n": n, "m": m, "a": np.array(np.random.default_rng(n).integers(0, 97, SIZE), "int32")}
        for n, m in ((3, 4), (6, 1), (0, 5))
    ]
    compared, reasons = compare(text, *calls)
    assert compared > functions * 0.9, reasons[:5]
    plain = sum(" t" in listing(fn) for fn in parsed(text).unit.functions)
    assert plain, "some temporaries stay"
