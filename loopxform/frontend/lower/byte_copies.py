"""Copies of the bytes of numbers into numbers of another type, as the values that they have.

    memcpy(&w, b, 4)    of an unsigned   ->  w = b[0] | b[1] << 8 | b[2] << 16 | b[3] << 24;
    memcpy(b, &w, 2)    of a short       ->  b[0] = w; b[1] = w >> 8;
    memcpy(&w, &x, 4)    of a float      ->  w = bits of x;

The first byte is the lowest one: on other hosts such a copy is left alone.
"""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any, TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.elements import Place
from loopxform.frontend.names.library import bits_function
from loopxform.frontend.syntax.tree import clone
from loopxform.ir.types import UINT, ULONG, Scalar

Pair: TypeAlias = tuple[c_ast.Node, c_ast.Node]
"""A target and its value."""


def is_readable(target: Scalar, source: Scalar) -> bool:
    """Whether bytes of the one type are values of the other: the numbers are as large, or those of
    one type are bytes."""
    sizes = {target.bytes, source.bytes}
    plain = all(t.kind in ("int", "uint") or _is_real(t) for t in (target, source))
    return plain and (len(sizes) == 1 or (1 in sizes and sys.byteorder == "little"))


def copied(target: Place, source: Place, index: c_ast.Node) -> list[Pair]:
    """The assignments that copy the bytes of the element `index` of the larger numbers."""
    to, at = target.type.base, source.type.base
    assert to is not None
    assert at is not None
    if to.bytes == at.bytes:
        return [(target.at(index), from_bits(bits(source.at(index), at), to))]
    wide = max(to, at, key=lambda t: t.bytes)
    places = [_byte(n, wide.bytes, index) for n in range(wide.bytes)]
    unsigned = build.integer(index, unsigned_of(wide).c)
    if to.bytes == 1:
        value = bits(source.at(index), at)
        parts = [_shifted(">>", value, n) for n in range(wide.bytes)]
        return [(target.at(p), from_bits(v, to)) for p, v in zip(places, parts)]
    char = build.integer(index, "unsigned char")
    bytes = [build.cast_to(unsigned, build.cast_to(char, source.at(p))) for p in places]
    shifted = [_shifted("<<", b, n) for n, b in enumerate(bytes)]
    whole = reduce(lambda a, b: build.binary("|", a, b), shifted)
    return [(target.at(index), from_bits(whole, to))]


def _is_real(t: Scalar) -> bool:
    return t.is_float and t.bytes in (4, 8)


def unsigned_of(t: Scalar) -> Scalar:
    """The type of the bits of numbers."""
    return ULONG if t.bytes == 8 else UINT


def bits(value: c_ast.Node, t: Scalar) -> c_ast.Node:
    """The number that the bytes of `value` are."""
    if t.is_float:
        return _call(bits_function(t), value)
    return build.cast_to(build.integer(value, unsigned_of(t).c), value)


def from_bits(value: c_ast.Node, t: Scalar) -> c_ast.Node:
    """The number of which `value` are the bytes."""
    if t.is_float:
        return _call(bits_function(t, back=True), value)
    return build.cast_to(build.integer(value, t.c), value)


def _call(name: str, value: c_ast.Node) -> c_ast.Node:
    make = cast(Any, c_ast)
    given = make.ExprList([value], coord=value.coord)
    return cast(c_ast.Node, make.FuncCall(build.name(name, value), given, coord=value.coord))


def _byte(n: int, size: int, index: c_ast.Node) -> c_ast.Node:
    """Where byte `n` of a number of `size` bytes is."""
    here = build.number(n, index)
    if isinstance(index, c_ast.Constant) and index.value == "0":
        return here
    first = build.binary("*", build.number(size, index), clone(index))
    return build.binary("+", first, here) if n else first


def _shifted(op: str, value: c_ast.Node, bytes: int) -> c_ast.Node:
    if not bytes:
        return clone(value)
    return build.binary(op, clone(value), build.number(8 * bytes, value))
