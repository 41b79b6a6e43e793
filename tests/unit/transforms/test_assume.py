"""Assume: conditions that the host asks, and their text."""

from __future__ import annotations

import random

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit
from loopxform.ir.condition_text import condition, condition_text, long_constant
from loopxform.ir.nodes import Bin, Const, Expr, Var

WRITTEN = c("n = 4; for (int i = 0; i < n; i++) a[i] = x;", "int n, float x, float a[n]")

LISTINGS = {
    "multiple": (MM, "assume U%4==0"),
    "divided": (MM, "assume U>=1", "assume M<=2147483647/(4*((U+3)/4))"),
    "divided-by-a-sum": (MM, "assume U+1>=1", "assume M<=2147483647/(4*((U+4)/4))"),
    "joined": (MM, "assume U%4==0||N>=2*M&&M>1"),
}
REFUSALS = {
    "nothing": (MM, "assume U"),
    "no-condition": (MM, "assume U=4"),
    "broken": (MM, "assume (U%4==0"),
    "array": (MM, "assume A>0"),
    "unknown": (MM, "assume Q>0"),
    "written": (WRITTEN, "assume n>0"),
    "no-integer": (WRITTEN, "assume x>0"),
    "division": (MM, "assume M<=100/U"),
    "division-of-some": (MM, "assume U>=0", "assume M%U==0"),
    "division-by-a-sum": (MM, "assume U+3>=1", "assume M<=100/(U+2)"),
    "too-large": (MM, "assume 99999999999*U*4>99999999999"),
    "call": (MM, "assume abs(U)>0"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


def test_the_host_asks() -> None:
    text = c("for (int i = 0; i < n; i++) a[i] = b[i];")
    steps = ("parallelise i", "stripmine i 4 ii", "map ii group.x", "map i thread.x")
    plan = emit.kernel(derived(text, *steps, "assume n%4==0"))
    assert any(condition_text(x.expr) == "n%4==0" for x in plan.conditions)


@pytest.mark.parametrize("seed", range(50))
def test_the_text_is_read_back(seed: int) -> None:
    rng = random.Random(seed)

    def number(depth: int) -> Expr:
        if depth == 0 or rng.random() < 0.2:
            value = Const(rng.randint(-9, 9999)), long_constant(rng.randint(0, 99))
            return rng.choice([rng.choice(value), Var("n"), Var("m"), Var("q.k")])
        op = rng.choice(["+", "-", "*", "/", "%", "min", "max"])
        return Bin(op, number(depth - 1), number(depth - 1))

    def asked(depth: int) -> Expr:
        if depth == 0:
            return Bin(rng.choice(["<", "<=", ">", ">=", "==", "!="]), number(3), number(3))
        return Bin(rng.choice(["&&", "||"]), asked(depth - 1), asked(rng.randrange(depth)))

    e = asked(rng.randrange(4))
    assert condition(condition_text(e)) == e, seed
