"""Bits of integer expressions: operands of which the other operators of bits take none."""

from __future__ import annotations

import pytest

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Var


@pytest.mark.parametrize(
    ("op", "right", "value"),
    [("&", -4, 20), ("&", 1 << 62, 0), ("|", -4, -1), ("^", -1, -24), (">>", 2, 5), ("<<", 3, 184)],
)
def test_bits(op: str, right: int, value: int) -> None:
    assert evaluate(Bin(op, Var("n"), Const(right)), {"n": 23}) == value
