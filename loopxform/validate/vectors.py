"""Vectors of kernels as their elements, one by one:

    const float2 v = vload2(0, &a[i]);    const float v.s0 = a[i]; const float v.s1 = a[i + 1];
    x = v.s1;                             x = v.s1;
    vstore2((float2)(p, q), 0, &b[j]);    b[j] = p; b[j + 1] = q;

A pointer to vectors (`*(float2 *)&a[i]`) leads to the same elements, and so does one to words of
which vectors are made (`as_uchar8(*(uint2 *)&a[i])`). Whatever else a kernel does with vectors, and
those that may change, stay in the tree, where no type is known by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pycparser import c_ast

from loopxform.validate.ctypes import CType, named
from loopxform.validate.unmodelled import Unmodelled

_NODE: Any = c_ast
"""pycparser's constructors, which have no types."""
_BASES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
_WIDTHS = (2, 4, 8, 16)
TYPES = f"typedef int {', '.join(f'{base}{n}' for base in _BASES for n in _WIDTHS)};"
"""So that the parser takes the names for those of types."""

_VECTOR = re.compile(rf"({'|'.join(_BASES)})({'|'.join(map(str, _WIDTHS))})")
_STORED = "lx_stored"
"""Begins the names of what is computed before a vector is stored."""


def apart(tree: c_ast.FileAST) -> None:
    """Takes the vectors of all functions apart. Raises Unmodelled where one is read or stored as
    another type than its elements have."""
    for f in tree.ext:
        if isinstance(f, c_ast.FuncDef):
            _Function(f).take_apart()


class _Function:
    def __init__(self, f: c_ast.FuncDef) -> None:
        self.f = f
        self.types: dict[str, set[str]] = {}
        for d in _inside(f):
            if isinstance(d, c_ast.Decl) and d.name is not None:
                self.types.setdefault(d.name, set()).add(_type_name(d.type))

    def take_apart(self) -> None:
        self.f.body = self._statement(self.f.body)

    def _statement(self, s: Any) -> Any:
        """The statement without vectors."""
        match s:
            case c_ast.Compound():
                s.block_items = [y for x in s.block_items or () for y in self._items(x)]
            case c_ast.If():
                s.iftrue = self._statement(s.iftrue)
                s.iffalse = None if s.iffalse is None else self._statement(s.iffalse)
            case c_ast.For() | c_ast.While():
                s.stmt = self._statement(s.stmt)
            case _:
                stored = self._stored(s)
                return s if stored is None else _NODE.Compound(stored, s.coord)
        return s

    def _items(self, s: Any) -> list[Any]:
        if isinstance(s, c_ast.Decl) and isinstance(s.type, c_ast.TypeDecl) and _is_set_once(s):
            m = _VECTOR.fullmatch(_type_name(s.type))
            values = None if m is None else self._elements(s.init, m[1], int(m[2]))
            if m is not None and values is not None:
                own = (f"{s.name}.s{n:x}" for n in range(len(values)))
                return [_declared(n, m[1], v, s.coord) for n, v in zip(own, values)]
        return [self._statement(s)]

    def _stored(self, s: Any) -> list[Any] | None:
        """What stores a vector: its elements are computed before the first of them is stored."""
        match s:
            case c_ast.FuncCall(
                name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[value, offset, at])
            ) if m := re.fullmatch(r"vstore(\d+)", name):
                kind = _array_type(self.types, at)
                values = self._elements(value, kind, int(m[1]))
                if not _is_zero(offset):
                    return None
            case c_ast.Assignment(op="=", lvalue=c_ast.UnaryOp(op="*", expr=c_ast.Cast() as cast)):
                at, kind = cast.expr, _array_type(self.types, cast.expr)
                count = _elements_of(_pointed(cast), kind)
                values = None if count is None else self._elements(s.rvalue, kind, count)
            case _:
                return None
        if values is None:
            return None
        own = [f"{_STORED}.s{n:x}" for n in range(len(values))]
        out = [_declared(name, kind, v, s.coord) for name, v in zip(own, values)]
        for n, name in enumerate(own):
            out.append(_NODE.Assignment("=", _at(at, n), _NODE.ID(name, s.coord), s.coord))
        return out

    def _elements(self, e: Any, kind: str, count: int) -> list[Any] | None:
        """What a vector is made of, as so many numbers of a type; None where it cannot be told."""
        match e:
            case c_ast.ID() if self.types.get(e.name) == {f"{kind}{count}"}:
                return [_NODE.StructRef(e, ".", _NODE.ID(f"s{n:x}"), e.coord) for n in range(count)]
            case c_ast.FuncCall(
                name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[offset, at])
            ) if name == f"vload{count}":
                self._require(at, kind)
                return [_at(at, n) for n in range(count)] if _is_zero(offset) else None
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[bits])) if (
                name.startswith("as_")
            ):
                own = _size_of(name.removeprefix("as_")) == _size_of(f"{kind}{count}")
                return self._elements(bits, kind, count) if own else None
            case c_ast.UnaryOp(op="*", expr=c_ast.Cast() as cast):
                if _elements_of(_pointed(cast), kind) != count:
                    return None
                self._require(cast.expr, kind)
                return [_at(cast.expr, n) for n in range(count)]
            case c_ast.Cast(expr=c_ast.ExprList(exprs=parts)):
                return self._parts(parts, _type_name(e.to_type.type), kind, count)
        return None

    def _parts(self, parts: Sequence[Any], made: str, kind: str, count: int) -> list[Any] | None:
        """Of a list: numbers of the type, or words that hold several."""
        m = _VECTOR.fullmatch(made)
        if m is None or int(m[2]) != len(parts):
            return None
        if made == f"{kind}{count}":
            return list(parts)
        each = _elements_of(m[1], kind)
        if each is None or each * len(parts) != count:
            return None
        found = [self._elements(p, kind, each) for p in parts]
        return None if None in found else [x for part in found for x in part or ()]

    def _require(self, at: Any, kind: str) -> None:
        found = _array_type(self.types, at)
        if found != kind:
            what = "a vector of another type than the array has"
            raise Unmodelled(what if found else "a vector at a place that is computed", _line(at))


