"""Conditions and subscripts as formulas, compared with C's own arithmetic at small numbers."""

from __future__ import annotations

import itertools

import pytest
from nests import e, fn

from loopxform.analysis import sets
from loopxform.analysis.cases import with_sign
from loopxform.analysis.domain import names_of
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Constraint, const
from loopxform.ir.nodes import Bin, Const, Expr, Select, Tile, Un, Var
from loopxform.ir.types import INT, UINT, ULONG, Scalar


def c(x: Expr, values: dict[str, int]) -> int:
    match x:
        case Const(v) | Tile(_, v):
            return int(v)
        case Var(name):
            return values[name]
        case Un("-", a):
            return -c(a, values)
        case Un(_, a):
            return int(not c(a, values))
        case Select(p, a, b):
            return c(a if c(p, values) else b, values)
        case Bin("/", a, b):
            p, q = c(a, values), c(b, values)
            return abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        case Bin("%", a, b):
            return c(a, values) - c(b, values) * c(Bin("/", a, b), values)
        case Bin("min" | "max" as op, a, b):
            return (min if op == "min" else max)(c(a, values), c(b, values))
        case Bin(op, a, b):
            python = {"&&": "and", "||": "or"}.get(op, op)
            return int(eval(f"{c(a, values)} {python} {c(b, values)}"))
    raise AssertionError(x)


CONDITIONS = [
    "i < j", "i <= 2*j + 1", "not (i < j)", "i != j", "not (i == 3)", "i + 2 > j and j >= 0",
    "i < 0 or j > 2", "not (i < 0 or j > 2)", "not (i > 0 and j > 0)", "i", "not i",
    "i % 3 == 1", "i // 2 < j", "(i - 4) // 3 == j", "i % 2 != j % 2", "-i % 4 == -1",
    "min(i, j) < 2", "max(i, 2) > j", "i <= min(j, 3)", "not (i >= max(j, 1))",
    "i == min(j, 2)", "i < (j if j > 0 else 1 - j)", "(i < 2 or j < 2) and (i > 0 or j > 0)",
    "i * 3 < j * -2", "i & 1", "(i & 3) == 2", "i >> 1 == j", "i << 2 < j", "i < Ty*Ry - j",
    "i // 3 >= j - 1", "(i - j) // 2 <= i", "j > (i + 1) // 4", "max(0, (i - 3) // 2) <= j",
    "j < (2 - i) // 3", "i // 2 > 1", "-1 >= i // 2", "i // 2 < j // 3",
    "max(i // 2, 1) == min(2, i // 2)", "min(i // 2, j) <= i // 2 - j",
    "not (max(i // 2, 1) > min(i // 2, j))",
    "not (not (i < j))", "i // 2 * 2 == i", "(i + j) % 5 // 2 == 1",
]  # fmt: skip


@pytest.mark.parametrize("text", CONDITIONS)
@pytest.mark.parametrize("positive", [True, False])
def test_conditions_are_exact(text: str, positive: bool) -> None:
    cond = e(text)
    translator = Translator(names_of(fn("i, j")))
    formula = translator.condition(cond, holds=positive)
    assert translator.exact
    found = sets.build(formula, ("i", "j"))
    for i, j in itertools.product(range(-7, 8), repeat=2):
        here = sets.build(
            ((Constraint(True, {"i": 1, "": -i}), Constraint(True, {"j": 1, "": -j})),), ("i", "j")
        )
        assert (bool(c(cond, {"i": i, "j": j})) == positive) == here.is_subset(found), (i, j)


@pytest.mark.parametrize("text", ["i*j < 3", "i < a[j]", "x < y", "i % j == 0", "i < 2.5", "x"])
@pytest.mark.parametrize("positive", [True, False])
def test_what_is_not_affine_may_always_hold(text: str, positive: bool) -> None:
    translator = Translator(names_of(fn("i, j, x:float, y:float, a[]")))
    formula = translator.condition(e(text), holds=positive)
    assert not translator.exact
    if "i*j" not in text and "%" not in text:
        assert formula == ((),)


def test_an_unknown_part_leaves_the_known_one() -> None:
    translator = Translator(names_of(fn("i, x:float")))
    assert translator.condition(e("i < 3 and x > 0")) == ((Constraint(False, {"i": -1, "": 2}),),)
    assert translator.condition(e("i < 3 or x > 0")) == ((),)
    assert translator.condition(e("i < 3 and x > 0"), holds=False) == ((),)
    assert not translator.exact


def test_a_product_of_parameters_is_one_unknown_constant() -> None:
    translator = Translator(names_of(fn("n, m")))
    assert translator.cases(e("n*m + 1")) == (({"`n * m`": 1, "": 1}, ()),) or translator.cases(
        e("n*m + 1")
    ) == (({"`n*m`": 1, "": 1}, ()),)
    assert not translator.exact


@pytest.mark.parametrize(
    ("number", "type", "held"),
    [
        (2, UINT, 2),
        (-3, UINT, 2**32 - 3),
        (2**32 - 3, INT, -3),
        (0, ULONG, 0),
        (2**31, INT, -(2**31)),
    ],
)
def test_numbers_of_the_other_signedness(number: int, type: Scalar, held: int) -> None:
    """One value each: `i / 2` of an unsigned i is divided by a number."""
    assert with_sign(((const(number), ()),), type) == ((const(held), ()),)


def test_operands_of_nested_extrema_are_translated_once() -> None:
    """Each asks for its own three times: twice to compare them, once for the value."""
    x: Expr = e("i // 2")
    for n in range(3):
        x = Bin("max", Bin("min", x, Const(9 - n)), Const(n))
    names = names_of(fn("i"))
    assert Translator(names).cases(x) is not None
    assert names.fresh().endswith(":3"), "i / 2 has two cases, of negative numbers and others"
