"""Values of what was never set.

They may be moved and computed with: a work-item past a bound computes what nobody stores. They may
neither decide anything, nor be a subscript, nor be stored in global memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from loopxform.verify import arith
from loopxform.verify.group.fault import GroupFault


class Unset:
    """What was computed from `origin`, an element or a variable."""

    __slots__ = ("origin",)

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def __repr__(self) -> str:
        return self.origin

    def _same(self, *_: Any) -> Unset:
        return self

    def _decides(self, *_: Any) -> NoReturn:
        raise GroupFault("unset", f"{self.origin} was never set, and decides what is done")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = _same
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _same
    __neg__ = __invert__ = __abs__ = _same
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = _decides
    __eq__ = __ne__ = _decides
    __hash__ = None  # type: ignore[assignment]


def f32(x: Any) -> Any:
    """`x` rounded to float."""
    try:
        return ctypes.c_float(x).value
    except GroupFault:
        if x.__class__ is Unset:
            return x
        raise


def passed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives back an unset argument."""

    def checked(*given: Any) -> Any:
        for x in given:
            if x.__class__ is Unset:
                return x
        return function(*given)

    return checked


@cache
def mathematical(name: str) -> Callable[..., Any]:
    """A function of the C library."""
    return passed(arith.math_function(name))
