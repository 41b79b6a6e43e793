"""What is known of values before a function runs: where they lie, given its scalars, the conditions
around them, and what is known of the elements they are computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import assert_never

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Param,
    Select,
    Stmt,
    Tile,
    Un,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk, walk_expr
from loopxform.verify.ranges import ANY, TRUTH, Interval, binary, compared, of_type
from loopxform.verify.values import Values

Guards = tuple[tuple[Expr, bool], ...]
"""Conditions, and whether they hold."""

Facts = tuple[tuple[Expr, Interval], ...]
"""Expressions that lie in an interval, where a condition was tested."""

_MONOTONE: dict[str, Callable[[float], float]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
}

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


class Known:
    """Intervals around the values of a function's expressions, whatever its arrays hold, but for
    what `given` says of them; other floats lie in `floats`."""

    def __init__(
        self,
        fn: Function,
        scalars: Mapping[str, float],
        extents: Mapping[str, tuple[int, ...]],
        given: Mapping[str, Values],
        floats: Interval,
    ) -> None:
        self.scalars, self.given, self.floats = scalars, given, floats
        self.types = symbols(fn)
        self.params = {p.name: p for p in fn.objects}
        self.values: dict[str, list[Expr]] = {}
        self.loops: dict[str, list[For]] = {}
        self.extents: dict[str, tuple[Expr | None, ...]] = {
            name: tuple(Const(n) for n in extent) for name, extent in extents.items()
        }
        for _, s in walk(fn.body):
            self._note(s)

    def _note(self, s: Stmt) -> None:
        match s:
            case Assign(target, value, op):
                name = target.name if isinstance(target, Var) else target.array
                self.values.setdefault(name, []).append(Bin(op, target, value) if op else value)
            case For(var):
                self.loops.setdefault(var, []).append(s)
            case Decl(name, _, shape) if shape:
                self.extents[name] = shape
            case _:
                pass

    def elements(self, e: Expr) -> frozenset[str]:
        """The arrays whose elements `e` is computed from."""
        found: set[str] = set()
        waiting, seen = [e], set[str]()
        while waiting:
            for x in walk_expr(waiting.pop()):
                if isinstance(x, Load) and not is_fixed(self.params.get(x.array)):
                    found.add(x.array)
                name = x.array if isinstance(x, Load) else x.name if isinstance(x, Var) else ""
                if name and name not in seen:
                    seen.add(name)
                    waiting += self.values.get(name, ())
                    waiting += [b for s in self.loops.get(name, ()) for b in (s.lo, s.hi)]
        return frozenset(found)

    def interval(self, e: Expr, facts: Facts, seen: tuple[str, ...] = ()) -> Interval:
        """Where the values of `e` lie, for the values that are given."""
        found = self._computed(e, facts, seen)
        for known, within in facts:
            if known == e:
                found = found.both(within)
        return found

    def _computed(self, e: Expr, facts: Facts, seen: tuple[str, ...]) -> Interval:
        match e:
            case Const(value) | Tile(_, value):
                return Interval(value, value)
            case Var(name):
                return self._variable(name, seen)
            case Load(array):
                return self._any_element(array, seen)
            case Bin("*", left, right) if left == right:
                whole = self.interval(left, facts, seen)
                least = 0 if whole.low < 0 < whole.high else min(whole.low**2, whole.high**2)
                return Interval(least, max(whole.low**2, whole.high**2))
            case Bin(op, left, right):
                parts = (self.interval(x, facts, seen) for x in (left, right))
                return binary(op, *parts, whole=self._is_whole(e))
            case Un("-", operand):
                found = self.interval(operand, facts, seen)
                return Interval(-found.high, -found.low)
            case Un(op, operand):
                return {"!": TRUTH, "+": self.interval(operand, facts, seen)}.get(op, ANY)
            case Cast(t, operand):
                found = self.interval(operand, facts, seen)
                found = found.mapped(math.trunc) if t.is_integer else found
                return found if of_type(t).holds(found) else of_type(t)
            case Call(name, (operand,)) if name.removesuffix("f") in _MONOTONE:
                f = _MONOTONE[name.removesuffix("f")]
                return self.interval(operand, facts, seen).mapped(f)
            case Call():
                return ANY
            case Select(cond, then, orelse):
                arms = [
                    self.interval(x, (*facts, *self.facts_of(((cond, holds),), seen)), seen)
                    for x, holds in ((then, True), (orelse, False))
                ]
                return arms[0].either(arms[1])
            case _:
                assert_never(e)

    def _variable(self, name: str, seen: tuple[str, ...]) -> Interval:
        if name in seen:
            return ANY
        parts = [Interval(x, x) for x in (self.scalars.get(name),) if x is not None]
        parts += [self.interval(v, (), (*seen, name)) for v in self.values.get(name, ())]
        for s in self.loops.get(name, ()):
            down = counts_down(s)
            first, past = (s.hi, s.lo) if down else (s.lo, s.hi)
            low = self.interval(first, (), (*seen, name)).low
            high = self.interval(past, (), (*seen, name)).high
            parts.append(Interval(low + down, high - 1 + down))
        return _around(parts)

    def _any_element(self, array: str, seen: tuple[str, ...]) -> Interval:
        if array in seen:
            return ANY
        parts = [self.interval(v, (), (*seen, array)) for v in self.values.get(array, ())]
        param = self.params.get(array)
        if param is not None and array in self.given:
            parts.append(self.given[array].within)
        elif param is not None:
            parts.append(self.drawn(param))
        return _around(parts)

    def drawn(self, p: Param) -> Interval:
        """What is known of elements that nothing is said about."""
        if p.type.is_float and not is_fixed(p):
            return self.floats
        return of_type(p.type) if p.type.bytes < 4 else ANY

    def facts_of(self, guards: Guards, seen: tuple[str, ...] = ()) -> Facts:
        """What conditions that hold, or do not, say about the sides of their comparisons."""
        out: list[tuple[Expr, Interval]] = []
        waiting = list(guards)
        while waiting:
            cond, holds = waiting.pop()
            match cond:
                case Bin("&&" | "||" as op, left, right) if holds == (op == "&&"):
                    waiting += [(left, holds), (right, holds)]
                case Un("!", operand):
                    waiting.append((operand, not holds))
                case Bin(op, left, right) if op in _NEGATED:
                    op = op if holds else _NEGATED[op]
                    shared = self.type_of(Bin("+", left, right))
                    if shared.is_integer and not shared.is_unsigned:
                        out.append((left, compared(op, self.interval(right, (), seen))))
                        out.append((right, compared(_SWAPPED[op], self.interval(left, (), seen))))
                case _:
                    pass
        return tuple(out)

    def type_of(self, e: Expr) -> Scalar:
        return type_of(e, self.types)

    def _is_whole(self, e: Expr) -> bool:
        return self.type_of(e).is_integer


def counts_down(loop: For) -> bool:
    """Whether the start of a loop is its greatest value."""
    return (value_of(loop.step) or 1) < 0


def is_fixed(p: Param | None) -> bool:
    """Whether the source says what the elements of an array are."""
    return p is not None and p.is_global and p.const and not p.pointer


def _around(parts: list[Interval]) -> Interval:
    """The least interval around all; nothing is known of what has no value here."""
    out = parts[0] if parts else ANY
    for part in parts[1:]:
        out = out.either(part)
    return out
