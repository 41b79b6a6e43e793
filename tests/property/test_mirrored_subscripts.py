"""Subscripts that are mirrored lie between the two that never fall: by brute force."""

from __future__ import annotations

import random

import pytest

import loopxform as lx
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Bin, Const, Expr, Var
from loopxform.ir.visit import loads, substitute, walk
from loopxform.transforms.overlapped.mirrors import between, without_abs
from loopxform.transforms.overlapped.spans import line

FORMS = (
    "abs(U)",
    "n - 1 - abs(n - 1 - U)",
    "n - 1 - abs(n - 1 - abs(U))",
    "abs(n - 1 - abs(n - 1 - U))",
    "(U < 0 ? -U : U)",
    "(U >= 0 ? U : -1 - U)",
    "(U >= n ? 2 * n - 2 - U : U)",
    "(U > n - 1 ? 2 * n - 1 - U : U)",
    "(U < 0 ? -U : U >= n ? 2 * n - 2 - U : U)",
    "(U >= n ? 2 * n - 2 - U : U < 0 ? -1 - U : U)",
    "(U < 3 ? 7 - U : U)",
    "(abs(U) + 1) / 2",
    "(abs(U) > n - 1 ? n - 1 : abs(U))",
)
NUMBERS = ("(i - A)", "(i + A)", "(2 * i - A)", "((i - A) / 2)")
FALLING = (
    "n - 1 - i",
    "n - 1 - abs(i - 1)",
    "-abs(i - 1)",
    "abs(i - 1) - 2 * i",
    "abs(n - i)",
    "abs(i) * i",
    "(i < 3 ? 2 - i : i)",
)


def subscript(text: str) -> Expr:
    """It, as the analysis reads it."""
    head = "#include <stdlib.h>\nvoid f(int n, const int *a, int *b)"
    source = f"{head}\n{{ for (int i = 0; i < n; i++) b[i] = a[{text}]; }}\n"
    fn = lx.loads(source)["f"].function
    (assign,) = (s for _, s in walk(fn.body) if isinstance(s, Assign))
    (load,) = loads(assign.value)
    return without_abs(load.index[0])


def ends(e: Expr) -> tuple[Expr, Expr]:
    """In the first and in the last iteration."""
    last = Bin("-", Var("n"), Const(1))
    return substitute(e, {"i": Const(0)}), substitute(e, {"i": last})


def test_they_lie_between() -> None:
    rng, found, compared = random.Random(5), 0, 0
    for form in FORMS:
        for number in NUMBERS:
            text = form.replace("U", number.replace("A", str(rng.randint(0, 3))))
            e = subscript(text)
            both = between(e, "i", ends)
            if both is None:
                continue
            found += 1
            for n in range(1, 12):
                at = [{"n": n, "i": i} for i in range(n)]
                if not all(evaluate(a, at[0]) <= evaluate(b, at[0]) for a, b in both.asked):
                    continue
                every = (both.least, e, both.most)
                low, value, high = ([evaluate(x, p) for p in at] for x in every)
                assert all(a <= b <= c for a, b, c in zip(low, value, high)), (text, n)
                assert low == sorted(low), (text, n)
                assert high == sorted(high), (text, n)
                compared += 1
    assert found >= 30
    assert compared >= 250


@pytest.mark.parametrize("text", FALLING)
def test_what_may_fall_is_none(text: str) -> None:
    e = subscript(text)
    both = between(e, "i", ends)
    assert both is None or line(both.least, "i") is None or line(both.most, "i") is None
