"""Expressions of the loop tree as Python text that computes what C computes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never

from loopxform.ir.functions import INTEGER, parameters
from loopxform.ir.nodes import Bin, Call, Cast, Const, Expr, Load, Select, Tile, Un, Var
from loopxform.ir.routines import BIT_CASTS
from loopxform.ir.types import BOOL, FLOAT, HALF, Scalar, common, promote
from loopxform.ir.typing import COMPARISONS, type_of
from loopxform.verify import arith
from loopxform.verify.memory import Fault

MAX_DEPTH = 30
"""Python's parser takes about 200 nested parentheses; deeper expressions go through temporaries."""


@dataclass
class Names:
    """What the names in scope stand for: the Python identifier and the C type of each."""

    python: dict[str, str] = field(default_factory=dict)
    types: dict[str, Scalar] = field(default_factory=dict)

    def copy(self) -> Names:
        return Names(dict(self.python), dict(self.types))


class Expressions:
    """Turns expressions into Python text. `prelude` collects assignments to temporaries that must
    run ahead of the statement that uses the text."""

    def __init__(self) -> None:
        self.prelude: list[str] = []
        self.functions: set[str] = set()
        self._temporaries = 0
        self._conditional = 0

    def value(self, e: Expr, names: Names, to: Scalar) -> str:
        """`e` converted to type `to`, wrapped or rounded exactly."""
        return self._convert(self._exact(e, names), type_of(e, names.types), to)

    def truth(self, e: Expr, names: Names) -> str:
        """`e` as a condition."""
        text = self._exact(e, names)
        boolean = isinstance(e, Un) and e.op == "!"
        boolean |= isinstance(e, Bin) and e.op in COMPARISONS
        return text if boolean else f"({text} != 0)"

    def test(self, op: str, left: Expr, right: Expr, names: Names) -> str:
        """The comparison C makes, as a condition."""
        return self.truth(Bin(op, left, right), names)

    def index(self, e: Expr, names: Names) -> str:
        """`e` as a subscript or a bound: signed sums are not wrapped (C leaves overflow undefined,
        and an index that overflowed is outside of every array)."""
        match e:
            case Bin("+" | "-" | "*" as op, left, right):
                t = type_of(e, names.types)
                if t.is_integer and not t.is_unsigned:
                    return f"({self.index(left, names)} {op} {self.index(right, names)})"
            case Un("-", operand):
                t = type_of(e, names.types)
                if t.is_integer and not t.is_unsigned:
                    return f"(-{self.index(operand, names)})"
            case _:
                pass
        return self._exact(e, names)

    def convert(self, text: str, have: Scalar, to: Scalar) -> str:
        """The text of a value of type `have`, converted to `to`."""
        return self._convert(text, have, to)

    # ------------------------------------------------------------ by node

    def _exact(self, e: Expr, names: Names, depth: int = 0) -> str:
        if depth == MAX_DEPTH:
            return self._temporary(e, names)
        match e:
            case Const():
                return _literal(e)
            case Tile():
                return f"({e.value})" if e.value < 0 else str(e.value)
            case Var(name):
                return names.python[name]
            case Load(array, index):
                inner = ", ".join(self.index(i, names) for i in index)
                return f"{names.python[array]}_get({inner})"
            case Bin():
                return self._binary(e, names, depth + 1)
            case Un():
                return self._unary(e, names, depth + 1)
            case Cast(to, operand):
                have = type_of(operand, names.types)
                return self._convert(self._exact(operand, names, depth + 1), have, to)
            case Call(name, args):
                return self._call(name, args, names, depth + 1)
            case Select(cond, then, orelse):
                to = type_of(e, names.types)
                test = self._truth(cond, names, depth + 1)
                with self._only_sometimes():
                    parts = [self._to(x, to, names, depth + 1) for x in (then, orelse)]
                return f"({parts[0]} if {test} else {parts[1]})"
            case _:
                assert_never(e)

    def _temporary(self, e: Expr, names: Names) -> str:
        if self._conditional:
            raise Fault("an expression is nested too deeply")
        text = self._exact(e, names)
        name = self._own_name()
        self.prelude.append(f"{name} = {text}")
        return name

    def _own_name(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries - 1}"

    @contextmanager
    def _only_sometimes(self) -> Iterator[None]:
        self._conditional += 1
        yield
        self._conditional -= 1

    def _to(self, e: Expr, to: Scalar, names: Names, depth: int) -> str:
        return self._convert(self._exact(e, names, depth), type_of(e, names.types), to)

    def _truth(self, e: Expr, names: Names, depth: int) -> str:
        return f"({self._exact(e, names, depth)} != 0)"

    def _binary(self, e: Bin, names: Names, depth: int) -> str:
        op, left, right = e.op, e.left, e.right
        if op in ("&&", "||"):
            first, *rest = _chain(e)
            texts = [self._truth(first, names, depth)]
            with self._only_sometimes():
                texts += [self._truth(x, names, depth) for x in rest]
            return f"({(' and ' if op == '&&' else ' or ').join(texts)})"
        own = type_of(left, names.types), type_of(right, names.types)
        if op in ("<<", ">>"):
            return self._shift(e, promote(own[0]), names, depth)
        t = common(*own)
        a, b = (self._to(x, t, names, depth) for x in (left, right))
        if op in COMPARISONS:
            return f"({a} {op} {b})"
        if op in ("min", "max"):
            return f"{'smaller' if op == 'min' else 'larger'}({a}, {b})"
        if t.is_float:
            text = f"quotient({a}, {b})" if op == "/" else f"({a} {op} {b})"
            return f"f32{text if text[0] == '(' else f'({text})'}" if t == FLOAT else text
        if op in ("/", "%"):
            return self._divided(op, a, b, t)
        text = f"({a} {op} {b})"
        return text if op in "&|^" else wrap(text, t)

    def _divided(self, op: str, a: str, b: str, t: Scalar) -> str:
        """An integer quotient or remainder; of most, the divisor is a number above 0."""
        if not (b.isdigit() and int(b)):
            return f"{'divide' if op == '/' else 'modulo'}({a}, {b}, {arith.bounds(t)[1]})"
        python = op.replace("/", "//")
        if t.is_unsigned:
            return f"({a} {python} {b})"
        x = self._own_name()
        return f"({x} {python} {b} if ({x} := {a}) >= 0 else -(-{x} {python} {b}))"

    def _shift(self, e: Bin, t: Scalar, names: Names, depth: int) -> str:
        a = self._to(e.left, t, names, depth)
        n = self._to(e.right, promote(type_of(e.right, names.types)), names, depth)
        word = "shift_left" if e.op == "<<" else "shift_right"
        text = f"{word}({a}, {n}, {8 * t.bytes})"
        return wrap(text, t) if e.op == "<<" else text

    def _unary(self, e: Un, names: Names, depth: int) -> str:
        if e.op == "!":
            return f"(not {self._exact(e.operand, names, depth)})"
        t = type_of(e, names.types)
        text = f"({e.op}{self._to(e.operand, t, names, depth)})"
        return text if t.is_float or e.op == "+" else wrap(text, t)

    def _call(self, name: str, args: tuple[Expr, ...], names: Names, depth: int) -> str:
        if name in BIT_CASTS:
            return f"{BIT_CASTS[name]}({self._exact(args[0], names, depth)})"
        types = parameters(name)
        if types is None:
            raise Fault(f"the function {name} is not known")
        inner = ", ".join(self._to(a, t, names, depth) for a, t in zip(args, types))
        if name in INTEGER:
            return wrap(f"abs({inner})", types[0])
        self.functions.add(name)
        return f"m_{name}({inner})"

    def _convert(self, text: str, have: Scalar, to: Scalar) -> str:
        if have == to:
            return text
        if to == BOOL:
            return f"({text} != 0)"
        if to.is_float and have.is_float and have.bytes <= to.bytes:
            return text
        if to == HALF:
            return f"f16({text})"
        if to.is_float and have.is_float:
            return f"f32({text})"
        if to.is_float:
            if to == FLOAT and have.bytes >= 4:
                return f"f32({text})" if have.bytes == 4 else f"int_to_f32({text})"
            return f"float({text})"
        low, high = arith.bounds(to)
        if have.is_float:
            return f"truncate({text}, {low}, {high})"
        inside = arith.bounds(have)
        return text if low <= inside[0] and inside[1] <= high else wrap(text, to)


def wrap(text: str, t: Scalar) -> str:
    """An integer reduced to the range of its type."""
    mask, sign = (1 << 8 * t.bytes) - 1, 1 << (8 * t.bytes - 1)
    if t.is_unsigned:
        return f"({text} & {mask})"
    return f"(({text} + {sign} & {mask}) - {sign})"


def _literal(e: Const) -> str:
    if e.type.is_integer:
        low, high = arith.bounds(e.type)
        value = int(e.value)
        if not low <= value <= high:
            raise Fault(f"the constant {value} does not fit {e.type}")
    else:
        value = float(e.value)  # type: ignore[assignment]
        if e.type == FLOAT:
            value = arith.float_literal(e.text, value)  # type: ignore[assignment]
        if not math.isfinite(value):
            return f"float('{value}')"
    return f"({value!r})" if str(value).startswith("-") else repr(value)


def _chain(e: Bin) -> list[Expr]:
    """The operands of `a && b && c`, or of a chain of `||`, from left to right."""
    parts, first = [e.right], e.left
    while isinstance(first, Bin) and first.op == e.op:
        parts.append(first.right)
        first = first.left
    return [first, *reversed(parts)]
