"""The greatest value of an expression, compared with all values that its operands can have."""

from __future__ import annotations

import random
from itertools import product

import pytest

from loopxform.analysis.largest_value import greatest
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Expr, Load
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk

PARAMS = "unsigned char c, short s, unsigned short u, int k, unsigned w, unsigned long z, float x"
KNOWN = {
    "c": 255,
    "c >> 3": 31,
    "c & 15": 15,
    "k & 15": 15,
    "-3 & k & 7": 7,
    "w % 10": 9,
    "c % 10": 9,
    "c / 16": 15,
    "c + 1": 256,
    "c * 3 + c": 1020,
    "k < 3 ? c : 7": 255,
    "(int)c": 255,
    "u >> 8": 255,
    "(c >> 4) * 16 + (u >> 12)": 255,
}
UNKNOWN = ("k", "s", "w", "z", "k % 10", "c - 1", "s & k", "k >> 3", "s / 2", "-c", "c | k")


def subscript(text: str) -> tuple[Expr, dict[str, Scalar]]:
    source = f"void f({PARAMS}, int h[]) {{ for (int i = 0; i < 1; i++) h[{text}] = 0; }}"
    (fn,) = parse_file("f.c", text=source).unit.functions
    (target,) = (s.target for _, s in walk(fn.body) if isinstance(s, Assign))
    assert isinstance(target, Load)
    return target.index[0], symbols(fn)


@pytest.mark.parametrize("text", KNOWN)
def test_known(text: str) -> None:
    assert greatest(*subscript(text)) == KNOWN[text]


@pytest.mark.parametrize("text", UNKNOWN)
def test_unknown(text: str) -> None:
    assert greatest(*subscript(text)) is None


def drawn(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("c", "s", "u", "k", "7", "3", "0"))
    op, right = rng.choice("+*&-|/%>"), drawn(rng, depth - 1)
    if op in "/%>":
        right = rng.choice(("1", "3", "8"))
    left = drawn(rng, depth - 1)
    return f"({left} {op * (1 + (op == '>'))} {right})"


def test_no_value_is_greater() -> None:
    rng, found = random.Random(24), 0
    ends = {"c": (0, 1, 255), "s": (-(1 << 15), -1, 0, 32767), "u": (0, 65535), "k": (-9, 0, 77)}
    for _ in range(400):
        text = drawn(rng, 3)
        e, types = subscript(text)
        most = greatest(e, types)
        if most is None:
            continue
        found += 1
        for values in product(*ends.values()):
            value = evaluate(e, dict(zip(ends, values)))
            assert 0 <= value <= most or abs(value) > 1 << 31, (text, values, value, most)
    assert found > 100
