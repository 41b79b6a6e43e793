"""Types of OpenCL C, and where their numbers are in memory.

An array is a row of cells, one for each number: a struct of three floats has three cells. Registers
that hold vectors have one for each vector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import TypeAlias

from loopxform.ir import types as c
from loopxform.ir.types import Scalar
from loopxform.records import record

SCALARS: dict[str, Scalar] = {
    "bool": c.BOOL,
    "char": c.CHAR,
    "uchar": c.UCHAR,
    "short": c.SHORT,
    "ushort": c.USHORT,
    "int": c.INT,
    "uint": c.UINT,
    "long": c.LONG,
    "ulong": c.ULONG,
    "half": c.HALF,
    "float": c.FLOAT,
    "double": c.DOUBLE,
    "size_t": c.ULONG,
    "ptrdiff_t": c.LONG,
}
_VECTOR = re.compile(r"([a-z]+)(\d+)")


@record
class Vector:
    of: Scalar
    width: int

    @property
    def cl(self) -> str:
        return f"{self.of.cl}{self.width}"

    @property
    def bytes(self) -> int:
        return self.of.bytes * self.width


@record
class Member:
    name: str
    type: Type


@record
class StructType:
    members: tuple[Member, ...]


@record
class ArrayType:
    of: Type
    extents: tuple[int, ...]


Type: TypeAlias = Scalar | Vector | StructType | ArrayType


def named(name: str) -> Scalar | Vector | None:
    """The number or vector of a name; None where it is none."""
    if name in SCALARS:
        return SCALARS[name]
    m = _VECTOR.fullmatch(name)
    return Vector(SCALARS[m[1]], int(m[2])) if m and m[1] in SCALARS else None


def cells(t: Type) -> int:
    """How many cells of global or local memory a value takes."""
    match t:
        case Scalar():
            return 1
        case Vector(_, width):
            return width
        case StructType(members):
            return sum(cells(m.type) for m in members)
        case ArrayType(of, extents):
            return cells(of) * prod(extents)


def alignment(t: Type) -> int:
    match t:
        case Scalar() | Vector():
            return t.bytes
        case StructType(members):
            return max(alignment(m.type) for m in members)
        case ArrayType(of):
            return alignment(of)


def size(t: Type) -> int:
    """In bytes, with the padding at the end of a struct."""
    match t:
        case Scalar() | Vector():
            return t.bytes
        case ArrayType(of, extents):
            return size(of) * prod(extents)
        case StructType(members):
            at = 0
            for m in members:
                at = _aligned(at, alignment(m.type)) + size(m.type)
            return _aligned(at, alignment(t))


def numbers(t: Type, at: int = 0) -> Iterator[tuple[int, Scalar]]:
    """The numbers in a value, each with its place in bytes."""
    match t:
        case Scalar():
            yield at, t
        case Vector(of, width):
            yield from ((at + n * of.bytes, of) for n in range(width))
        case ArrayType(of, extents):
            for n in range(prod(extents)):
                yield from numbers(of, at + n * size(of))
        case StructType(members):
            for m in members:
                at = _aligned(at, alignment(m.type))
                yield from numbers(m.type, at)
                at += size(m.type)


def _aligned(at: int, to: int) -> int:
    return -(-at // to) * to
