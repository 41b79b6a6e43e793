"""Random arguments, and differences that are found and explained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs import ONE, copied, mm

from loopxform.errors import InputError, MismatchError
from loopxform.ir.nodes import Assign, Bin, Const, Expr, Function, Load, Param, Var
from loopxform.ir.types import BOOL, DOUBLE, FLOAT, INT, UCHAR
from loopxform.ir.visit import map_exprs
from loopxform.verify import interp
from loopxform.verify.compare import compare, require_equal
from loopxform.verify.inputs import make_inputs

SIZES = {"M": 5, "U": 6, "N": 7}


def test_a_planted_mistake_is_found() -> None:
    fn = mm()

    def plant(e: Expr) -> Expr:  # A[i][k] becomes A[i][0]
        return (
            replace(e, index=(e.index[0], Const(0)))
            if isinstance(e, Load) and e.array == "A"
            else e
        )

    wrong = replace(fn, body=map_exprs(fn.body, plant))
    args = make_inputs(fn, SIZES, seed=3)
    expected, actual = copied(args), copied(args)
    interp.run(fn, expected)
    interp.run(wrong, actual)
    (found,) = compare(expected, actual)
    assert found.name == "C"
    assert found.index == (0, 0)
    assert found.count == found.total == 35
    assert found.expected == expected["C"][0, 0]
    with pytest.raises(MismatchError, match=r"C\[0\]\[0\] is .* 35 of 35 elements differ") as e:
        require_equal(expected, actual)
    assert e.value.status == 1


def test_one_element_of_many() -> None:
    want = np.arange(12.0).reshape(3, 4)
    have = want.copy()
    have[1, 2] = 6.5
    (found,) = compare({"A": want, "n": 3}, {"A": have, "n": 3})
    assert (found.index, found.expected, found.actual) == ((1, 2), 6.0, 6.5)
    assert (found.count, found.max_abs) == (1, 0.5)
    assert found.max_rel == pytest.approx(0.5 / 6)


def test_nan_zero_and_infinity() -> None:
    want = np.array([np.nan, 0.0, np.inf, 1.0])
    assert compare({"x": want}, {"x": np.array([np.nan, -0.0, np.inf, 1.0])}) == ()
    (found,) = compare({"x": want}, {"x": np.array([1.0, 0.0, -np.inf, 1.0])}, rtol=0.5)
    assert (found.index, found.count, found.max_abs) == ((0,), 2, np.inf)


def test_a_tolerance() -> None:
    want, have = np.array([100.0, 0.0]), np.array([100.1, 0.0])
    assert compare({"x": want}, {"x": have}, rtol=2e-3) == ()
    assert compare({"x": want}, {"x": have}, atol=0.2) == ()
    (found,) = compare({"x": want}, {"x": have}, rtol=1e-4)
    assert found.count == 1


def test_wide_integers_are_compared_exactly() -> None:
    want = np.array([2**63 - 1], np.int64)
    (found,) = compare({"x": want}, {"x": want - 1})
    assert found.max_abs == 1
    (scalar,) = compare({"s": 3}, {"s": 4})
    assert str(scalar).startswith("s is 4, expected 3; 1 of 1")


def test_inputs_depend_on_the_seed_alone() -> None:
    one, two, other = (make_inputs(mm(), SIZES, s) for s in (1, 1, 2))
    assert compare(one, two) == ()
    assert {m.name for m in compare(one, other)} == {"A", "B", "C"}
    assert one["A"].shape == (5, 6)
    assert 0.5 <= one["A"].min() < one["A"].max() < 1.5
    signed = make_inputs(mm(), SIZES, 1, signed=True)
    assert (signed["A"] < 0).any()


def test_every_type_and_form_of_argument() -> None:
    n = Var("n")
    params = (
        Param("n", INT),
        Param("alpha", DOUBLE),
        Param("mask", BOOL, (n,), array=True),
        Param("image", UCHAR, (None, n), flat=True, array=True),
        Param("x", INT, (Bin("+", n, Const(2)),), array=True),
        Param("pick", INT, (n,), array=True),
    )
    gather = Assign(Load("x", (Load("pick", (Const(0),)),)), ONE)
    scale = Param("scale", FLOAT, is_global=True)
    fn = Function("f", params, (gather,), globals=(scale,))
    args = make_inputs(fn, {"n": 4}, 5, shapes={"image": 3})
    assert args["image"].shape == (3, 4)
    assert args["image"].dtype == np.uint8
    assert args["x"].shape == (6,)
    assert 0 not in args["x"]
    assert set(args["mask"].tolist()) <= {True, False}
    assert 0 <= args["pick"].min() <= args["pick"].max() < 6
    assert args["scale"].shape == ()
    assert isinstance(args["alpha"], float)
    interp.run(fn, args)
    with pytest.raises(InputError, match="how many rows"):
        make_inputs(fn, {"n": 4}, 5)
    with pytest.raises(InputError, match="no value is given for int n"):
        make_inputs(fn, {}, 5)
