"""The built-in functions of OpenCL C that kernels of ours call."""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from typing import Any

from loopxform.ir.functions import CLASSES, base_name, parameters, result
from loopxform.ir.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    USHORT,
    Scalar,
    as_half,
    common,
)
from loopxform.verify import arith
from loopxform.verify.group.fault import GroupFault, NotModelled
from loopxform.verify.group.operands import (
    Location,
    Operand,
    converted,
    number,
    operand_type,
    wrapped,
)
from loopxform.verify.group.syntax import Conversion, Expression
from loopxform.verify.group.types import Vector, named
from loopxform.verify.group.unset import Unset, f32, mathematical, passed

_IDS = {
    "get_local_id": "item.local_id",
    "get_group_id": "item.group_id",
    "get_local_size": "item.local_size",
    "get_num_groups": "item.num_groups",
}
_OF_SUB_GROUPS = {"get_sub_group_id": "//", "get_sub_group_local_id": "%"}
_BITS = {"float": FLOAT, "uint": UINT, "int": INT, "double": DOUBLE, "ulong": ULONG, "long": LONG}
_BITS |= {"ushort": USHORT}
_FORMATS = {"float": "f", "uint": "I", "int": "i", "double": "d", "ulong": "Q", "long": "q"}
_FORMATS |= {"ushort": "H"}
_MOVED = re.compile(r"v(load|store)(2|4|8|16)")
_UPDATED = re.compile(r"atom(?:ic)?_(add|sub|and|or|xor|min|max)")
_SIGNS = {"add": "+", "mul": "*", "sub": "-", "and": "&", "or": "|", "xor": "^"}
MULTIPLIED = re.compile(r"lx_mul_(?:uint|ulong)_(?:global|local)")
OF_REALS = re.compile(r"lx_(add|mul|f?min|f?max)_(float|double)_(?:global|local)")
"""Updates of real numbers, which are functions of their own."""

PASSED = re.compile(r"lx_(take|tell|look)")
"""How groups tell each other of their chunks (codegen/opencl/look_back.py), in words that change
and are read in one piece."""

_CONVERTED = re.compile(r"convert_([a-z]+\d+)")


