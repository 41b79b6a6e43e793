"""Array arguments: how much of each the user's program may touch, and when it touches any."""

from __future__ import annotations

from dataclasses import dataclass

from loopxform.analysis.extent import Extent, explain
from loopxform.errors import EmitError
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, Function, Param, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import reads, writes
from loopxform.transforms.bounds import conjunction, conjuncts


@dataclass(frozen=True)
class Buffer:
    """An array argument: how many elements the program may touch, and when it touches any."""

    param: Param
    count: Expr
    when: Expr | None
    read: bool
    written: bool


def buffer_of(start: Function, p: Param) -> Buffer:
    """The part of an array that `start` touches and that exists for certain, so that it may be
    copied. Raises EmitError where that is not known."""
    found = _extent(start, p)
    if p.flat and len(p.shape) > 1 and not found.corner:
        raise EmitError(
            f"where the part of '{p.name}' that is touched ends is not known",
            loc=p.origin.loc,
            help=f"declare it with its shape: {p.type} {p.name}[n][m]",
        )
    return _buffer(start, p, found)


def span_of(start: Function, p: Param) -> Buffer:
    """As `buffer_of`, but the part may end beyond the last element that is touched: enough to
    compare addresses. Raises EmitError."""
    return _buffer(start, p, _extent(start, p))


def _extent(start: Function, p: Param) -> Extent:
    found = explain(start, p.name)
    if isinstance(found, Extent):
        return found
    raise EmitError(
        found.obstacle.message,
        loc=found.obstacle.loc or p.origin.loc,
        help=found.obstacle.remedy,
    )


def _buffer(start: Function, p: Param, found: Extent) -> Buffer:
    read, written = p.name in reads(start.body), p.name in writes(start.body)
    when = None if found.when is None else _told(found.when, symbols(start))
    return Buffer(p, _elements(p, found), when, read, written)


def _told(when: Expr, types: dict[str, Scalar]) -> Expr | None:
    """Without what the types say already: an unsigned number is not negative."""
    left = [c for c in conjuncts(when) if not _always(c, types)]
    return conjunction(left) if left else None


def _always(c: Expr, types: dict[str, Scalar]) -> bool:
    match c:
        case Bin(">=", Var(name), Const(0)):
            return types[name].is_unsigned
        case _:
            return False


def _elements(p: Param, found: Extent) -> Expr:
    """Elements from the start of the array to the last one touched. For rows of a real C array the
    last row counts whole (it exists); a plain pointer ends at the last element itself."""
    rest = [d for d in p.shape[1:] if d is not None]
    if not p.flat:
        total = found.upper[0]
        for d in rest:
            total = Bin("*", total, d)
        return simplify(total)
    last: Expr = Bin("-", found.upper[0], Const(1))
    for size, upper in zip(rest, found.upper[1:]):
        last = Bin("+", Bin("*", last, size), Bin("-", upper, Const(1)))
    return simplify(Bin("+", last, Const(1)))
