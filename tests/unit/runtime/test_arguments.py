"""Numbers from Python, by the rules of the C prototype: what does not fit is refused, and nothing
is cut short."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from loopxform.errors import ArgumentError, LoopxformError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.runtime.arguments import bind, number

NAN, INF = float("nan"), float("inf")
FITS: list[tuple[str, Any, Any]] = [
    ("int32", 7, 7),
    ("int32", -(2**31), -(2**31)),
    ("int32", np.int64(7), 7),
    ("int32", np.uint8(7), 7),
    ("int32", np.array(7), 7),
    ("uint32", 2**32 - 1, 2**32 - 1),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("bool", np.bool_(True), True),
    ("bool", 0, False),
    ("float32", 3, 3.0),
    ("float32", np.float64(0.5), 0.5),
    ("float32", 0.1, 0.1),
    ("float32", INF, INF),
    ("float64", np.int8(-1), -1.0),
]
DOES_NOT: list[tuple[str, Any]] = [
    *(
        ("int32", x)
        for x in (None, NAN, 2**40, -(2**31) - 1, 12.9, 12.0, "13", b"1", True, 1j, [1])
    ),
    *(("int32", x) for x in (np.bool_(True), np.float32(2), np.array([1]), np.int64(2**31))),
    *(("uint32", x) for x in (-1, 2**32, np.int8(-1))),
    *(("int8", x) for x in (128, -129)),
    *(("bool", x) for x in (2, -1, 0.5, "", None)),
    *(("float32", x) for x in (None, "1", True, 1j, [1.0], 1e300, 10**400, 2**200)),
    *(("float64", x) for x in ("nan", 10**400)),
]


@pytest.mark.parametrize(("dtype", "value", "expected"), FITS)
def test_numbers_that_fit(dtype: str, value: Any, expected: Any) -> None:
    found = number("n", dtype, value)
    assert found == expected
    assert type(found) is type(expected)


def test_what_is_not_a_number_is_one_for_c() -> None:
    found = number("x", "float32", np.float32(NAN))
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(("dtype", "value"), DOES_NOT)
def test_numbers_that_do_not_fit(dtype: str, value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^n must be ") as e:
        number("n", dtype, value)
    assert isinstance(e.value, LoopxformError)
    assert isinstance(e.value, TypeError)


def test_what_the_message_says() -> None:
    with pytest.raises(ArgumentError) as e:
        number("n", "uint32", -1, "unsigned int")
    assert e.value.message == "n must be from 0 to 4294967295 (unsigned int), not -1 (int)"
    with pytest.raises(ArgumentError) as e:
        number("n", "int32", "13")
    assert e.value.message == "n must be a whole number, not '13' (str)"


@pytest.fixture
def fn() -> Function:
    text = """extern float scale; extern int unused;
void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = scale; }"""
    return parse_file("f.c", text=text).unit.functions[0]


def test_in_order_and_by_name(fn: Function) -> None:
    expected = {"n": 1, "a": 2, "scale": 3}
    assert bind(fn, ["scale"], (1, 2), {"scale": 3}) == expected
    assert bind(fn, ["scale"], (1,), {"scale": 3, "a": 2}) == expected


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((1,), {"scale": 3}, "f is called without its argument 'a'"),
        ((1, 2), {}, "f is called without its global variable 'scale'"),
        ((1, 2), {"n": 1, "scale": 3}, "f is given 'n' twice, in order and by name"),
        ((1, 2, 3), {"scale": 3}, "f takes 2 arguments, 3 are given"),
        ((1, 2), {"scale": 3, "m": 4}, "f has no argument 'm'"),
    ],
)
def test_names_that_do_not_fit(
    fn: Function, args: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError) as e:
        bind(fn, ["scale"], args, named)
    assert e.value.message == message
    assert e.value.help == "f(n, a, scale=...)"