class Builtins(ABC):
    """Calls of built-in functions as Python text."""

    sub_group: int

    # ------------------------------------------------------------ what `Expressions` brings

    @abstractmethod
    def value(self, e: Expression) -> Operand: ...

    @abstractmethod
    def settled(self, e: Expression) -> Operand: ...

    @abstractmethod
    def address(self, e: Expression) -> Location: ...

    @abstractmethod
    def error(self, what: str) -> NotModelled: ...

    # ------------------------------------------------------------ calls

    def builtin(self, name: str, arguments: tuple[Expression, ...]) -> Operand:
        if name in _IDS:
            return Operand(f"{_IDS[name]}[{self.settled(arguments[0]).text}]", ULONG)
        if name in _OF_SUB_GROUPS and self.sub_group:
            return Operand(f"(item.place {_OF_SUB_GROUPS[name]} {self.sub_group})", UINT)
        if name == "get_global_id":
            n = self.settled(arguments[0]).text
            text = f"item.group_id[{n}] * item.local_size[{n}] + item.local_id[{n}]"
            return Operand(f"({text})", ULONG)
        if name in ("min", "max"):
            return self._extremum(name, arguments)
        if name == "abs":
            return self._absolute(arguments[0])
        if m := _MOVED.fullmatch(name):
            return self._vector_moved(m[1], int(m[2]), arguments)
        if m := _CONVERTED.fullmatch(name):
            return self._vector_converted(m[1], arguments[0])
        if name.startswith("as_") and name[3:] in _BITS:
            x = self.settled(arguments[0])
            if isinstance(x.type, Vector):
                return self._word(x, _BITS[name[3:]])
            own = next(n for n, t in _BITS.items() if t == operand_type(x))
            formats = f"'{_FORMATS[own]}', '{_FORMATS[name[3:]]}'"
            return Operand(f"bits({x.text}, {formats})", _BITS[name[3:]])
        if MULTIPLIED.fullmatch(name):
            return self._multiplied(*arguments)
        if m := OF_REALS.fullmatch(name):
            return self._updated_real(m[1], FLOAT if m[2] == "float" else DOUBLE, *arguments)
        if m := PASSED.fullmatch(name):
            return self._passed(m[1], *arguments)
        if m := _UPDATED.fullmatch(name):
            return self._updated(m[1], *arguments)
        return self._half(name, arguments) or self._mathematical(name, arguments)

    def _word(self, x: Operand, kind: Scalar) -> Operand:
        """A number that has the bits of a vector, whose first element has its lowest ones."""
        assert isinstance(x.type, Vector)
        parts = f"{8 * x.type.of.bytes}, {x.text}"
        return Operand(f"word({parts})", kind)

    def _updated(self, op: str, pointer: Expression, operand: Expression) -> Operand:
        """An atomic update, whose old value nobody asks for; sums wrap around."""
        at = self.address(pointer)
        if not isinstance(at.type, Scalar):
            raise self.error(f"atomic_{op} of what is no number")
        e = converted(self.settled(operand), at.type).text
        new = f"{op}(x, {e})" if op in ("min", "max") else f"x {_SIGNS[op]} ({e})"
        new = wrapped(new, at.type) if op in ("add", "sub") else new
        word = "add" if op == "sub" else op
        return Operand(f"{at.array}.update({at.at}, '{word}', lambda x: {new})", at.type)

    def _multiplied(self, pointer: Expression, operand: Expression) -> Operand:
        """A product of integers, formed in their unsigned type; it wraps around."""
        assert isinstance(pointer, Conversion)
        at = self.address(pointer.operands[0])
        if not isinstance(at.type, Scalar):
            raise self.error("the product of what is no number")
        e = converted(self.settled(operand), at.type).text
        new = wrapped(f"x * ({e})", at.type)
        return Operand(f"{at.array}.update({at.at}, 'mul', lambda x: {new})", at.type)

    def _passed(
        self, word: str, pointer: Expression, what: Expression | None = None, *bits: Expression
    ) -> Operand:
        """A word that groups share: it is numbered on, told, or looked at."""
        at = self.address(pointer)
        cell = f"{at.array}.exchange({at.at}"
        if word == "look":
            return Operand(f"{cell}, lambda x: x)", ULONG)
        if word == "take":
            return Operand(f"{cell}, lambda x: x + 1)", UINT)
        assert what is not None
        (low,) = (converted(self.settled(e), UINT).text for e in bits)
        high = converted(self.settled(what), ULONG).text
        return Operand(f"{cell}, lambda x: ({high}) << 32 | ({low}))", ULONG)

    def _updated_real(
        self, op: str, kind: Scalar, pointer: Expression, operand: Expression
    ) -> Operand:
        """The same of a real number; Python's min and max keep the first where a NaN is second."""
        at, e = self.address(pointer), converted(self.settled(operand), kind).text
        if op in ("add", "mul"):
            new = converted(Operand(f"x {_SIGNS[op]} {e}", DOUBLE), kind).text
        elif op.startswith("f"):
            new = f"mathematical('{op if kind == DOUBLE else op + 'f'}')(x, {e})"
        else:
            new = f"{op}(x, {e})"
        return Operand(f"{at.array}.update({at.at}, '{op}', lambda x: {new})", kind)

    def _extremum(self, name: str, arguments: tuple[Expression, ...]) -> Operand:
        a, b = (self.settled(x) for x in arguments)
        kind = common(number(a), number(b))
        text = f"{name}({converted(a, kind).text}, {converted(b, kind).text})"
        return Operand(text, kind)

    def _absolute(self, e: Expression) -> Operand:
        x = self.settled(e)
        return Operand(f"abs({x.text})", ULONG if operand_type(x).bytes == 8 else UINT)

    def _vector_moved(self, word: str, width: int, arguments: tuple[Expression, ...]) -> Operand:
        """vloadN and vstoreN need no alignment but that of an element."""
        *vector, count, pointer = arguments
        at = self.address(pointer)
        if not isinstance(at.type, Scalar):
            raise self.error(f"v{word}{width} of what is no number")
        cell = f"{at.at} + {width} * {self.settled(count).text}"
        if word == "load":
            text = f"{at.array}.load_vector({cell}, {width}, aligned=False)"
            return Operand(text, Vector(at.type, width))
        values = self.settled(vector[0]).text
        return Operand(f"{at.array}.store_vector({cell}, {values}, aligned=False)", INT)

    def _vector_converted(self, name: str, e: Expression) -> Operand:
        x, to = self.settled(e), named(name)
        if not isinstance(to, Vector) or not isinstance(x.type, Vector):
            raise self.error(f"convert_{name}")
        part = converted(Operand("x", x.type.of), to.of).text
        text = f"tuple({part} for x in {x.text})"
        return Operand(text, to)

    def _half(self, name: str, arguments: tuple[Expression, ...]) -> Operand | None:
        if name == "vload_half":
            at = self.address(arguments[1])
            cell = f"{at.at} + {self.settled(arguments[0]).text}"
            return Operand(f"half_value({at.array}.load({cell}))", FLOAT)
        if name in ("vstore_half", "vstore_half_rte"):
            at = self.address(arguments[2])
            cell = f"{at.at} + {self.settled(arguments[1]).text}"
            bits = f"half_bits({converted(self.settled(arguments[0]), FLOAT).text})"
            return Operand(f"{at.array}.store({cell}, {bits})", INT)
        if name == "convert_float_rtz":
            return Operand(f"toward_zero({self.settled(arguments[0]).text})", FLOAT)
        return None

    def _mathematical(self, name: str, arguments: tuple[Expression, ...]) -> Operand:
        """A function of the C library, for the type of the first number."""
        given = [self.settled(a) for a in arguments]
        if base_name(name) != name or not given:
            raise self.error(f"the function {name}")
        real = DOUBLE if any(number(x) == DOUBLE for x in given) else FLOAT
        own = name if real == DOUBLE else f"{name}f"
        types, value = parameters(own), result(own)
        assert types is not None
        assert value is not None
        parts = ", ".join(converted(x, t).text for x, t in zip(given, types))
        return Operand(f"mathematical('{own}')({parts})", INT if name in CLASSES else value)