def _array_type(types: dict[str, set[str]], at: Any) -> str:
    """The type of the elements that `&a[i]` points to; "" where that is not told."""
    base = at.expr if isinstance(at, c_ast.UnaryOp) and at.op == "&" else None
    if not isinstance(base, c_ast.ArrayRef):
        return ""
    while isinstance(base, c_ast.ArrayRef):
        base = base.name
    found = types.get(base.name, set()) if isinstance(base, c_ast.ID) else set()
    return next(iter(found)) if len(found) == 1 else ""


def _at(at: Any, n: int) -> Any:
    """Element n behind `&a[i]`, which 64 bits hold the place of."""
    first = at.expr
    if n == 0:
        return first
    long = _NODE.TypeDecl(None, [], None, _NODE.IdentifierType(["long"]))
    wide = _NODE.Cast(_NODE.Typename(None, [], None, long), first.subscript, at.coord)
    moved = _NODE.BinaryOp("+", wide, _NODE.Constant("int", str(n)), at.coord)
    return _NODE.ArrayRef(first.name, moved, at.coord)


def _declared(name: str, kind: str, value: Any, coord: Any) -> Any:
    type = _NODE.TypeDecl(name, ["const"], None, _NODE.IdentifierType([kind]), coord)
    return _NODE.Decl(name, ["const"], [], [], [], type, value, None, coord)


def _pointed(cast: Any) -> str:
    """The type that a cast to a pointer leads to; "" for other casts."""
    t = cast.to_type.type
    return _type_name(t.type) if isinstance(t, c_ast.PtrDecl) else ""


def _type_name(t: Any) -> str:
    """The name of a type, of its elements where it is an array or a pointer."""
    while isinstance(t, c_ast.ArrayDecl | c_ast.PtrDecl):
        t = t.type
    if isinstance(t, c_ast.TypeDecl) and isinstance(t.type, c_ast.IdentifierType):
        return " ".join(t.type.names)
    return "?"


def _elements_of(made: str, kind: str) -> int | None:
    """How many numbers of a type a vector, or a word, holds."""
    size, each = _size_of(made), _size_of(kind)
    return None if not size or not each or size % each else size // each


def _size_of(type: str) -> int:
    """In bits; 0 for what is neither a number nor a vector."""
    m = _VECTOR.fullmatch(type)
    base: CType | None = named([m[1] if m else type])
    return 0 if base is None else base.bits * int(m[2] if m else 1)


def _is_set_once(d: Any) -> bool:
    return "const" in d.quals and d.init is not None


def _is_zero(e: Any) -> bool:
    return isinstance(e, c_ast.Constant) and e.value == "0"


def _line(e: Any) -> int:
    return int(e.coord.line) if getattr(e, "coord", None) is not None else 0


def _inside(node: Any) -> Iterator[Any]:
    yield node
    for _, child in node.children():
        yield from _inside(child)
