"""Conversion on copy:
uchar a_loc[n]; ... s += w * (float)a_loc[k] -> float a_loc[n]; ... s += w * a_loc[k]

A tile holds what its elements are computed with, so that each is converted once, as it is copied,
and not wherever it is read: devices convert some eight times slower than they multiply. Legal where
C converts every element that is read to one and the same floating type: all reads are of what that
conversion gives. What is moved as it is keeps its type (and its bits), and so do integers that are
computed with as integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Bin, Cast, Copy, Decl, Expr, Function, Load, Select, Stmt, Un
from loopxform.ir.types import Scalar, Space, common, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import children, declared, map_body, stmt_exprs, walk
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class ConvertOnCopy(Step):
    """Keeps what the local tile `tile` is filled with in the type that it is read as."""

    tile: str

    verb: ClassVar[str] = "convert-on-copy"
    former: ClassVar[tuple[str, ...]] = ("convert",)
    usage: ClassVar[str] = "convert-on-copy TILE"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        filled = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.target == self.tile]
        own = declared(fn.body).get(self.tile)
        if own is None or own.space is not Space.LOCAL or not filled:
            text, where = f"'{self.tile}' is not a copy in local memory", fn.origin.loc
            remedy = "stage an array first: copy-to-local ARRAY LOOP"
            return (Obstacle("LX188", text, where, remedy=remedy),)
        where = filled[0].origin.loc
        if any(s.width > 1 for s in filled):
            text = f"vectors of '{self.tile}' are moved, of the type that it has"
            return (Obstacle("LX188", text, where, remedy="convert-on-copy it first"),)
        if read_as(fn, fn.body, self.tile) == own.type:
            text = f"'{self.tile}' is not converted to one other floating type wherever it is read"
            return (Obstacle("LX188", text, where, remedy="leave it as it is"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        kind = read_as(fn, fn.body, self.tile)

        def converted(s: Stmt) -> tuple[Stmt, ...]:
            if isinstance(s, Decl) and s.name == self.tile:
                return (replace(s, type=kind, origin=s.origin.then(str(self))),)
            return (s,)

        return replace(fn, body=map_body(fn.body, converted))

    def reason(self, fn: Function) -> str:
        kind = read_as(fn, fn.body, self.tile)
        return f"every element of {self.tile} that is read is converted to {kind}"


def read_as(fn: Function, body: tuple[Stmt, ...], array: str) -> Scalar:
    """The floating type that every read of `array` in a body of the function is converted to; its
    own type where there is none, or several."""
    reads = _Reads(array, symbols(fn))
    found = {t for _, s in walk(body) for t in reads.of(s)}
    (only,) = found if len(found) == 1 else (reads.own,)
    return only if only.is_float else reads.own


@record
class _Reads:
    """The types that elements of an array are converted to where they are read, their own where
    they are used as they are."""

    array: str
    types: dict[str, Scalar]

    @property
    def own(self) -> Scalar:
        return self.types[self.array]

    def of(self, s: Stmt) -> Iterator[Scalar]:
        match s:
            case Assign(target, value, op):
                to = type_of(Bin(op, target, value), self.types) if op else self._type(target)
                yield from self._value(value, to)
                for e in children(target):
                    yield from self._plain(e)
            case _:
                if isinstance(s, Copy) and s.source == self.array:
                    yield self.own
                for e in stmt_exprs(s):
                    yield from self._plain(e)

    def _plain(self, e: Expr) -> Iterator[Scalar]:
        """In an expression that is used as it is."""
        return self._value(e, self._type(e))

    def _value(self, e: Expr, to: Scalar) -> Iterator[Scalar]:
        """In an expression whose value is converted to a type."""
        match e:
            case Load(name) if name == self.array:
                yield to
            case Bin(op, left, right) if op not in ("&&", "||", "<<", ">>"):
                both = common(self._type(left), self._type(right))
                yield from self._value(left, both)
                yield from self._value(right, both)
                return
            case Un("-" | "+" | "~", operand):
                kind = promote(self._type(operand))
                yield from self._value(operand, to if kind.is_float else kind)
                return
            case Cast(kind, operand):
                yield from self._value(operand, kind)
                return
            case Select(cond, then, orelse):
                kind = self._type(e)
                alike = self._type(then) == self._type(orelse) == kind
                yield from self._plain(cond)
                for x in (then, orelse):  # else the other one would not become of that type first
                    yield from self._value(x, to if alike else kind)
                return
        for x in children(e):
            yield from self._plain(x)

    def _type(self, e: Expr) -> Scalar:
        return type_of(e, self.types)
