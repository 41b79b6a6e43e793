"""Types of numbers in C and OpenCL C, and the conversions that C makes between them (C11 6.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CType:
    """A type of numbers. `name` is that of a struct where it is one."""

    kind: str  # "int", "float", "bool", "struct", "void"
    bits: int = 32
    signed: bool = True
    name: str = ""

    @property
    def whole(self) -> bool:
        return self.kind in ("int", "bool")

    def holds(self, other: CType) -> bool:
        """Whether each value of the other type is one of this type."""
        if self == other:
            return True
        if self.kind == "float":
            digits = {16: 11, 32: 24, 64: 53}[self.bits]
            if other.kind == "float":
                return other.bits <= self.bits
            return other.bits - other.signed <= digits
        if self.kind != "int" or not other.whole:
            return False
        if self.signed == other.signed:
            return self.bits >= other.bits
        return self.signed and self.bits > other.bits


BOOL = CType("bool", 1, False)
INT, UINT = CType("int"), CType("int", 32, False)
LONG, ULONG = CType("int", 64), CType("int", 64, False)
HALF, FLOAT, DOUBLE = CType("float", 16), CType("float", 32), CType("float", 64)
VOID = CType("void", 0)

_NAMED = {
    "_Bool": BOOL, "bool": BOOL,
    "char": CType("int", 8), "signed char": CType("int", 8),
    "unsigned char": CType("int", 8, False), "uchar": CType("int", 8, False),
    "short": CType("int", 16), "unsigned short": CType("int", 16, False),
    "ushort": CType("int", 16, False),
    "int": INT, "unsigned": UINT, "unsigned int": UINT, "uint": UINT, "signed": INT, "cl_int": INT,
    "long": LONG, "unsigned long": ULONG, "ulong": ULONG, "long long": LONG,
    "unsigned long long": ULONG, "size_t": ULONG, "ptrdiff_t": LONG, "ssize_t": LONG,
    "int8_t": CType("int", 8), "uint8_t": CType("int", 8, False), "int16_t": CType("int", 16),
    "uint16_t": CType("int", 16, False), "int32_t": INT, "uint32_t": UINT, "int64_t": LONG,
    "uint64_t": ULONG, "intptr_t": LONG, "uintptr_t": ULONG,
    "float": FLOAT, "double": DOUBLE, "_Float16": CType("float", 16), "half": CType("float", 16),
    "_Float32": FLOAT, "_Float64": DOUBLE, "void": VOID, "cl_mem": CType("int", 64, name="memory"),
}  # fmt: skip


def named(words: Sequence[str]) -> CType | None:
    """The type of a declaration's words, in any order; None for one that is no number's."""
    rest = [w for w in words if w not in ("int", "signed")] or ["int"]
    longs = rest.count("long")
    rest = [w for w in rest if w != "long"]
    if longs and "double" not in rest:
        return ULONG if "unsigned" in rest else LONG
    if longs:
        return None
    text = " ".join(sorted(rest, key=lambda w: w != "unsigned"))
    return _NAMED.get(text)


def promoted(t: CType) -> CType:
    """As an operand of arithmetic: what is narrower than int becomes int, halves become floats (as
    they do where FLT_EVAL_METHOD is 0 and the machine has none, C11 5.2.4.2.2p9)."""
    if t.whole and t.bits < 32:
        return INT
    return FLOAT if t == HALF else t


def common(a: CType, b: CType) -> CType:
    """The type in which two operands meet."""
    a, b = promoted(a), promoted(b)
    if "float" in (a.kind, b.kind):
        bits = max(t.bits for t in (a, b) if t.kind == "float")
        return CType("float", bits)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if not a.signed else b
