"""C literals: value and type."""

from __future__ import annotations

import math
import struct

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.ir.nodes import Cast, Const, Expr
from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, UINT, ULLONG, ULONG, Scalar

_ESCAPES = {
    "n": 10,
    "t": 9,
    "r": 13,
    "0": 0,
    "a": 7,
    "b": 8,
    "f": 12,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
}


def literal(node: c_ast.Constant) -> Const:
    """The constant a literal stands for, with its C type; NotModelled for strings and the like."""
    text: str = node.value
    if node.type == "char":
        value = _character(text)
        if value is not None:
            return Const(value, INT, text)
    elif node.type in ("float", "double"):
        return _real(text, FLOAT if node.type == "float" else DOUBLE)
    elif node.type.endswith("int"):
        found = _integer(text)
        if found is not None:
            return found
    raise NotModelled("LX015", f"the literal {text} has a type that is not modelled", "", node)


def special(name: str) -> Expr | None:
    """The value of the builtins that INFINITY, NAN and HUGE_VAL stand for."""
    kind, inf = _SPECIAL.get(name, (None, False))
    if kind is None:
        return None
    if inf:
        return Const(float("inf"), kind, "INFINITY" if kind is FLOAT else "HUGE_VAL")
    nan = Const(float("nan"), FLOAT, "NAN")
    return nan if kind is FLOAT else Cast(DOUBLE, nan)


_SPECIAL = {
    **{f"__builtin_{name}": (DOUBLE, True) for name in ("inf", "huge_val")},
    **{f"__builtin_{name}": (FLOAT, True) for name in ("inff", "huge_valf")},
    "__builtin_nan": (DOUBLE, False),
    "__builtin_nanf": (FLOAT, False),
}


def _character(text: str) -> int | None:
    inner = text[1:-1]
    if not text.startswith("'"):
        return None
    if len(inner) == 1:
        return ord(inner) if ord(inner) < 128 else None
    if inner[:1] != "\\":
        return None
    if inner[1:] in _ESCAPES:
        return _ESCAPES[inner[1:]]
    try:
        value = int(inner[2:], 16) if inner[1] == "x" else int(inner[1:], 8)
    except ValueError:
        return None
    return None if value > 255 else value - 256 * (value > 127)


def _real(text: str, t: Scalar) -> Const:
    digits = text.rstrip("fF") if t is FLOAT else text
    try:
        value = float.fromhex(digits) if "x" in text.lower() else float(digits)
    except OverflowError:  # as decimal digits have it
        value = math.inf
    if t is FLOAT:
        value = _single(value)
    return Const(value, t, text)


def _single(value: float) -> float:
    """`value` rounded to a float."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf")


def _integer(text: str) -> Const | None:
    """The type is the first that holds the value (C11 6.4.4.1)."""
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    low = digits.lower()
    octal = len(low) > 1 and low[0] == "0" and low[1] not in "xb"
    try:
        value = int(low, 8) if octal else int(low, 0)
    except ValueError:
        return None
    for t in _candidates(suffix, decimal=low[0] != "0" or low == "0"):
        bits = 8 * t.bytes - (0 if t.is_unsigned else 1)
        if value < 1 << bits:
            plain = t is INT and low == str(value)
            return Const(value, t, "" if plain else _spelling(text, value, t))
    return None


def _spelling(text: str, value: int, t: Scalar) -> str:
    """The user's text; binary literals, which OpenCL C lacks, in decimal."""
    if not text.lower().startswith("0b"):
        return text
    return f"{value}{'u' if t.is_unsigned else ''}{'L' if t.bytes == 8 else ''}"


def _candidates(suffix: str, *, decimal: bool) -> tuple[Scalar, ...]:
    unsigned = "u" in suffix
    wide: dict[int, tuple[tuple[Scalar, ...], tuple[Scalar, ...]]] = {
        0: ((INT, LONG), (UINT, ULONG)),
        1: ((LONG,), (ULONG,)),
        2: ((LLONG,), (ULLONG,)),
    }
    signed_types, unsigned_types = wide[min(suffix.count("l"), 2)]
    if unsigned:
        return unsigned_types
    if decimal:
        return signed_types
    return tuple(t for pair in zip(signed_types, unsigned_types) for t in pair)
