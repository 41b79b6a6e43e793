"""What is taken for a clamped subscript has the value of one: every choice between small numbers,
as `?:` in all its spellings, at every point.
"""

from __future__ import annotations

import random

import pytest

from loopxform.ir.clamps import chosen, clamped, extremum
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Expr, Select, Var
from loopxform.ir.visit import names

POINTS = [{"i": i, "n": n} for i in range(-7, 8) for n in range(-4, 5)]


def _number(rng: random.Random) -> Expr:
    """`i + c`, `n + c` or `c`."""
    shift = Const(rng.randint(-2, 2))
    return rng.choice((Bin("+", Var("i"), shift), Bin("+", Var("n"), shift), shift))


def _choice(rng: random.Random, depth: int) -> Expr:
    if depth == 0:
        return _number(rng)
    a, b = _choice(rng, depth - 1), _number(rng)
    if rng.random() < 0.2:
        return Bin(rng.choice(("min", "max")), a, b)
    x = rng.choice((a, a.left if isinstance(a, Bin) else a, _number(rng)))
    cond = Bin(rng.choice(("<", "<=", ">", ">=", "==")), x, Bin("+", b, Const(rng.randint(-1, 1))))
    return Select(cond, *rng.sample((a, b), 2))


def test_the_least_and_the_greatest_of_two() -> None:
    rng, found = random.Random(1), 0
    for _ in range(1200):
        e = _choice(rng, 1)
        if isinstance(e, Select) and (op := extremum(e.cond, e.then, e.orelse)):
            found += 1
            pick = min if op == "min" else max
            for p in POINTS:
                assert evaluate(e, p) == pick(evaluate(e.then, p), evaluate(e.orelse, p)), (e, p)
    assert found > 80


@pytest.mark.parametrize("count", [400, pytest.param(1500, marks=pytest.mark.slow)])
def test_clamped_numbers(count: int) -> None:
    rng, two = random.Random(2), 0
    for _ in range(count):
        e = _choice(rng, rng.randint(1, 3))
        c = clamped(e, lambda x: names(x) <= {"n"})
        ends = [x for x in (c.floor, c.last) if x is not None]
        two += len(ends) == 2
        for p in POINTS if ends else ():
            floor, last = (None if x is None else evaluate(x, p) for x in (c.floor, c.last))
            if floor is not None and last is not None and floor > last:
                continue
            value = evaluate(c.index, p)
            value = value if floor is None else max(value, floor)
            assert evaluate(e, p) == (value if last is None else min(value, last)), (e, c, p)
    assert two > count // 50


def test_what_an_if_chooses() -> None:
    rng, found = random.Random(3), 0
    for _ in range(1000):
        e = _choice(rng, rng.randint(1, 2))
        if isinstance(e, Select) and (new := chosen(e.cond, e.then, e.orelse)) is not None:
            found += 1
            assert all(evaluate(e, p) == evaluate(new, p) for p in POINTS), e
    assert found > 30
