"""What names stand for, and what expressions come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import islpy as isl

from loopxform.validate.ctypes import CType
from loopxform.validate.model import Array, Expr
from loopxform.validate.polynomials import Polynomial


@dataclass(frozen=True)
class Cell:
    """A variable or an array that a name stands for."""

    array: Array
    extents: tuple[Polynomial | None, ...] = ()
    """Of an array of the caller, as its declaration has them."""
    sizes: tuple[int, ...] = ()
    """Of an array that the function declares."""
    depth: int = 0
    """Of the conditions around its declaration."""


@dataclass(frozen=True)
class Digits:
    """A number written in digits of several sizes, the first counts most: of the groups of a launch
    that are counted by a product. Their sizes are parameters, so the number is no affine one."""

    digits: tuple[tuple[Polynomial, Polynomial], ...]
    divisors: tuple[Polynomial, ...] = ()
    """By which it is divided as well."""

    def lifted(self, dims: int) -> Digits:
        """In a space with so many dimensions, new ones behind."""
        digits = tuple((d.lifted(dims), s.lifted(dims)) for d, s in self.digits)
        return Digits(digits, tuple(d.lifted(dims) for d in self.divisors))


Binding = Cell | Expr
Content = Polynomial | Digits | Expr
"""A Polynomial where it follows from iterations and parameters."""
Value = tuple[Content, CType]
Pieces = list[tuple[isl.Set, bool | Expr]]
"""A condition: on which part of the domain it holds, does not, or data decide."""


def gathered(pieces: Iterable[tuple[isl.Set, bool | Expr]]) -> Pieces:
    """Without empty parts, those of one answer joined."""
    decided: dict[bool, isl.Set] = {}
    by_data: Pieces = []
    for where, holds in pieces:
        if where.is_empty():
            continue
        if isinstance(holds, bool):
            decided[holds] = decided[holds].union(where) if holds in decided else where
        else:
            by_data.append((where, holds))
    return [*((w.coalesce(), h) for h, w in decided.items()), *by_data]
