"""Integers behind a pointer to one struct: `s->n` is a number as `n` is.

Before: `p.n[0]`, an element of an array, which is no size. After: `p.n`, a scalar, which bounds and
shapes may mention. Legal where `s` always points to the same struct, is never used as an array, and
nothing in the function writes the member under this name; that no other name writes it is taken for
granted, and asked at run time, as for two arrays (see `analysis.assumptions`).
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.names.bases import base_symbol
from loopxform.frontend.names.ctype import Pointer
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.syntax.tree import every


def as_numbers(table: Table, body: c_ast.Node) -> None:
    """Makes such members scalars."""
    if table.calls:
        return
    arrays = _arrays(table, body)
    for (owner, _), m in table.members.items():
        if owner not in arrays and _is_single(owner) and _is_read_only(m):
            m.type = replace(m.type, derived=())
            m.shape = ()
            m.behind_pointer = True


def _is_single(s: Symbol) -> bool:
    one = len(s.type.derived) == 1 and isinstance(s.type.derived[0], Pointer)
    return one and s.kind in ("param", "global") and s.owner is None and not s.writes


def _is_read_only(m: Symbol) -> bool:
    t = m.member_type
    number = t is not None and t.is_scalar and t.base is not None and t.base.is_integer
    plain = bool(number) and t is not None and not m.type.united
    return plain and not (m.writes or m.stores or m.escapes)


def _arrays(table: Table, body: c_ast.Node) -> set[Symbol]:
    """Pointers that are used in another way than `s->n`, or `((T *)s)->n` with structs of the same
    type (parameters of inlined functions become that)."""
    out = {s for t in table.symbols if t.target is not None if (s := base_symbol(t.target, table))}
    direct = {id(p) for n in every(body) if (p := _pointer(n, table)) is not None}
    for n in every(body):
        found = table.of(n) if isinstance(n, c_ast.ID) and id(n) not in direct else None
        if found is not None:
            out.add(found)
    return out


def _pointer(n: c_ast.Node, table: Table) -> c_ast.ID | None:
    """The pointer whose struct a node names a member of."""
    if not isinstance(n, c_ast.StructRef) or n.type != "->":
        return None
    place, member = n.name, table.of(n)
    while isinstance(place, c_ast.Cast):
        place = place.expr
    if not isinstance(place, c_ast.ID):
        return None
    same = place is n.name or (member is not None and member.owner is table.of(place))
    return place if same else None
