"""What the interpreter refuses, where it says so, and how it shows illegal parallelism."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from programs import ONE, ZERO, Tiled, b, copied, forall, loop, mm, mm_args

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Return,
    Slice,
    Stmt,
    Var,
)
from loopxform.ir.types import FLOAT, INT, UCHAR, UINT
from loopxform.ir.visit import map_body
from loopxform.source import Loc, Origin
from loopxform.verify import interp
from loopxform.verify.interp import InterpError

VI, VN = Var("i"), Var("n")
PLACE = Origin(Loc("f.c", 7, 5))
ARRAY = Param("A", INT, (VN,), array=True)


def function(*body: Stmt, params: tuple[Param, ...] = (Param("n", INT), ARRAY)) -> Function:
    return Function("f", params, body)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_an_access_outside_of_an_array_names_the_place() -> None:
    body = Assign(Load("A", (b(VI, "+", ONE),)), VI, origin=PLACE)
    fn = function(loop("i", ZERO, VN, body))
    with pytest.raises(InterpError, match=r"A\[3\] is outside of A\[3\]") as e:
        interp.run(fn, {"n": 3, "A": ints(0, 0, 0)})
    assert str(e.value.loc) == "f.c:7:5"
    assert e.value.status == 1


def test_rows_do_not_run_into_each_other() -> None:
    fn = function(
        Assign(Load("A", (ZERO, VN)), ONE),
        params=(Param("n", INT), Param("A", INT, (VN, VN), array=True)),
    )
    with pytest.raises(InterpError, match=r"A\[0\]\[2\] is outside of A\[2\]\[2\]"):
        interp.run(fn, {"n": 2, "A": np.zeros((2, 2), np.int32)})


def test_flat_arrays_end_where_their_memory_ends() -> None:
    flat = Param("A", INT, (None, VN), flat=True, array=True)
    fn = function(Assign(Load("A", (Const(1), Const(2))), ONE), params=(Param("n", INT), flat))
    memory = np.zeros(6, np.int32)
    interp.run(fn, {"n": 3, "A": memory})
    assert memory.tolist() == [0, 0, 0, 0, 0, 1]
    with pytest.raises(InterpError, match="outside"):
        interp.run(fn, {"n": 3, "A": np.zeros(5, np.int32)})


def test_unset_scalars_and_elements_cannot_be_read() -> None:
    scalar = function(Decl("x", INT), Assign(Load("A", (ZERO,)), Var("x"), origin=PLACE))
    with pytest.raises(InterpError, match="x is read before it is set") as e:
        interp.run(scalar, {"n": 1, "A": ints(0)})
    assert e.value.loc == PLACE.loc
    element = function(Decl("t", INT, (VN,)), Assign(Load("A", (ZERO,)), Load("t", (ZERO,))))
    with pytest.raises(InterpError, match=r"t\[0\] is read before it is set"):
        interp.run(element, {"n": 1, "A": ints(0)})


def test_storage_declared_in_a_loop_starts_unset_in_every_iteration() -> None:
    x = Var("x")
    first = If(b(VI, "==", ZERO), (Assign(x, ONE),))
    fn = function(loop("i", ZERO, VN, Decl("x", INT), first, Assign(Load("A", (VI,)), x)))
    interp.run(fn, {"n": 1, "A": ints(0)})
    with pytest.raises(InterpError, match="x is read before"):
        interp.run(fn, {"n": 2, "A": ints(0, 0)})


def test_elements_beyond_the_limit_are_poison_until_clamped() -> None:
    def program(clamp: bool) -> Function:
        cut = Slice(ZERO, Const(4), VN, clamp)
        read = Assign(Load("A", (ZERO,)), Load("t", (Const(3),)), origin=PLACE)
        return function(Decl("t", INT, (Const(4),)), Copy("t", "A", (cut,), True), read)

    args = {"n": 3, "A": ints(5, 6, 7)}
    with pytest.raises(InterpError, match=r"t\[3\] is read before it is set") as e:
        interp.run(program(False), args)
    assert e.value.loc == PLACE.loc
    interp.run(program(True), args)
    assert args["A"].tolist() == [7, 6, 7]


def test_poison_may_be_copied_but_not_used() -> None:
    cut = Slice(ZERO, Const(4), VN)
    declared = (Decl("t", INT, (Const(4),)), Decl("r", FLOAT, (Const(2),)))
    copies = (
        Copy("t", "A", (cut,), True),
        Copy("r", "t", (Slice(Const(2), Const(2)),), False),
    )
    fine = function(*declared, *copies, Assign(Load("A", (ZERO,)), Load("r", (ZERO,))))
    args = {"n": 3, "A": ints(5, 6, 7)}
    interp.run(fine, args)
    assert args["A"].tolist() == [7, 6, 7]
    wrong = function(*declared, *copies, Assign(Load("A", (ZERO,)), Load("r", (ONE,))))
    with pytest.raises(InterpError, match=r"r\[1\]"):
        interp.run(wrong, args)


def test_a_copy_that_reads_outside_is_caught() -> None:
    cut = Slice(ONE, Const(4))
    fn = function(Decl("t", INT, (Const(4),)), Copy("t", "A", (cut,), True, origin=PLACE))
    with pytest.raises(InterpError, match=r"A\[4\] is outside") as e:
        interp.run(fn, {"n": 4, "A": ints(1, 2, 3, 4)})
    assert e.value.loc == PLACE.loc


def test_a_tile_without_its_guard_is_caught() -> None:
    """Listing 10 with the test of kk + k dropped reads elements beyond U."""
    fn = Tiled().listing10()
    interp.run(fn, mm_args(8, 7, 9))

    def drop(s: Stmt) -> tuple[Stmt, ...]:
        guard = isinstance(s, If) and "U" in repr(s.cond)
        return s.then if guard and isinstance(s, If) else (s,)

    broken = replace(fn, body=map_body(fn.body, drop))
    interp.run(broken, mm_args(8, 10, 9))
    with pytest.raises(InterpError, match=r"A_reg\[0\]|B_reg\[0\]"):
        interp.run(broken, mm_args(8, 7, 9))


def test_a_shuffled_order_shows_that_a_loop_is_not_parallel() -> None:
    step = Assign(Load("A", (VI,)), b(Load("A", (b(VI, "-", ONE),)), "+", ONE))
    fn = function(forall("i", ONE, VN, step))
    args = {"n": 9, "A": np.zeros(9, np.int32)}
    in_order, shuffled, again = copied(args), copied(args), copied(args)
    interp.run(fn, in_order)
    interp.run(fn, shuffled, order_seed=1)
    interp.run(fn, again, order_seed=1)
    assert in_order["A"].tolist() == list(range(9))
    assert shuffled["A"].tolist() != in_order["A"].tolist()
    assert shuffled["A"].tolist() == again["A"].tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b(ONE, "/", b(VN, "-", VN)), "divided by zero"),
        (b(ONE, "%", b(VN, "-", VN)), "divided by zero"),
        (b(Const(-(2**31)), "/", b(VN, "-", Const(3))), "overflows"),
        (b(ONE, "<<", b(VN, "+", Const(30))), "shifted by 32"),
    ],
)
def test_undefined_operations(value: Bin, message: str) -> None:
    fn = Function("f", (Param("n", INT),), (Return(value, origin=PLACE),), returns=INT)
    with pytest.raises(InterpError, match=message) as e:
        interp.run(fn, {"n": 2})
    assert e.value.loc == PLACE.loc


def test_loops_that_do_not_end() -> None:
    body = Assign(Load("A", (ZERO,)), ONE)
    stuck = function(For("i", ZERO, VN, b(VN, "-", Const(3)), (body,)))
    with pytest.raises(InterpError, match="step 0 does not end"):
        interp.run(stuck, {"n": 3, "A": ints(0, 0, 0)})
    bytes_only = function(loop("i", ZERO, Const(256), body, type=UCHAR))
    with pytest.raises(InterpError, match="overflows after 255"):
        interp.run(bytes_only, {"n": 1, "A": ints(0)})
    unsigned = function(For("i", Const(5, UINT), Const(0, UINT), Const(-2), (body,), type=UINT))
    with pytest.raises(InterpError, match="overflows after 1"):
        interp.run(unsigned, {"n": 1, "A": ints(0)})


def test_a_bound_that_changes_in_the_loop_is_read_again() -> None:
    shrink = Assign(Var("m"), ONE, "-")
    count = Assign(Load("A", (ZERO,)), ONE, "+")
    body = (Decl("m", INT), Assign(Var("m"), VN), loop("i", ZERO, Var("m"), shrink, count))
    args = {"n": 10, "A": np.zeros(10, np.int32)}
    interp.run(function(*body), args)
    assert args["A"][0] == 5


def test_the_final_value_of_a_loop_variable() -> None:
    search = For("i", Const(2), VN, Const(4), (Assign(Load("A", (ZERO,)), VI),), live_out=True)
    fn = replace(function(search, Return(VI)), returns=INT)
    assert interp.run(fn, {"n": 9, "A": np.zeros(9, np.int32)}) == 10
    assert interp.run(fn, {"n": 1, "A": np.zeros(1, np.int32)}) == 2


def test_the_same_array_twice_is_one_array() -> None:
    params = (Param("n", INT), ARRAY, Param("B", INT, (VN,), array=True))
    step = Assign(Load("A", (VI,)), b(Load("B", (b(VI, "-", ONE),)), "+", ONE))
    fn = function(loop("i", ONE, VN, step), params=params)
    shared = np.zeros(5, np.int32)
    interp.run(fn, {"n": 5, "A": shared, "B": shared})
    assert shared.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InterpError, match="partly overlaps"):
        interp.run(fn, {"n": 4, "A": shared[:4], "B": shared[1:]})


def test_arguments_must_fit() -> None:
    args = mm_args(2, 3, 4)
    for name, value, message in [
        ("A", np.zeros((2, 3)), "float32"),
        ("A", np.zeros((3, 3), np.float32), "shape"),
        ("M", 2.5, "not a value of int M"),
    ]:
        with pytest.raises(InterpError, match=message):
            interp.run(mm(), {**args, name: value})
    with pytest.raises(InterpError, match="no argument is given for A"):
        interp.run(mm(), {k: v for k, v in args.items() if k != "A"})


def test_statements_that_are_not_modelled_do_not_run() -> None:
    with pytest.raises(InterpError, match="goto") as e:
        interp.run(Function("f", (), (Opaque("LX010", "goto", origin=PLACE),)), {})
    assert e.value.loc == PLACE.loc


def test_python_keywords_are_names_like_others() -> None:
    body = (Decl("lambda", INT), Assign(Var("lambda"), VN), Return(Var("lambda")))
    fn = Function("in", (Param("n", INT),), body, returns=INT)
    assert interp.run(fn, {"n": 4}) == 4


def test_only_numpy_is_needed() -> None:
    code = "import sys, loopxform.verify.interp; assert 'pyopencl' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
