"""Numbers without their lowest bits, as multiples: of the type that C gives them."""

from __future__ import annotations

import pytest

from loopxform.ir.nodes import Bin, Const, Expr, Un, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.quotients import in_quotients
from loopxform.ir.types import INT, LONG, UINT, Scalar
from loopxform.ir.typing import type_of

N = Var("n")

MASKED: list[tuple[Expr, Scalar, str, Scalar]] = [
    (Un("~", Const(3)), INT, "(n >> 2) * 4", INT),
    (Const(-4), INT, "(n >> 2) * 4", INT),
    (Un("-", Const(8)), LONG, "(n >> 3) * 8", LONG),
    (Un("~", Const(3, LONG)), INT, "(n >> 2) * 4", LONG),
    (Const(-4, LONG), INT, "(n >> 2) * 4", LONG),
    (Un("~", Const(3)), UINT, "(n >> 2) * 4", UINT),
    # the bits of a number that is wider than n, or has no sign
    (Un("~", Const(3, UINT)), LONG, "n & ~3", LONG),
    (Un("-", Const(1 << 40, LONG)), INT, "n & -1099511627776", LONG),
]


@pytest.mark.parametrize(("mask", "n", "expected", "result"), MASKED)
def test_masks(mask: Expr, n: Scalar, expected: str, result: Scalar) -> None:
    e = in_quotients(Bin("&", N, mask))
    assert (expr_text(e), type_of(e, {"n": n})) == (expected, result)
