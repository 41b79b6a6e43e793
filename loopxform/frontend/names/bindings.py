"""Local pointers that are another name for a place in an array: `float *p = a + 3;`.

Such a pointer is set by one statement, all its uses stand behind that statement in the same block
(or in blocks inside it), and nothing between them changes what the value was computed from. Then
every use may compute the value again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.lower.pointers import rank_left
from loopxform.frontend.names.ctype import Pointer
from loopxform.frontend.names.members import is_pointer_member, member
from loopxform.frontend.names.symbols import Setting, Symbol, Table
from loopxform.frontend.syntax.tree import every


def bind(table: Table) -> None:
    """Fills in `Symbol.target` of every pointer that is such a name; what is done to any pointer
    counts as done to the arrays it may point into."""
    for s in table.symbols:
        values = [] if table.jumps else table.settings.get(s, [])
        if len(values) == 1 and _is_candidate(s) and _keeps(s, values[0], table):
            s.target = values[0].value
    _join_members(table)
    flows = [(s, base) for s in reversed(table.symbols) for base in _bases(s, table)]
    while any(_passed(s, base) for s, base in flows):
        pass


def _passed(s: Symbol, base: Symbol) -> bool:
    """Counts what is done to a pointer as done to what it may point into; whether that was new."""
    before = len(base.stores) + len(base.escapes)
    base.stores = sorted({*base.stores, *s.stores})
    base.escapes = sorted({*base.escapes, *s.escapes})
    return len(base.stores) + len(base.escapes) > before


def _join_members(table: Table) -> None:
    """What is done to the members of structs through a bound pointer is done to those of the array
    it points into; what happens to a whole struct happens to its members."""
    for (s, name), m in list(table.members.items()):
        base = _image(s, table)
        if base is not s:
            other = _member_of(base, name, m, table)
            other.reads = sorted({*other.reads, *m.reads})
            other.stores = sorted({*other.stores, *m.stores})
        m.escapes = sorted({*m.escapes, *s.escapes})
        m.stores = sorted({*m.stores, *(p for p in s.stores if _concerns(p, m, table))})
        m.writes = sorted({*m.writes, *s.writes})


def _concerns(place: int, m: Symbol, table: Table) -> bool:
    """Whether what is stored to a struct may be in a member, or in what it points to."""
    types = (m.type if m.member_type is None else m.member_type, replace(m.type, derived=()))
    return any(table.modifies(place, t) for t in types)


def _image(s: Symbol, table: Table) -> Symbol:
    """What a bound pointer points into, or the member of that where `s` is one of the pointer's."""
    while s.target is not None and (found := _base(s.target, table)) is not None:
        s = found
    name = next((n for (_, n), m in table.members.items() if m is s), "")
    if s.owner is None or not name or s.member_type is None:
        return s
    owner = _image(s.owner, table)
    return s if owner is s.owner else _member_of(owner, name, s, table)


def _member_of(owner: Symbol, name: str, like: Symbol, table: Table) -> Symbol:
    """The member of another struct that is called as `like` is."""
    if (owner, name) not in table.members:
        assert like.member_type is not None
        of_each = table.rows_apart or table.leads_to_rows(owner)
        table.members[owner, name] = member(owner, name, like.member_type, of_each=of_each)
        table.symbols.append(table.members[owner, name])
    return table.members[owner, name]


def _base(value: c_ast.Node, table: Table) -> Symbol | None:
    """The array in a pointer expression."""
    inside = list(every(value))
    kinds = c_ast.StructRef if any(isinstance(n, c_ast.StructRef) for n in inside) else c_ast.ID
    ids = (table.of(n) for n in inside if isinstance(n, kinds))
    return next((s for s in ids if s is not None and s.type.derived), None)


def _is_candidate(s: Symbol) -> bool:
    elements = s.type.is_array or (s.type.record != "" and len(s.type.derived) == 1)
    pointer = elements and isinstance(s.type.derived[0], Pointer)
    own = s.kind == "local" and s.owner is None and not s.storage
    return pointer and own and not s.type.is_any_volatile


def _keeps(s: Symbol, setting: Setting, table: Table) -> bool:
    """Whether the value can be computed again at every use of `s`."""
    if setting.value is None or not all(map(_is_plain, every(setting.value))):
        return False
    read = {id(n): n for part in _offsets(setting.value, table) for n in every(part)}
    ids = [n for n in every(setting.value) if isinstance(n, c_ast.ID) and id(n) not in read]
    if sum(bool(x and x.type.derived) for x in map(table.of, ids)) != 1:
        return False
    first, uses = setting.place, [*s.reads, *s.stores]
    if not all(first <= use < setting.unit.end for use in uses):
        return False
    last = max(uses, default=first)
    # A loop behind the setting comes back to the first use in it.
    last = max(last, *(x.end for x in table.spans.values() if first < x.start <= last), 0)
    if not all(_is_same_element(n, first, last, table) for n in read.values()):
        return False
    return all(_is_kept(x, first, last, table) for x in _sources(setting.value, table))


