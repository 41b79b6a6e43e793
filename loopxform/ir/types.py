"""Scalar types, memory spaces and the hardware levels a loop can be mapped to."""

from __future__ import annotations

import math
import struct
from dataclasses import field
from enum import Enum
from functools import cache
from typing import Literal

from loopxform.records import slotted

ScalarKind = Literal["bool", "int", "uint", "float"]


@slotted
class Scalar:
    """A C arithmetic type on an LP64 host.

    `c` is the C spelling, `cl` the OpenCL C spelling of the type that computes the same, `numpy`
    the dtype name; `bytes` is its size.
    """

    c: str
    cl: str
    numpy: str
    kind: ScalarKind
    bytes: int

    @property
    def memory(self) -> str:
        """The OpenCL C spelling of elements of global and local memory: only there a half has 16
        bits, which devices without half arithmetic hold in a ushort."""
        return "ushort" if self.c == "_Float16" else self.cl

    @property
    def argument(self) -> str:
        """The numpy dtype of what a kernel takes by value: a half as the float that holds it."""
        return "float32" if self.c == "_Float16" else self.numpy

    @property
    def least(self) -> int:
        """The least value of an integer type."""
        return 0 if self.is_unsigned or self.kind == "bool" else -(1 << (8 * self.bytes - 1))

    @property
    def most(self) -> int:
        """The largest value of an integer type."""
        if self.kind == "bool":
            return 1
        return (1 << (8 * self.bytes - (0 if self.is_unsigned else 1))) - 1

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind != "float"

    @property
    def is_unsigned(self) -> bool:
        return self.kind in ("uint", "bool")

    def __str__(self) -> str:
        return self.c


BOOL = Scalar("_Bool", "uchar", "bool", "bool", 1)
CHAR = Scalar("char", "char", "int8", "int", 1)
SCHAR = Scalar("signed char", "char", "int8", "int", 1)
UCHAR = Scalar("unsigned char", "uchar", "uint8", "uint", 1)
SHORT = Scalar("short", "short", "int16", "int", 2)
USHORT = Scalar("unsigned short", "ushort", "uint16", "uint", 2)
INT = Scalar("int", "int", "int32", "int", 4)
INT_MAX = 2**31 - 1
UINT = Scalar("unsigned int", "uint", "uint32", "uint", 4)
LONG = Scalar("long", "long", "int64", "int", 8)
ULONG = Scalar("unsigned long", "ulong", "uint64", "uint", 8)
LLONG = Scalar("long long", "long", "int64", "int", 8)
ULLONG = Scalar("unsigned long long", "ulong", "uint64", "uint", 8)
HALF = Scalar("_Float16", "float", "float16", "float", 2)
FLOAT = Scalar("float", "float", "float32", "float", 4)
DOUBLE = Scalar("double", "double", "float64", "float", 8)

SCALARS: dict[str, Scalar] = {
    t.c: t
    for t in (
        BOOL,
        CHAR,
        SCHAR,
        UCHAR,
        SHORT,
        USHORT,
        INT,
        UINT,
        LONG,
        ULONG,
        LLONG,
        ULLONG,
        HALF,
        FLOAT,
        DOUBLE,
    )
}


def may_alias(a: Scalar, b: Scalar) -> bool:
    """Whether C may use an object of one type under the other (C11 6.5p7): a type and the one of
    another sign, and bytes of any. Types of one size are not told apart."""
    return "char" in a.c + b.c or (a.is_float, a.bytes) == (b.is_float, b.bytes)


class Space(Enum):
    """Where an array lives in the mapped program."""

    GLOBAL = "global"
    LOCAL = "local"
    PRIVATE = "private"


@slotted
class Level:
    """The hardware level a parallel loop is mapped to; dimension 0 is x (the fastest). `lanes` of
    its iterations are neighbours in a rectangle of work-items that run in lockstep (step
    `warp-tile`), `paired` ones in two rows by turns; 0: as many as there are. Groups are walked in
    `bands` of so many rows (step `swizzle-groups`), 0: row by row. Work-items that keep several
    elements get `cyclic` neighbours at a time (step `block-cyclic`), 0: all of them."""

    kind: Literal["grid", "group"]
    dimension: int
    lanes: int = field(default=0, compare=False)
    paired: bool = field(default=False, compare=False)
    bands: int = field(default=0, compare=False)
    cyclic: int = field(default=0, compare=False)

    def __str__(self) -> str:
        what = "group" if self.kind == "grid" else "thread"
        lanes = f", {self.lanes} lanes" if self.lanes else ""
        lanes += " in pairs" if self.paired else ""
        bands = f", in bands of {self.bands}" if self.bands else ""
        cyclic = f", {self.cyclic} elements at a time" if self.cyclic else ""
        return f"{what} {'xyz'[self.dimension]}{lanes}{bands}{cyclic}"


def as_half(x: float) -> float:
    """`x` rounded once to a half; a value out of range becomes an infinity."""
    try:
        rounded: float = struct.unpack("e", struct.pack("e", float(x)))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return rounded


def promote(t: Scalar) -> Scalar:
    """C integer promotion (C11 6.3.1.1)."""
    return INT if t.is_integer and t.bytes < 4 else t


@cache
def common(a: Scalar, b: Scalar) -> Scalar:
    """The usual arithmetic conversions (C11 6.3.1.8). Halves are computed with in float, which is
    FLT_EVAL_METHOD 0 (C23 5.2.4.2.2)."""
    for real in (DOUBLE, FLOAT):
        if real in (a, b):
            return real
    if HALF in (a, b):
        return FLOAT
    a, b = promote(a), promote(b)
    if a == b:
        return a
    order = [INT, UINT, LONG, ULONG, LLONG, ULLONG]
    high, low = (a, b) if order.index(a) >= order.index(b) else (b, a)
    if high == LLONG and low == ULONG:
        return ULLONG
    return high
