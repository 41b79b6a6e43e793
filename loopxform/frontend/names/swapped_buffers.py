"""Local pointers that are set several times, or to memory nobody knows: arrays of their own.

    double *now = malloc(n * 8), *next = malloc(n * 8);
    for (t = 0; t < steps; t++) { ...; double *old = now; now = next; next = old; }

A nest that does not set such a pointer meets one array under its name. Whether that overlaps others
is taken for granted or not as of pointers that are parameters, so nothing in the text may say that
it does: what the pointer is set to has no other name in the function, is the beginning of something
(`q = a + 1` is not), and is not stored elsewhere. Pointers that change places stay as far apart as
they were. Nor may the pointer be handed to a function where one at file scope is used, which that
function may have set.

A parameter and a pointer of the file are arrays of their own from the start. One that the function
sets goes astray unless the same holds of it; to move within its own array is no harm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from pycparser import c_ast

from loopxform.frontend.names.bases import addressed, base_symbol
from loopxform.frontend.names.ctype import Pointer
from loopxform.frontend.names.symbols import Setting, Symbol, Table
from loopxform.frontend.syntax.tree import every

Copy: TypeAlias = tuple[Symbol, Symbol, c_ast.Node]
"""Two pointers, the first set to the second, and the value."""


def loosen(table: Table, body: c_ast.Node) -> None:
    """Marks the local pointers of a function that are such arrays, and the other pointers that may
    be something else than they were."""
    reached = frozenset(_reached(body, table))
    turned = frozenset[int]() if table.jumps else frozenset(_turned(body, table, reached))
    others = {s for s in table.symbols if _is_given(s) and s in table.settings}
    found = others | {s for s in table.symbols if not table.jumps and _is_candidate(s, table)}
    sources = {s: _known(_sources(s, table, turned), found, table) for s in found}
    owners = Counter(x for several in sources.values() for x in several or ())
    stored = set(_stored(body, table, turned))
    if any(s.kind == "global" and s.is_pointer for s in reached):
        stored |= {s for s in found - others if s.escapes}
    for s, several in sources.items():
        alone = several is not None and all(
            x not in reached and x not in found and owners[x] == 1 for x in several
        )
        kept = alone and s not in stored
        s.loose = s not in others and kept and s in reached
        s.astray = s in others and not (kept and not _may_be_given(s, table))


def _is_given(s: Symbol) -> bool:
    """Whether it is a pointer that has its value from outside of the function."""
    return s.is_pointer and s.kind in ("param", "global") and s.owner is None


def _may_be_given(s: Symbol, table: Table) -> bool:
    """Whether a call may give it an array of the function, which another call or memory knows."""
    known = any(x.kind == "local" and x.type.derived and x.escapes for x in table.symbols)
    values = (x.value for x in table.settings[s])
    return known and any(isinstance(n, c_ast.FuncCall) for v in values for n in every(v))


def _is_candidate(s: Symbol, table: Table) -> bool:
    return (
        s.kind == "local"
        and s.type.base is not None
        and len(s.type.derived) == 1
        and isinstance(s.type.derived[0], Pointer)
        and not s.storage
        and not s.type.is_any_volatile
        and s.target is None
        and s.owner is None
        and s not in table.exposed
        and bool(table.settings.get(s))
    )


def _sources(s: Symbol, table: Table, turned: frozenset[int]) -> frozenset[Symbol] | None:
    """The arrays and pointers that it is set from; None where it is set to a place inside one."""
    out: set[Symbol] = set()
    for setting in table.settings[s]:
        if id(setting.value) in turned or (_is_given(s) and _moves(s, setting, table)):
            continue
        part = None if setting.value is None else _of(setting.value, table)
        if part is None:
            return None
        out |= part
    return frozenset(out - {s})


def _known(
    sources: frozenset[Symbol] | None, found: set[Symbol], table: Table
) -> frozenset[Symbol] | None:
    """The sources with what other names in between stand for; None where one may be anything."""
    out: set[Symbol] = set()
    for x in sources or ():
        named: Symbol | None = x
        while named is not None and named.target is not None:
            named = base_symbol(named.target, table)
        if named is None or (named.kind == "local" and named.is_pointer and named not in found):
            return None
        out.add(named)
    return None if sources is None else frozenset(out)


def _moves(s: Symbol, setting: Setting, table: Table) -> bool:
    """Whether a pointer is set to a place in its own array: `p++`, `p = p + n`."""
    if setting.value is None:
        return s not in table.exposed
    plain = all(isinstance(n, _ARITHMETIC) for n in every(setting.value))
    return plain and list(addressed(setting.value, table)) == [s]


_ARITHMETIC = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)


def _of(value: c_ast.Node, table: Table) -> set[Symbol] | None:
    match value:
        case c_ast.Constant():
            return set()
        case c_ast.Cast():
            return _of(value.expr, table)
        case c_ast.ID():
            symbol = table.of(value)
            return {symbol} if symbol is not None and symbol.type.derived else None
        case c_ast.FuncCall():
            return _given(value, table)
        case _:
            return None


def _given(call: c_ast.FuncCall, table: Table) -> set[Symbol]:
    """The arrays and pointers among the arguments: what is returned may be one of them."""
    found = (table.of(x) for x in every(call.args) if isinstance(x, c_ast.ID))
    return {s for s in found if s is not None and s.type.derived and s.kind != "function"}


def _copies(body: c_ast.Node) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """Every assignment, initialisers included: what is set, and the value."""
    for node in every(body):
        if isinstance(node, c_ast.Assignment):
            yield node.lvalue, node.rvalue
        elif isinstance(node, c_ast.Decl) and node.init is not None:
            yield node, node.init


def _turned(body: c_ast.Node, table: Table, reached: frozenset[Symbol]) -> Iterator[int]:
    """The values (by identity) in statements after which pointers have changed places: `t = p;
    p = q; q = t`, where nothing is reached by `t`."""
    for block in every(body):
        items = block.block_items or [] if isinstance(block, c_ast.Compound) else []
        copies = [_copy(s, table) for s in items]
        for first in range(len(copies)):
            yield from _ring(copies[first:], reached)


def _ring(copies: list[Copy | None], reached: frozenset[Symbol]) -> list[int]:
    """The values of the copies at the beginning that lead from one pointer back to it."""
    ring: list[int] = []
    start = following = copies[0][0] if copies[0] else None
    for copy in copies:
        if copy is None or copy[0] is not following or start in reached:
            break
        following = copy[1]
        ring.append(id(copy[2]))
        if following is start:
            return ring
    return []


def _copy(s: c_ast.Node, table: Table) -> Copy | None:
    """The pointers of `p = q`, with the value."""
    match s:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target, rvalue=c_ast.ID() as value):
            left = table.of(target)
        case c_ast.Decl(init=c_ast.ID() as value):
            left = table.of(s)
        case _:
            return None
    right = table.of(value)
    if left is None or right is None or not (left.type.derived and right.type.derived):
        return None
    return left, right, value


def _stored(body: c_ast.Node, table: Table, turned: frozenset[int]) -> Iterator[Symbol]:
    """The pointers whose values get another name, or may."""
    for target, value in _copies(body):
        if id(value) in turned:
            continue
        own = table.of(target)
        yield from (s for s in addressed(value, table) if s is not own)
        if own is None or own.type.derived:
            calls = (x for x in every(value) if isinstance(x, c_ast.FuncCall))
            yield from (s for call in calls for s in _given(call, table) if s is not own)


def _reached(body: c_ast.Node, table: Table) -> Iterator[Symbol]:
    """What elements are read or written of, by which name."""
    for node in every(body):
        if isinstance(node, c_ast.ArrayRef | c_ast.StructRef) or (
            isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&")
        ):
            symbol = base_symbol(node, table)
            while symbol is not None:
                yield symbol
                symbol = None if symbol.target is None else base_symbol(symbol.target, table)
