"""Functions of floats: A[i] = A[i] + 1.0f / sqrt(x[i])  ->  A[i] = A[i] + 1.0f / sqrtf(x[i])

A quotient, a square root or another function that C computes in double, of floats and of constants
that are floats, is computed in float where its value only ends in one: in sums that are stored in a
float or converted to it. Its error is then that of the function for floats, relative to its own
value. What passes through sums, products or further functions on the way has to stay within the
range of floats whatever the operands are: roots, constants of moderate size over them, and in sums
logarithms and the like (1e39 - 1e39 is 0, and no number in float). Sums stay in double, unless
nothing but a conversion follows one of two floats, which has the same value in float (Figueroa,
"When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.accuracy import ULPS
from loopxform.ir.nodes import Assign, Bin, Call, Cast, Const, Expr, Function, Select, Stmt, Un
from loopxform.ir.types import DOUBLE, FLOAT, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import map_body, map_stmt_exprs, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped

NARROWED = frozenset(["sqrt", *ULPS])
"""The functions that devices compute in their own ways: the others are exact as they are."""

UNBOUNDED = ("cosh", "exp", "exp2", "expm1", "hypot", "lgamma", "pow", "sinh", "tan", "tgamma")
BOUNDED = NARROWED.difference(UNBOUNDED)
"""Those whose values are floats for all floats."""

MODERATE = 2.0**32
"""Constants up to this, and down to its reciprocal, over roots of floats are floats again."""


@record
class NarrowFunctions(Step):
    """Computes quotients and functions in `loop` in float whose operands are floats, and whose
    values only end in floats."""

    loop: str

    verb: ClassVar[str] = "narrow-functions"
    usage: ClassVar[str] = "narrow-functions LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if _narrowed(site.loop.body, symbols(fn)) != site.loop.body:
            return unmapped(site, "narrow functions")
        text = f"the loop over '{site.loop.var}' has no function of floats in double for a float"
        remedy = "name a loop that stores such as 1 / sqrt(x) in a float"
        return (Obstacle("LX275", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        body = _narrowed(site.loop.body, symbols(fn))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "their operands are floats, and their values only end in floats"


def _narrowed(body: tuple[Stmt, ...], types: Mapping[str, Scalar]) -> tuple[Stmt, ...]:
    found = _Narrowing(dict(types))

    def converted(e: Expr) -> Expr:
        if isinstance(e, Cast) and e.type == FLOAT:
            return replace(e, operand=found.narrowed(e.operand))
        return e

    def each(s: Stmt) -> tuple[Stmt, ...]:
        s = map_stmt_exprs(s, converted)
        ends = isinstance(s, Assign) and s.op in ("", "+", "-") and found.type(s.target) == FLOAT
        if ends and isinstance(s, Assign):
            s = replace(s, value=found.narrowed(s.value, summed=bool(s.op)))
        return (s,)

    return map_body(body, each)


class _Narrowing:
    """Narrows expressions of names with such `types`."""

    def __init__(self, types: dict[str, Scalar]) -> None:
        self.types = types

    def type(self, e: Expr) -> Scalar:
        return type_of(e, self.types)

    def narrowed(self, e: Expr, *, summed: bool = False) -> Expr:
        """A value that only ends in a float, or is `summed` before it does; the same where nothing
        can be done."""
        match e:
            case Bin("+" | "-", left, right):
                left2, right2 = (self.narrowed(x, summed=True) for x in (left, right))
                same = left2 is left and right2 is right
                return e if same else self._sum(replace(e, left=left2, right=right2), summed)
            case Un("-" | "+", operand):
                inner = self.narrowed(operand, summed=summed)
                return e if inner is operand else replace(e, operand=inner)
            case Select(_, then, orelse):
                then2, orelse2 = (self.narrowed(x, summed=summed) for x in (then, orelse))
                if then2 is then and orelse2 is orelse:
                    return e
                return replace(e, then=self._exact(then2), orelse=self._exact(orelse2))
            case _:
                return e if summed and not self._is_bounded(e) else self._in_float(e) or e

    def _in_float(self, e: Expr) -> Expr | None:
        """A quotient, a product or a function in double as one of floats."""
        if not isinstance(e, Bin | Call) or self.type(e) != DOUBLE:
            return None
        match e:
            case Bin("/" | "*" as op, left, right):
                sides = self._operand(left), self._operand(right)
                if sides[0] is None or sides[1] is None:
                    return None
                new = op == "/" or any(self._is_root(x) for x in (left, right))
                constant = isinstance(left, Const) and isinstance(right, Const)
                return replace(e, left=sides[0], right=sides[1]) if new and not constant else None
            case Call(name, args) if name in NARROWED and e.type is None:
                found = [self._operand(x) for x in args]
                known = [x for x in found if x is not None]
                if len(known) < len(args) or all(isinstance(x, Const) for x in args):
                    return None
                return replace(e, name=f"{name}f", args=tuple(known))
        return None

    def _operand(self, e: Expr) -> Expr | None:
        """The operand of such an operation as a float; None where it is none, whatever the
        arguments are."""
        match e:
            case Const(value):
                return e if e.type == FLOAT else _constant(value)
            case Cast(type, operand) if type == DOUBLE and self.type(operand) == FLOAT:
                return operand
            case _ if self.type(e) == FLOAT:
                return e
            case Un("-" | "+", operand):
                inner = self._operand(operand)
                return None if inner is None else replace(e, operand=inner)
            case _:
                return self._in_float(e) if self._is_root(e) else None

    def _sum(self, e: Bin, summed: bool) -> Bin:
        """A sum of which an operand is a float now, in double if its value has to be exact."""
        e = replace(e, left=self._exact(e.left), right=self._exact(e.right))
        if summed and self.type(e) == FLOAT:
            return replace(e, left=Cast(DOUBLE, e.left))
        return e

    def _exact(self, e: Expr) -> Expr:
        """Beside a float: whole numbers, most of which are no floats, as doubles."""
        known = self.type(e) in (FLOAT, DOUBLE)
        known |= isinstance(e, Const) and _constant(e.value) is not None
        return e if known else Cast(DOUBLE, e)

    def _is_bounded(self, e: Expr) -> bool:
        """Whether it is a float whatever its operands are, but for what is rounded."""
        match e:
            case Call(name, args):
                bounded = name in BOUNDED and all(self._operand(x) is not None for x in args)
                return bounded or self._is_root(e)
            case Bin("/", _, Const(c)):
                return abs(c) >= 1
            case _:
                return self._is_root(e)

    def _is_root(self, e: Expr) -> bool:
        """Whether it is the root of a float in double, or a constant over one: in the range of
        floats."""
        match e:
            case Call("sqrt", (x,)):
                return self.type(e) == DOUBLE and self._operand(x) is not None
            case Bin("/", Const(c) | Un("-", Const(c)), Call() as below):
                return 1 / MODERATE <= abs(c) <= MODERATE and self._is_root(below)
            case Un("-" | "+", operand):
                return self._is_root(operand)
            case _:
                return False


def _constant(value: float) -> Const | None:
    """A number as a float, where it is one."""
    try:
        (nearest,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return None
    exact = nearest == value and isfinite(nearest)
    return Const(nearest, FLOAT, f"{nearest!r}f") if exact else None
