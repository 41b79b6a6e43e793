"""Structs as one array per member: `p[i].x` is the element `i` of an array that is called `p.x`.

Different members of an object never overlap, so they are different arrays. A member that is an
array adds its dimensions (`p[i].v[k]`); one that is a pointer, of a single struct, is an array of
its own (`s->a[i]`) as long as nothing in the function can set it. Bit-fields, unions that are used
under several names (see `unions`) and members of other types are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.names.ctype import (
    Array,
    CType,
    Derived,
    Func,
    Lookup,
    Pointer,
    ctype,
    record_key,
)
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.names.unions import direct_members, other_names
from loopxform.frontend.syntax.layouts import USUAL, Layouts
from loopxform.frontend.syntax.tree import every
from loopxform.ir.nodes import Const, Expr
from loopxform.ir.records import Field, Record, record
from loopxform.ir.types import Scalar

Fields = dict[str, CType]
Size = Callable[[c_ast.Node], int | None]
Listed = tuple[str, CType, tuple[int, ...]]


@dataclass
class Records:
    """The structs of a file: the members of each that can be modelled."""

    fields: dict[str, Fields]
    whole: set[str] = field(default_factory=set)
    """Those whose members are all modelled, none of them a pointer."""
    types: dict[str, Fields] = field(default_factory=dict)
    """The types of all members that have names."""
    united: set[str] = field(default_factory=set)
    """The structs that unions hold."""
    listed: dict[str, list[Listed | None]] = field(default_factory=dict)
    """Every member in its order, with the sizes of its arrays; None where they are not known."""
    rows_apart: bool = False
    """Whether members that lead to rows by pointers count as arrays of them."""
    has_matrices: bool = False
    """Whether those that are pointers to pointers to scalars do."""
    mentioned: frozenset[str] = frozenset()
    """The names of the members that the file mentions."""
    first_names: dict[tuple[str, str], str] = field(default_factory=dict)
    """For members of unions that are one under several names, the name that stands for all."""
    layouts: Layouts = USUAL
    open_ended: set[tuple[str, str]] = field(default_factory=set)
    """Members at the end of structs that may be longer than they are declared: `double x[1];`, of
    which as much is there as was allocated, and structs that end so."""

    def define(self, node: c_ast.Node | None, typedef: Lookup, size: Size) -> None:
        """Learns every struct that a declaration defines; `size` evaluates sizes of arrays."""
        for n in every(node):
            if isinstance(n, c_ast.Union) and n.decls is not None:
                held = (ctype(d.type, typedef) for d in n.decls if isinstance(d, c_ast.Decl))
                self.united |= {t.record for t in held if t.record}
            if not isinstance(n, c_ast.Struct | c_ast.Union) or n.decls is None:
                continue
            key = record_key(n)
            self.fields[key] = dict(self._fields(n, typedef, size))
            for name, first in other_names(n, self.mentioned, typedef).items():
                self.first_names[key, name] = first
            if isinstance(n, c_ast.Struct):
                named = (d for d in n.decls if isinstance(d, c_ast.Decl) and d.name)
                self.types[key] = {d.name: ctype(d.type, typedef) for d in named}
                usual = self.layouts.usual(n)
                self.listed[key] = [_listed(d, typedef, size) if usual else None for d in n.decls]
                types = list(self.fields[key].values())
                inner = all(not t.record or t.record in self.whole for t in types)
                listed = [getattr(d, "name", None) for d in n.decls]
                every_one = listed == [*self.fields[key]]
                if inner and every_one and not any(map(is_pointer_member, types)):
                    self.whole.add(key)

    def _fields(
        self, node: c_ast.Struct | c_ast.Union, typedef: Lookup, size: Size
    ) -> Iterator[tuple[str, CType]]:
        for d, united in direct_members(node, self.mentioned, typedef):
            t = _modelled(d, typedef, size) if d.bitsize is None else None
            if t is None:
                continue
            others = t.record and t.record != record_key(node)
            rows = len(t.derived) == 1 and isinstance(t.derived[0], Pointer)
            inside = t.record and all(isinstance(a, Array) for a in t.derived)
            matrix = self.has_matrices and all(isinstance(x, Pointer) for x in t.derived)
            apart = (self.rows_apart or matrix) and t.is_rows
            if self._is_open_ended(node, d, t):
                self.open_ended.add((record_key(node), d.name))
                if not self.rows_apart:
                    continue
            if t.is_scalar or t.is_array or apart or inside or (others and rows):
                yield d.name, replace(t, united=united)

    def _is_open_ended(self, node: c_ast.Struct | c_ast.Union, d: c_ast.Decl, t: CType) -> bool:
        """Whether a member ends its struct with an array of one element or none, as compilers take
        such arrays to be longer (gcc: -fstrict-flex-arrays=1); the size is a number."""
        if isinstance(node, c_ast.Union) or d is not (node.decls or [None])[-1]:
            return False
        if t.record and not t.derived:
            return any(key == t.record for key, _ in self.open_ended)
        size = t.derived[0].size if t.derived and isinstance(t.derived[0], Array) else None
        return isinstance(size, c_ast.Constant) and int(size.value) <= 1

    def first_name(self, t: CType, name: str) -> str:
        """The name that stands for a member."""
        return self.first_names.get((t.record, name), name)

    def field(self, t: CType, name: str) -> CType | None:
        """The type of a member of an object whose elements have type `t`."""
        return self.fields.get(t.record, {}).get(name) if t.record else None

    def layout(self, t: CType) -> Record | None:
        """How the structs that are the elements of `t` lie in memory; None where a member is not
        known well enough, or something is packed or aligned."""
        fields: list[Field] = []
        for d in self.listed.get(t.record, [None]):
            if d is None:
                return None
            name, inner, sizes = d
            kind: Scalar | Record | None = None
            if not any(isinstance(x, Pointer) for x in inner.derived):
                kind = self.layout(inner) if inner.record else inner.base
                if kind is None or any(isinstance(x, Func) for x in inner.derived):
                    return None
            fields.append((name, kind, sizes))
        return record(t.spelling, fields) if fields else None


def _listed(d: c_ast.Node, typedef: Lookup, size: Size) -> Listed | None:
    if not isinstance(d, c_ast.Decl) or not d.name or d.bitsize is not None or d.align:
        return None
    t = ctype(d.type, typedef)
    sizes: list[int] = []
    for x in t.derived:
        if isinstance(x, Pointer):
            break
        value = size(x.size) if isinstance(x, Array) and x.size is not None else None
        if value is None or value <= 0:
            return None
        sizes.append(value)
    return d.name, t, tuple(sizes)


def _modelled(d: c_ast.Decl, typedef: Lookup, size: Size) -> CType | None:
    """The type of a member, its sizes as numbers; None where one is not known."""
    t = ctype(d.type, typedef)
    values = [size(a.size) if a.size else None for a in t.derived if isinstance(a, Array)]
    if t.is_any_volatile or None in values:
        return None
    numbers = iter(build.number(v or 0, d) for v in values)
    derived = (replace(a, size=next(numbers)) if isinstance(a, Array) else a for a in t.derived)
    return replace(t, derived=tuple(derived))


def is_pointer_member(t: CType) -> bool:
    return bool(t.derived) and isinstance(t.derived[0], Pointer)


def member(owner: Symbol, name: str, t: CType, *, of_each: bool = False) -> Symbol:
    """The array (or scalar) that stands for one member, of type `t`, of the structs of `owner`.
    Pointers `of_each` of several structs lead to rows of one array."""
    pointer = is_pointer_member(t)
    alone = pointer and not (of_each and t.base is not None and owner.type.derived)
    derived = t.derived if alone else (*owner.type.derived, *t.derived)
    const, united = t.const or (owner.type.const and not pointer), t.united or owner.type.united
    whole = replace(t, derived=derived, const=const, united=united)
    sizes = tuple(_number(d) for d in t.derived)
    shape = (None, *sizes[1:]) if alone else (*owner.shape, *sizes)
    storage = owner.storage if not pointer else ()
    out = Symbol(f"{owner.name}.{name}", whole, owner.kind, owner.decl, storage, shape=shape)
    out.at, out.owner, out.member_type = owner.at, owner, t
    out.rows = t.is_rows or (pointer and not alone)
    return out


def _number(d: Derived) -> Expr | None:
    size = d.size if isinstance(d, Array) else None
    return Const(int(size.value)) if isinstance(size, c_ast.Constant) else None


def owner_of(node: c_ast.Node, table: Table, typedef: Lookup) -> Symbol | None:
    """The object whose elements are the structs that `node` names or points to."""
    match node:
        case c_ast.ID() | c_ast.StructRef():
            return table.of(node)
        case c_ast.ArrayRef():
            return owner_of(node.name, table, typedef)
        case c_ast.UnaryOp(op="*" | "&"):
            return owner_of(node.expr, table, typedef)
        case c_ast.BinaryOp(op="+" | "-"):
            return owner_of(node.left, table, typedef)
        case c_ast.Cast():
            found = owner_of(node.expr, table, typedef)
            same = found is not None and ctype(node.to_type, typedef).record == found.type.record
            return found if same else None
        case _:
            return None
