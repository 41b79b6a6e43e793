"""Expressions of OpenCL C as Python text.

Integers are Python numbers: unsigned arithmetic is cut off at each operation, signed arithmetic is
checked where its value is kept, converted or compared. A float is a Python float, rounded to 24
bits after each operation.
"""

from __future__ import annotations

import ast
from math import prod
from typing import assert_never

from loopxform.ir.types import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Scalar, common
from loopxform.verify.arith import float_literal
from loopxform.verify.group.builtins import Builtins
from loopxform.verify.group.fault import NotModelled
from loopxform.verify.group.operands import (
    Location,
    Operand,
    converted,
    number,
    operand_type,
    settled,
    wrapped,
)
from loopxform.verify.group.scope import Constant, Memory, Scope, Variable
from loopxform.verify.group.syntax import (
    Binary,
    Call,
    Conditional,
    Conversion,
    Expression,
    MemberOf,
    Name,
    Number,
    Subscript,
    TypeName,
    Unary,
)
from loopxform.verify.group.types import ArrayType, StructType, Type, Vector, cells, named

_COMPARED = ("==", "!=", "<", ">", "<=", ">=")


class Expressions(Builtins):
    """Expressions in the scope at hand. `functions` are those of the file, with their types; a
    kernel may ask for so many work-items in a `sub_group`."""

    def __init__(self, structs: dict[str, StructType], scope: Scope) -> None:
        self.structs = structs
        self.scope = scope
        self.line = 1
        self.sub_group = 0
        self.functions: dict[str, tuple[Scalar, tuple[Scalar, ...]]] = {}

    # ------------------------------------------------------------ values

    def value(self, e: Expression) -> Operand:
        match e:
            case Number(text):
                return _number(text)
            case Unary(op, operand) if op not in "&*":
                return self._unary(op, operand)
            case Binary(op, left, right):
                return self._binary(op, left, right)
            case Conditional():
                return self._conditional(e)
            case Call(name, arguments):
                return self.call(name, arguments)
            case Conversion(to, operands):
                return self._conversion(to, operands)
            case Name(name) if not isinstance(self._meaning(name), Memory):
                return self._variable(name)
            case MemberOf(base, name, False) if self._is_vector(base):
                return self._component(base, name)
            case Name() | MemberOf() | Subscript() | Unary():
                return self.loaded(self.location(e))
            case _:
                assert_never(e)

    def settled(self, e: Expression) -> Operand:
        return settled(self.value(e))

    def test(self, e: Expression) -> str:
        x = self.settled(e)
        return x.text if x.truth else f"({x.text} != 0)"

    def loaded(self, at: Location) -> Operand:
        match at.type:
            case Vector(_, width) if not isinstance(at.cell, Vector):
                text = f"{at.array}.load_vector({at.at}, {width}, aligned=True)"
                return Operand(text, at.type)
            case Scalar() | Vector():
                text = f"{at.array}.load({at.at})"
                return Operand(text, at.type)
            case _:
                raise self.error("an array or a struct as a value")

    def _meaning(self, name: str) -> Variable | Memory | Constant:
        if name not in self.scope.names:
            raise self.error(f"the name {name}")
        return self.scope.names[name]

    def _variable(self, name: str) -> Operand:
        match self._meaning(name):
            case Variable(python, kind) | Constant(python, kind):
                return Operand(python, kind)
            case Memory():
                raise self.error(f"the array {name} as a value")

    def _is_vector(self, base: Expression) -> bool:
        match base:
            case Name(name):
                meaning = self._meaning(name)
                return isinstance(meaning, Variable) and isinstance(meaning.type, Vector)
            case Subscript() | Unary("*", _):
                return isinstance(self.location(base).type, Vector)
            case Conversion(to, _):
                return isinstance(named(to.name), Vector) and not to.pointers
            case _:
                return False

    def _component(self, base: Expression, name: str) -> Operand:
        v = self.settled(base)
        assert isinstance(v.type, Vector)
        n = "xyzw".find(name) if len(name) == 1 else int(name[1:], 16)
        if not 0 <= n < v.type.width:
            raise self.error(f"the component {name}")
        return Operand(f"{v.text}[{n}]", v.type.of)

    def _unary(self, op: str, operand: Expression) -> Operand:
        if op == "!":
            return Operand(f"(not {self.test(operand)})", INT, truth=True)
        x = self.value(operand)
        kind = operand_type(x)
        x = converted(x, kind)
        if op == "+":
            return x
        text = f"({op}{x.text})"
        if kind.is_unsigned:
            return Operand(wrapped(text, kind), kind)
        return Operand(text, kind, ranged=kind.is_float or op == "~")

    def _binary(self, op: str, left: Expression, right: Expression) -> Operand:
        if op in ("&&", "||"):
            word = "and" if op == "&&" else "or"
            return Operand(f"({self.test(left)} {word} {self.test(right)})", INT, truth=True)
        if op in ("==", "!=") and self._is_pointer(left):
            return Operand(str(op == "!="), INT, truth=True)
        return self.combined(op, self.value(left), self.value(right))

    def _is_pointer(self, e: Expression) -> bool:
        meaning = self.scope.names.get(e.name) if isinstance(e, Name) else None
        return isinstance(meaning, Memory) and meaning.pointer

    def combined(self, op: str, a: Operand, b: Operand) -> Operand:
        """`a op b`"""
        if isinstance(a.type, Vector) or isinstance(b.type, Vector):
            raise self.error(f"vectors and the operator {op}")
        if op in ("<<", ">>"):
            kind = operand_type(a)
            name = "shift_left" if op == "<<" else "shift_right"
            shifted = f"{name}({converted(a, kind).text}, {settled(b).text}, {8 * kind.bytes})"
            text = wrapped(shifted, kind) if kind.is_unsigned else shifted
            return Operand(text, kind, ranged=kind.is_unsigned or op == ">>")
        kind = common(number(a), number(b))
        if op in _COMPARED:
            text = f"({converted(a, kind).text} {op} {converted(b, kind).text})"
            return Operand(text, INT, truth=True)
        if op in ("/", "%"):
            return self._divided(op, converted(a, kind), converted(b, kind), kind)
        # Sums of sums are checked once, where the whole is used.
        x, y = (v.text if v.type == kind else converted(v, kind).text for v in (a, b))
        text = f"({x} {op} {y})"
        if kind == FLOAT:
            return Operand(f"f32({text})", kind)
        if kind == DOUBLE or op in "&|^":
            return Operand(text, kind)
        return Operand(
            wrapped(text, kind) if kind.is_unsigned else text, kind, ranged=kind.is_unsigned
        )

    def _divided(self, op: str, a: Operand, b: Operand, kind: Scalar) -> Operand:
        if kind.is_float:
            text = f"quotient({a.text}, {b.text})"
            return Operand(f"f32({text})" if kind == FLOAT else text, kind)
        if kind.is_unsigned and b.text.isdigit() and int(b.text):
            return Operand(f"({a.text} {'//' if op == '/' else '%'} {b.text})", kind)
        name = "divide" if op == "/" else "modulo"
        return Operand(f"{name}({a.text}, {b.text}, {kind.most})", kind)

    def _conditional(self, e: Conditional) -> Operand:
        then, orelse = self.value(e.then), self.value(e.orelse)
        if isinstance(then.type, Scalar) and isinstance(orelse.type, Scalar):
            kind = common(then.type, orelse.type)
            then, orelse = (converted(x, kind) for x in (then, orelse))
        elif then.type != orelse.type:
            raise self.error("a choice between two types")
        text = f"({then.text} if {self.test(e.test)} else {orelse.text})"
        return Operand(text, then.type)

    def _conversion(self, to: TypeName, operands: tuple[Expression, ...]) -> Operand:
        kind = named(to.name)
        if kind is None or to.pointers:
            raise self.error(f"a conversion to {to.name}")
        if isinstance(kind, Vector):
            return self.vector(kind, operands)
        return converted(self.value(operands[0]), kind)

    def vector(self, kind: Vector, operands: tuple[Expression, ...]) -> Operand:
        """`(float4)(a, b, c, d)`; of one number, so many times that."""
        parts = [converted(self.settled(x), kind.of).text for x in operands]
        if len(parts) == 1:
            parts *= kind.width
        if len(parts) != kind.width:
            raise self.error(f"a vector of {len(parts)} parts")
        return Operand(f"({', '.join(parts)})", kind)

    def call(self, name: str, arguments: tuple[Expression, ...]) -> Operand:
        if name not in self.functions:
            return self.builtin(name, arguments)
        returns, types = self.functions[name]
        given = [converted(self.settled(a), t).text for a, t in zip(arguments, types)]
        return Operand(f"f_{name}({', '.join(['item', *given])})", returns)

    # ------------------------------------------------------------ memory

    def location(self, e: Expression) -> Location:
        """What an expression names in memory."""
        match e:
            case Name(name):
                meaning = self._meaning(name)
                if isinstance(meaning, Memory):
                    return Location(meaning.python, "0", meaning.type, meaning.cell)
            case Unary("*", operand):
                return self.address(operand)
            case Subscript(base, index):
                return self._subscript(base, index)
            case MemberOf(base, name, arrow):
                return self._member(self.address(base) if arrow else self.location(base), name)
        raise self.error("the address of a value")

    def address(self, e: Expression) -> Location:
        """What a pointer points to; as a number it is the same pointer."""
        match e:
            case Unary("&", operand):
                return self.location(operand)
            case Conversion(to, (operand,)) if to.pointers:
                at, kind = self.address(operand), self._type(to.name)
                return Location(at.array, at.at, kind, at.cell)
            case Conversion(_, (operand,)):
                return self.address(operand)
            case Conditional(condition, then, orelse):
                return self._either(self.test(condition), self.address(then), self.address(orelse))
            case Binary("+", left, right):
                at = self.address(left)
                return self._moved_by(at, self.settled(right).text)
        at = self.location(e)
        if isinstance(at.type, ArrayType):
            rest = at.type.extents[1:]
            inner = ArrayType(at.type.of, rest) if rest else at.type.of
            return Location(at.array, at.at, inner, at.cell)
        return at

    def _either(self, test: str, then: Location, orelse: Location) -> Location:
        if (then.type, then.cell) != (orelse.type, orelse.cell):
            raise self.error("a pointer to one of two types")
        array, at = (
            f"({x} if {test} else {y})"
            for x, y in ((then.array, orelse.array), (then.at, orelse.at))
        )
        return Location(array, at, then.type, then.cell)

    def _type(self, name: str) -> Type:
        kind = named(name) or self.structs.get(name)
        if kind is None:
            raise self.error(f"the type {name}")
        return kind

    def _moved_by(self, at: Location, index: str) -> Location:
        size = _cells(at.type, at.cell)
        step = f"{index} * {size}" if size > 1 else index
        text = step if at.at == "0" else f"{at.at} + {step}"
        return Location(at.array, f"({text})", at.type, at.cell)

    def _subscript(self, base: Expression, index: Expression) -> Location:
        at = self.location(base)
        i = self.value(index).text
        if not isinstance(at.type, ArrayType):
            return self._moved_by(at, i)
        extent, *rest = at.type.extents
        inner = ArrayType(at.type.of, tuple(rest)) if rest else at.type.of
        # The first subscript is checked with the number of the cell.
        if at.at != "0":
            i = f"row({i}, {extent})"
        return self._moved_by(Location(at.array, at.at, inner, at.cell), i)

    def _member(self, at: Location, name: str) -> Location:
        if not isinstance(at.type, StructType):
            raise self.error(f"the member {name}")
        offset = 0
        for m in at.type.members:
            if m.name == name:
                text = f"({at.at} + {offset})" if offset else at.at
                return Location(at.array, text, m.type, at.cell)
            offset += cells(m.type)
        raise self.error(f"the member {name}")

    def error(self, what: str) -> NotModelled:
        return NotModelled(f"{what} is not modelled", self.line)


