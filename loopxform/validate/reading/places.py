"""What can be stored to: declared types, and the cells that expressions name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycparser import c_ast

from loopxform.validate.ctypes import LONG, CType, named
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.cells import decided
from loopxform.validate.reading.desugar import whole_number
from loopxform.validate.reading.operations import Operations
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Cell, Content, Value
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Places(Operations):
    def declared(self, t: c_ast.Node) -> tuple[CType, list[c_ast.Node | None]]:
        """The type of the elements, and the extents."""
        dims: list[c_ast.Node | None] = []
        while isinstance(t, c_ast.ArrayDecl):
            dims.append(t.dim)
            t = t.type
        if isinstance(t, c_ast.PtrDecl):
            raise Unmodelled("a pointer variable", line_of(t))
        if isinstance(t, c_ast.TypeDecl) and isinstance(t.type, c_ast.IdentifierType):
            type = named(t.type.names)
            if type is not None:
                return type, dims
            raise Unmodelled(f"the type {' '.join(t.type.names)}", line_of(t))
        raise Unmodelled("a variable of a struct", line_of(t))

    def place(self, e: c_ast.Node) -> tuple[Cell, Sequence[Polynomial]]:
        """What an expression that can be stored to stands for. Arrays of the caller have one place,
        their offset."""
        cell, places = self.reached(e)
        if not decided(places):
            raise Unmodelled("a store at a place that data decide", line_of(e))
        return cell, places

    def reached(self, e: c_ast.Node) -> tuple[Cell, Sequence[Content]]:
        """The same, for a read."""
        name, subscripts = _path(e)
        cell = self.find(name, e)
        if not isinstance(cell, Cell):
            raise Unmodelled(f"a store to {name}, which follows from others", line_of(e))
        places = [self.expr(x)[0] for x in subscripts]
        if cell.array.kind in ("global", "scratch") and places:
            return cell, [self._offset(cell, places, e)]
        return cell, places

    def _offset(self, cell: Cell, places: Sequence[Content], e: c_ast.Node) -> Content:
        """Of an element of an array of the caller, in elements."""
        if len(places) == 1:
            (at,) = places
            if isinstance(at, Polynomial):
                self.strides.setdefault(cell.array.name, []).extend(at.strides)
            return at
        if len(places) != len(cell.extents):
            raise Unmodelled(f"a row of {cell.array.name}", line_of(e))
        offset: Value = (places[0], LONG)
        for size, at in zip(cell.extents[1:], places[1:]):
            assert size is not None
            offset = self.binary("*", offset, (size.lifted(self.dims), LONG), e)
            offset = self.binary("+", offset, (at, LONG), e)
        return offset[0]


def _path(e: c_ast.Node) -> tuple[str, list[c_ast.Node]]:
    """The name that an expression begins with, members included, and its subscripts."""
    member = ""
    subscripts: list[c_ast.Node] = []
    base = e
    while not isinstance(base, c_ast.ID):
        match base:
            case c_ast.ArrayRef():
                subscripts.insert(0, base.subscript)
                base = base.name
            case c_ast.StructRef():
                if subscripts and base.type == ".":
                    raise Unmodelled("an array in a struct", line_of(e))
                member = f".{base.field.name}{member}"
                if base.type == "->":
                    subscripts.insert(0, whole_number(0))
                base = base.name
            case c_ast.UnaryOp() if base.op == "*":
                subscripts.insert(0, whole_number(0))
                base = base.expr
            case _:
                raise Unmodelled("a pointer that is computed", line_of(e))
    return f"{base.name}{member}", subscripts
