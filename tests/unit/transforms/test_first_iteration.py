"""Conditions that tell the first iteration, against all iterations."""

from __future__ import annotations

import operator
from itertools import product

from loopxform.ir.nodes import Bin, Const, For, Un, Var
from loopxform.ir.types import INT
from loopxform.transforms.edges.first_iteration import is_first

COMPARE = {
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt},
    **{">": operator.gt, "<=": operator.le, ">=": operator.ge},
}
TOLD = {(True, False, False, False): True, (False, True, True, True): False}

TYPES = {"i": INT, "n": INT}


def test_comparisons_with_numbers() -> None:
    found = 0
    for step, lo, op, end in product((-3, -1, 1, 2), (-2, 0, 3), COMPARE, range(-11, 12)):
        loop = For("i", Const(lo), Const(lo + 4 * step), Const(step), ())
        holds = tuple(COMPARE[op](lo + step * k, end) for k in range(4))
        said = is_first(loop, Bin(op, Var("i"), Const(end)), TYPES)
        assert said in (None, TOLD.get(holds)), (step, lo, op, end)
        turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
        assert said == is_first(loop, Bin(turned, Const(end), Var("i")), TYPES)
        other = is_first(loop, Un("!", Bin(op, Var("i"), Const(end))), TYPES)
        assert other == (None if said is None else not said)
        found += said is not None
    assert found >= 100


def test_the_counter_itself() -> None:
    from_zero = For("i", Const(0), Var("n"), Const(1), ())
    assert is_first(from_zero, Var("i"), TYPES) is False
    assert is_first(For("i", Const(1), Var("n"), Const(1), ()), Var("i"), TYPES) is None