def _cells(t: Type, cell: Type) -> int:
    """How many cells a value takes where each holds a `cell`."""
    if isinstance(t, ArrayType):
        return _cells(t.of, cell) * prod(t.extents)
    return 1 if t == cell else cells(t)


def integer(e: Expression) -> int:
    """The value of an expression of numbers, the extent of an array."""
    match e:
        case Number(text):
            return int(text.rstrip("uUlL"), 0)
        case Unary("-", operand):
            return -integer(operand)
        case Binary(op, left, right) if op in "+-*/%":
            a, b = integer(left), integer(right)
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // (b or 1), "%": a % (b or 1)}[op]
        case _:
            raise NotModelled("the extent of an array is no number", 0)


def _number(text: str) -> Operand:
    if text.startswith("'"):
        return Operand(str(ord(ast.literal_eval(text))), INT)
    hexadecimal = text[:2] in ("0x", "0X")
    if ("p" in text.lower()) if hexadecimal else any(c in text for c in ".eEfF"):
        stem = text.rstrip("fF") if not hexadecimal or "p" in text.lower() else text
        kind = DOUBLE if stem == text else FLOAT
        value = float.fromhex(stem) if hexadecimal else float(stem)
        return Operand(repr(float_literal(text, value) if kind == FLOAT else value), kind)
    stem = text.rstrip("uUlL")
    value, suffix = (
        int(stem, 8 if stem.startswith("0") and stem.isdigit() else 0),
        text[len(stem) :],
    )
    unsigned, wide = "u" in suffix.lower(), "l" in suffix.lower()
    wanted = [UINT, ULONG] if unsigned else [INT, LONG]
    if hexadecimal and not unsigned:
        wanted = [INT, UINT, LONG, ULONG]
    fits = (t for t in wanted if value <= t.most and not (wide and t.bytes < 8))
    return Operand(str(value), next(fits, ULONG))