# ---------------------------------------------------------------- what the text refers to


def bits(x: Any, given: str, wanted: str) -> Any:
    return struct.unpack(wanted, struct.pack(given, x))[0]


def word(bits: int, parts: tuple[Any, ...]) -> Any:
    """Integers side by side, the first one in the lowest bits."""
    for x in parts:
        if x.__class__ is Unset:
            return x
    return sum((x & ((1 << bits) - 1)) << bits * n for n, x in enumerate(parts))


def half_value(x: int) -> float:
    value: float = struct.unpack("e", struct.pack("H", x))[0]
    return value


def half_bits(x: float) -> int:
    value: int = struct.unpack("H", struct.pack("e", as_half(x)))[0]
    return value


def toward_zero(x: float) -> float:
    """A double rounded toward zero to a float."""
    nearest = arith.f32(x)
    if nearest != nearest or abs(nearest) <= abs(x):
        return nearest
    return float(bits(bits(nearest, "f", "I") - 1, "I", "f"))


def in_range(x: Any, least: int, most: int) -> Any:
    """A sum or product, or what was never set: comparing that is a fault."""
    try:
        if least <= x <= most:
            return x
    except GroupFault:
        return x
    raise GroupFault("arithmetic", f"a sum or product overflows: {x}")


def row(i: int, extent: int) -> int:
    if not 0 <= i < extent:
        raise GroupFault("bounds", f"subscript {i} is outside of a row of {extent}")
    return i


NAMES: dict[str, Any] = {
    **{f.__name__: passed(f) for f in (bits, word, half_value, half_bits, toward_zero)},
    **{name: passed(getattr(arith, name)) for name in ("int_to_f32", "quotient", "truncate")},
    **{name: getattr(arith, name) for name in ("divide", "modulo", "shift_left", "shift_right")},
    "double": passed(float),
    "f32": f32,
    "in_range": in_range,
    "mathematical": mathematical,
    "row": row,
    "inf": float("inf"),
    "Unset": Unset,
}
