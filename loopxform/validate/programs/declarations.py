"""Arrays of the caller, as parameters declare them: one of structs is an array for each member."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from loopxform.validate.ctypes import BOOL, HALF, CType, named
from loopxform.validate.model import Array
from loopxform.validate.polynomials import Plain, Polynomial, merged, plain
from loopxform.validate.reading.reader import Reader
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Cell
from loopxform.validate.unmodelled import Unmodelled

Shapes = dict[str, tuple[Plain | None, ...]]
"""Extents by the name of an array, outermost first."""
Structs = dict[str, c_ast.Struct]


def structs_of(tree: c_ast.FileAST) -> Structs:
    """By tag and by the name of a typedef."""
    structs: Structs = {}
    for d in tree.ext:
        t = getattr(d, "type", None)
        while isinstance(t, c_ast.TypeDecl):
            t = t.type
        if isinstance(t, c_ast.Struct) and t.decls is not None:
            structs |= {n: t for n in (t.name, d.name) if n}
    return structs


@dataclass(frozen=True)
class Declarations:
    """`shapes` are those that subscripts tell, of arrays whose declarations do not."""

    reader: Reader
    structs: Structs
    shapes: Shapes

    def bind(self, d: c_ast.Decl) -> dict[str, Cell]:
        """The array of a declaration, or one for each member of its structs, bound by name."""
        dims, elements = self._dims(d)
        known = tuple(None if x is None else plain(x) for x in dims)
        cells: dict[str, Cell] = {}
        for member, type in self._members(elements).items():
            name = d.name + member
            array = Array(name, "global", type, self.shapes.get(name) or merged(known), line_of(d))
            cells[name] = Cell(array, tuple(dims))
            self.reader.program.arrays[name] = array
            self.reader.bind(name, cells[name])
        return cells

    def _dims(self, d: c_ast.Decl) -> tuple[list[Polynomial | None], c_ast.Node]:
        """The extents of an array, None for a pointer's, and the type of its elements."""
        dims: list[Polynomial | None] = []
        t = d.type
        while isinstance(t, c_ast.ArrayDecl | c_ast.PtrDecl):
            dim = t.dim if isinstance(t, c_ast.ArrayDecl) else None
            value = self.reader.expr(dim)[0] if dim is not None else None
            if value is not None and not isinstance(value, Polynomial):
                raise Unmodelled(f"the size of {d.name}", line_of(d))
            dims.append(value)
            t = t.type
        return dims, t.type if isinstance(t, c_ast.TypeDecl) else t

    def _members(self, elements: c_ast.Node) -> dict[str, CType]:
        """The types of a struct's members that are numbers, by `.name`; of a number its own."""
        if isinstance(elements, c_ast.IdentifierType):
            type = named(elements.names)
            if type is not None:
                return {"": type}
            struct = self.structs.get(elements.names[-1])
        elif isinstance(elements, c_ast.Struct):
            struct = elements if elements.decls is not None else self.structs.get(elements.name)
        else:
            struct = None
        members: dict[str, CType] = {}
        for m in (struct.decls if struct is not None else None) or ():
            inner = m.type.type if isinstance(m.type, c_ast.TypeDecl) else None
            type = named(inner.names) if isinstance(inner, c_ast.IdentifierType) else None
            if type is not None:
                members[f".{m.name}"] = type
        return members


STORED = {BOOL: CType("int", 8, False), HALF: CType("int", 16, False)}
"""What kernels take for types that OpenCL C may lack."""


def same_type(r: Reader, array: Array, member: str, p: c_ast.Decl, structs: Structs) -> None:
    """The elements of a kernel's parameter are those of the user's array. Raises Unmodelled."""
    elements = p.type.type
    if not member:
        type, _ = r.declared(elements)
    else:
        names = getattr(elements.type, "names", None) or [elements.type.name]
        struct = structs.get(names[-1])
        types = {m.name: m.type for m in (struct.decls if struct is not None else ())}
        if member[1:] not in types:
            raise Unmodelled(f"the member {member} of {p.name}", line_of(p))
        type, _ = r.declared(types[member[1:]])
    stored = STORED.get(array.type, array.type)
    if type != stored:
        raise Unmodelled(f"the type of {p.name}", line_of(p))