def _offsets(value: c_ast.Node, table: Table) -> Iterator[c_ast.Node]:
    """The numbers in a pointer expression that say how far the pointer leads."""
    for n in every(value):
        if isinstance(n, c_ast.ArrayRef):
            yield n.subscript
        elif isinstance(n, c_ast.BinaryOp):
            yield from (x for x in (n.left, n.right) if rank_left(x, table.of) == 0)


def _is_same_element(n: c_ast.Node, first: int, last: int, table: Table) -> bool:
    """Whether an element that is read, if this is one, holds the same between two places: nothing
    is stored that may be in it, or in the pointers on the way there, and no address handed on."""
    x = table.of(n) if isinstance(n, c_ast.ID | c_ast.StructRef) else None
    if x is None or not (x.type.derived or x.member_type is not None):
        return True
    elements = () if x.type.record else (replace(x.type, derived=()),)
    types = (*elements, x.type, x.member_type or x.type)
    stored = [p for p in table.stores if first < p < last]
    escapes = (p for s in table.symbols for p in s.escapes)
    handed = any(first < p < last for p in (*table.calls, *escapes))
    return not handed and not any(table.modifies(p, t) for p in stored for t in types)


def _is_plain(node: c_ast.Node) -> bool:
    """No effects, no conditions; what an array holds is asked about elsewhere."""
    if isinstance(node, c_ast.UnaryOp):
        return node.op in ("&", "*", "-", "+")
    types = c_ast.Typename | c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl
    kinds = c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.ArrayRef | c_ast.Cast
    return isinstance(node, kinds | types | c_ast.IdentifierType | c_ast.StructRef)


def _sources(value: c_ast.Node, table: Table) -> Iterator[Symbol]:
    """The objects a value is computed from, those of other bound pointers included."""
    for node in every(value):
        symbol = table.of(node) if isinstance(node, c_ast.ID | c_ast.StructRef) else None
        if symbol is None or not symbol.is_variable:
            continue
        yield symbol
        if symbol.target is not None:
            yield from _sources(symbol.target, table)


def _is_kept(x: Symbol, first: int, last: int, table: Table) -> bool:
    """Whether an object keeps its value between two places. An array is a place of its own."""

    def between(places: list[int]) -> bool:
        return any(first < p < last for p in places)

    if x.type.derived:
        pointer = isinstance(x.type.derived[0], Pointer) or x.kind == "param"
        moved = between(x.writes) or any(first < s.place < last for s in table.settings.get(x, ()))
        if x.member_type is not None and is_pointer_member(x.member_type):
            moved = (
                moved or between(table.calls) or between(x.escapes) or between(_pointers(x, table))
            )
        if not pointer or moved or x in table.exposed:
            return not pointer
        return x.kind != "global" or not _may_be_reached(x, between, table)
    if between(x.writes) or x.escapes:
        return False
    return x.kind != "global" or x.type.const or not _may_be_reached(x, between, table)


def _may_be_reached(x: Symbol, between: Callable[[list[int]], bool], table: Table) -> bool:
    """Whether calls, or what is stored through pointers, may change a variable of the file."""
    stored = (p for p, s in table.stores.items() if s.within is None)
    return between(table.calls) or between([p for p in stored if table.modifies(p, x.type)])


def _pointers(member: Symbol, table: Table) -> list[int]:
    """Where a pointer in a struct may be set under another name, but for bytes of it."""
    found = table.stores.items()
    whole = [p for p, s in found if s.type is None or s.type.record or s.type.derived]
    return [p for p in whole if table.modifies(p, member.member_type or member.type)]


def _bases(s: Symbol, table: Table) -> Iterator[Symbol]:
    """The arrays that a pointer may point into, as far as its values name one."""
    for setting in table.settings.get(s, ()) if s.kind in ("local", "param") else ():
        nodes = list(every(setting.value))
        members = any(isinstance(n, c_ast.StructRef) for n in nodes)
        named = c_ast.StructRef if members else c_ast.ID
        for node in (n for n in nodes if isinstance(n, named)):
            base = table.of(node)
            if base is not None and base is not s and base.is_variable and base.type.derived:
                yield base
