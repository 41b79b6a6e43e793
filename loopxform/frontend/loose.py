"""Local pointers that are set several times, or to memory nobody knows: arrays of their own.

    double *now = malloc(n * 8), *next = malloc(n * 8);
    for (t = 0; t < steps; t++) { ...; double *old = now; now = next; next = old; }

A nest that does not set such a pointer meets one array under its name. Whether that overlaps others
is taken for granted or not as of pointers that are parameters; so what the pointer is set to must
not be reached by another name in the function, and must be the beginning of something: `q = a + 1`
beside `a[i]` is known to overlap. Nor may it be kept in a place that is no such pointer, or handed
to a function where a pointer at file scope is used, which that function may have set.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.bases import base_symbol
from loopxform.frontend.ctype import Pointer
from loopxform.frontend.symbols import Symbol, Table
from loopxform.frontend.tree import every


def loosen(table: Table, body: c_ast.Node) -> None:
    """Marks the pointers of a function that are such arrays."""
    if table.jumps:
        return
    found = {s: _sources(s, table) for s in table.symbols if _is_candidate(s, table)}
    reached = set(_reached(body, table))
    kept = set(_kept(body, table, frozenset(found)))
    if any(s.kind == "global" and s.is_pointer for s in reached):
        kept |= {s for s in found if s.escapes}
    found = {s: None if s in kept else sources for s, sources in found.items()}
    known = {s: sources for s, sources in found.items() if sources is not None}
    while True:
        wrong = [
            s
            for s, sources in known.items()
            if any(x not in known and (x in found or x in reached) for x in sources)
        ]
        if not wrong:
            break
        for s in wrong:
            del known[s]
    for s in known:
        s.loose = True


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


def _sources(s: Symbol, table: Table) -> frozenset[Symbol] | None:
    """The arrays and pointers that it is set from; None where it is set to a place inside one."""
    out: set[Symbol] = set()
    for setting in table.settings[s]:
        part = None if setting.value is None else _of(setting.value, table)
        if part is None:
            return None
        out |= part
    return frozenset(out - {s})


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
            arguments = value.args.exprs if value.args else ()
            symbols = (table.of(x) for a in arguments for x in every(a) if isinstance(x, c_ast.ID))
            return {x for x in symbols if x is not None and x.type.derived and x.kind != "function"}
        case _:
            return None


def _kept(body: c_ast.Node, table: Table, pointers: frozenset[Symbol]) -> Iterator[Symbol]:
    """The pointers whose values are stored in what is none of them."""
    for node in every(body):
        match node:
            case c_ast.Assignment(lvalue=target, rvalue=value):
                symbol = table.of(target) if isinstance(target, c_ast.ID) else None
            case c_ast.Decl(init=value) if value is not None:
                symbol = table.of(node)
            case _:
                continue
        if symbol not in pointers:
            yield from (s for s in _values(value, table) if s in pointers)


def _values(value: c_ast.Node, table: Table) -> Iterator[Symbol]:
    """The pointers that a value may be, or be computed from."""
    match value:
        case c_ast.ID() | c_ast.UnaryOp(op="&"):
            symbol = base_symbol(value, table)
            if symbol is not None:
                yield symbol
        case c_ast.Cast():
            yield from _values(value.expr, table)
        case c_ast.BinaryOp() if value.op in ("+", "-"):
            yield from _values(value.left, table)
            yield from _values(value.right, table)
        case c_ast.TernaryOp():
            yield from _values(value.iftrue, table)
            yield from _values(value.iffalse, table)
        case c_ast.Assignment():
            yield from _values(value.rvalue, table)
        case c_ast.InitList() | c_ast.ExprList():
            for e in value.exprs:
                yield from _values(e, table)
        case c_ast.NamedInitializer():
            yield from _values(value.expr, table)
        case _:
            return


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
