"""Literals as C or OpenCL C text, and the names of scalar types."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from loopxform.ir.nodes import Const
from loopxform.ir.types import BOOL, DOUBLE, FLOAT, HALF, INT, Scalar

Language: TypeAlias = Literal["c", "opencl"]

Text: TypeAlias = tuple[str, int]
"""A text, and how strongly it binds: as `PRIMARY`, `UNARY`, or an operator of C."""

PRIMARY, UNARY = 15, 14


def type_name(t: Scalar, language: Language) -> str:
    """The spelling of a type."""
    return t.c if language == "c" else t.cl


_SUFFIX = {"unsigned int": "u", "long": "L", "unsigned long": "uL", "float": "f"}
_SUFFIX |= {"long long": "LL", "unsigned long long": "uLL"}


def const(e: Const, language: Language) -> Text:
    """A literal with its C type: the user's spelling, or one made from the value."""
    if e.text:
        text = e.text
        if language == "opencl" and e.type.is_integer and not text.startswith(("'", "L'")):
            stem = text.rstrip("uUlL")
            text = stem + text[len(stem) :].upper().replace("LL", "L")
        return text, UNARY if text.startswith("-") else PRIMARY
    if e.type == HALF and language == "c":
        return f"({HALF.c}){floating(float(e.value), FLOAT)[0]}", UNARY
    if e.type.is_float:
        return floating(float(e.value), e.type)
    return _integer(int(e.value), e.type, language)


def floating(value: float, t: Scalar) -> Text:
    """A number of type `t`; infinities and NaN are quotients by zero."""
    suffix = "" if t == DOUBLE else "f"
    if math.isnan(value):
        return f"(0.0{suffix} / 0.0{suffix})", PRIMARY
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}1.0{suffix} / 0.0{suffix})", PRIMARY
    text = repr(value) + suffix
    return text, UNARY if text.startswith("-") else PRIMARY


def _integer(value: int, t: Scalar, language: Language) -> Text:
    if t.bytes < 4 or t == BOOL:
        inner, _ = _integer(value, INT, language)
        return f"({type_name(t, language)}){inner if value >= 0 else f'({inner})'}", UNARY
    suffix = _SUFFIX.get(t.c, "")
    if language == "opencl":
        suffix = suffix.replace("LL", "L")
    if value == -(1 << (8 * t.bytes - 1)) and not t.is_unsigned:
        return f"({value + 1}{suffix} - 1)", PRIMARY
    return f"{value}{suffix}", PRIMARY if value >= 0 else UNARY
