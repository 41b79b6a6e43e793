"""The integers that an expression may be, by its types, masks and clamps alone."""

from __future__ import annotations

import pytest
from deriving import c, untiled

from loopxform.ir.nodes import Assign
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk
from loopxform.transforms.overlapped.value_ranges import value_range

INT = (-(2**31), 2**31 - 1)
SHORT = (-(2**15), 2**15 - 1)
UINT = (0, 2**32 - 1)
ARGUMENTS = (
    "int n, unsigned m, const unsigned char u[9], const short s[9], const float x[9], long b[9]"
)
CASES: dict[str, tuple[int, int] | None] = {
    "7": (7, 7),
    "u[1]": (0, 255),
    "s[1]": SHORT,
    "n": INT,
    "m": UINT,
    "x[1]": None,
    "u[1] & 7": (0, 7),
    "(n & 7) + 1": (1, 8),
    "u[1] - u[2]": (-255, 255),
    "u[1] >> 4": (0, 15),
    "s[1] >> n": INT,
    "s[1] < 0 ? 0 : s[1] > 1023 ? 1023 : s[1]": (0, 1023),
    "s[1] > 1023 ? 1023 : s[1] >= 0 ? s[1] : 0": (0, 1023),
    "0 <= s[1] ? (1023 < s[1] ? 1023 : s[1]) : 0": (0, 1023),
    "n < 4 ? 4 : n": (4, 2**31 - 1),
    "m > 9 ? 9 : m": (0, 9),
    # another element, another expression, and a sum that may overflow
    "s[1] < 0 ? 0 : s[2] > 1023 ? 1023 : s[1]": (0, 2**15 - 1),
    "s[1] + 1 > 1024 ? 1023 : s[1]": SHORT,
    "n + 1 > 1024 ? 1023 : n": INT,
    "n + 1": INT,
    "n - u[1]": INT,
    "u[1] - 1u": UINT,
    # compared without a sign
    "n < 8u ? 0 : 8": (0, 8),
    "(n < 8u ? n : 7) & 15": (0, 15),
    "n < 8u ? n : 7": INT,
    "n < 8u ? n : 7u": UINT,
    "x[1] < 0 ? 0 : 5": (0, 5),
    "(unsigned char) n": (0, 255),
    "(int) x[1]": INT,
    "(short) (u[1] + 1)": (1, 256),
}


@pytest.mark.parametrize("text", CASES)
def test_range(text: str) -> None:
    fn = untiled(c(f"b[0] = ({text});", ARGUMENTS))
    (value,) = (s.value for _, s in walk(fn.body) if isinstance(s, Assign))
    assert value_range(value, symbols(fn)) == CASES[text]
