"""Innermost loops that walk along columns: how many pages of memory they touch.

    for k: C[i][j] += A[k][i] * A[k][j]         two columns: a page of each row, or of some rows

An iteration touches a line of its own in a row of its own. A loop that reads more pages than the
processor keeps translations of has to fetch them again when it comes back, however much of each
line the loops around it use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopxform.codegen.host.amounts import (
    Unbounded,
    is_literal,
    least,
    literal,
    times,
    total,
    value,
)
from loopxform.ir.affine import poly, to_expr
from loopxform.ir.nodes import Decl, Function, Load
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk

PAGE = 4096
"""Bytes of a page, unless the system has larger ones."""

LINE = 64
"""Bytes of a line of a cache: neighbours that are closer share it."""


class Columns:
    """The columns of the arrays of a function."""

    def __init__(self, fn: Function) -> None:
        own = {s.name: s.shape for _, s in walk(fn.body) if isinstance(s, Decl)}
        self._shapes = {p.name: p.shape for p in fn.objects} | own
        self._types = symbols(fn)

    def pages(self, places: Iterable[Load], counter: str, known: Mapping[str, str]) -> str:
        """Pages that an iteration of the loop over `counter` touches anew, in double, at most one
        for each place; a place whose rows have no length that is `known` counts none."""
        return total(*(self._pages(x, counter, known) for x in dict.fromkeys(places)))

    def _pages(self, place: Load, counter: str, known: Mapping[str, str]) -> str:
        try:
            stride = self._stride(place, counter, known)
        except Unbounded:
            return "0"
        if is_literal(stride):
            bytes = abs(float(stride))
            return literal(min(1.0, bytes / PAGE)) if bytes >= LINE else "0"
        return least("1", times(literal(1 / PAGE), stride))

    def _stride(self, place: Load, counter: str, known: Mapping[str, str]) -> str:
        """Bytes from an iteration to the next. Raises Unbounded."""
        step, terms = literal(self._types[place.array].bytes), list[str]()
        for index, extent in zip(
            reversed(place.index), reversed(self._shapes.get(place.array, ()))
        ):
            moved = value(to_expr(poly(index).coefficient(counter)), known)
            terms.append(times(moved, step))
            step = "0" if extent is None else times(step, value(extent, known))
        return total(*terms)
