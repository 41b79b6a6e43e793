"""Python text of values of OpenCL C, and the conversions between their types."""

from __future__ import annotations

from loopxform.ir.types import BOOL, DOUBLE, FLOAT, HALF, Scalar, promote
from loopxform.records import record
from loopxform.verify.group.types import Type, Vector


@record
class Operand:
    """The text of a value. `ranged`: it is a value of its type, else a sum or product that may
    overflow. `truth`: it is a Python bool."""

    text: str
    type: Scalar | Vector
    ranged: bool = True
    truth: bool = False


@record
class Location:
    """Elements in memory: the Python variable of the array, and the text of the number of the first
    cell. `cell` is the type of what is in a cell."""

    array: str
    at: str
    type: Type
    cell: Type


def settled(x: Operand) -> Operand:
    """A value of its type: signed arithmetic that overflows has none."""
    if x.ranged or not isinstance(x.type, Scalar):
        return x
    return Operand(f"in_range({x.text}, {x.type.least}, {x.type.most})", x.type)


def number(x: Operand) -> Scalar:
    assert isinstance(x.type, Scalar)
    return x.type


def converted(x: Operand, to: Scalar | Vector) -> Operand:
    """A value as C converts it."""
    if x.type == to or isinstance(to, Vector) or isinstance(x.type, Vector):
        return settled(x)
    own = x.type
    if own.numpy == to.numpy:
        return Operand(settled(x).text, to)
    x = settled(x)
    if to.is_float:
        return Operand(_floating(x, to), to)
    if own.is_float:
        return Operand(f"truncate({x.text}, {to.least}, {to.most})", to)
    if to == BOOL:
        return Operand(f"int({x.text} != 0)", to)
    if x.truth or (to.least <= own.least and own.most <= to.most):
        return Operand(x.text, to)
    return Operand(wrapped(x.text, to), to)


def wrapped(text: str, to: Scalar) -> str:
    """An integer modulo 2^n."""
    mask = (1 << 8 * to.bytes) - 1
    if to.is_unsigned:
        return f"({text} & {mask})"
    half = 1 << (8 * to.bytes - 1)
    return f"((({text}) + {half} & {mask}) - {half})"


def _floating(x: Operand, to: Scalar) -> str:
    own = number(x)
    if own.is_float:
        return f"f32({x.text})" if to == FLOAT and own == DOUBLE else x.text
    if to in (FLOAT, HALF):
        return f"int_to_f32({x.text})" if own.bytes > 4 else f"f32({x.text})"
    return f"double({x.text})"


def operand_type(x: Operand) -> Scalar:
    """What integer promotion makes of a number."""
    return promote(number(x))
