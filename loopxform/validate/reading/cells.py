"""Elements of arrays and variables: from instances of a statement to cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeGuard

import islpy as isl
from pycparser import c_ast

from loopxform.validate.ctypes import INT, CType
from loopxform.validate.model import Array, Expr, Gather, Read, Whole
from loopxform.validate.polynomials import ONE, Plain, Polynomial, split
from loopxform.validate.reading.scopes import Scopes
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Cell, Content, Digits, Value
from loopxform.validate.unmodelled import Unmodelled

_SITES = count(1)


@dataclass
class Cells(Scopes):
    """Private and local arrays have the numbers of the groups and items in front of their
    subscripts."""

    strides: dict[str, list[Plain]] = field(default_factory=dict)
    """Those of the subscripts of each array of the caller."""
    recording: bool = False
    """Only looks which strides arrays have."""

    def new_cell(self, name: str, type: CType, sizes: Sequence[int], kind: str, line: int) -> Cell:
        """Of a declaration: each has an array of its own."""
        n = sum(1 for a in self.program.arrays if a.partition("#")[0] == f"{self.prefix}{name}")
        extents = tuple({ONE: e} if e else {} for e in sizes)
        array = Array(f"{self.prefix}{name}#{n}", kind, type, extents, line)
        self.program.arrays[array.name] = array
        return Cell(array, sizes=tuple(sizes), depth=len(self.flags))

    def cells(self, cell: Cell, places: Sequence[Polynomial], node: c_ast.Node) -> isl.Map:
        """From instances of a statement to the cell of an array, with these subscripts."""
        array = cell.array
        if array.kind in ("global", "scratch"):
            indices = self._subscripts(array, places, node)
        else:
            own = {"private": (*self.groups, *self.items), "local": self.groups}[array.kind]
            if len(places) != len(cell.sizes):
                raise Unmodelled(f"a part of {array.name}", line_of(node))
            indices = [self.dimension(d) for d in own]
            indices += [self.affine_of(p, node) for p in places]
        m = isl.Map.from_domain(isl.Set.universe(self.domain.get_space()))
        for x in indices:
            m = m.flat_range_product(isl.Map.from_pw_aff(x))
        return m.set_tuple_name(isl.dim_type.out, array.name)

    def _subscripts(
        self, array: Array, places: Sequence[Polynomial], node: c_ast.Node
    ) -> list[isl.PwAff]:
        inner = array.extents[1:]
        if len(places) != 1:
            raise Unmodelled(f"the value of the pointer {array.name}", line_of(node))
        (offset,) = places
        if self.recording and not inner and array.extents[0] is None:
            some = next(iter(offset.terms.values()))
            return [some.sub(some)]
        known = tuple(e for e in inner if e is not None)
        if len(known) != len(inner):
            raise Unmodelled(f"the shape of {array.name}", line_of(node))
        return list(split(offset, known, line_of(node)))

    def element(self, cell: Cell, places: Sequence[Content], node: c_ast.Node) -> Expr:
        """What is read there."""
        array = cell.array
        if decided(places):
            cells = self.cells(cell, places, node).intersect_domain(self.domain)
            return Read(array.name, cells, array.type, line_of(node))
        if array.kind != "global":
            raise Unmodelled("a variable array at a place that data decide", line_of(node))
        (at,) = places
        index = self.expression((at, INT), node)
        return Gather(array.name, index, array.type, line_of(node), next(_SITES))

    def affine_of(self, v: Content, node: c_ast.Node | None = None) -> isl.PwAff:
        a = v.affine if isinstance(v, Polynomial) else None
        if a is None:
            raise Unmodelled("a number that is no affine one", line_of(node))
        return a

    def expression(self, value: Value, node: c_ast.Node | None = None) -> Expr:
        v, t = value
        if isinstance(v, Digits):
            raise Unmodelled("the number of a group that is counted by a product", line_of(node))
        return Whole(v, t) if isinstance(v, Polynomial) else v

    def whole(self, value: int) -> Whole:
        return Whole(self.number(value), INT)


def decided(places: Sequence[Content]) -> TypeGuard[Sequence[Polynomial]]:
    """Whether iterations and parameters decide each of these subscripts."""
    return all(isinstance(p, Polynomial) for p in places)
