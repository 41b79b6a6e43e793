"""What a statement that is not modelled leaves alone all the same.

A scalar of the function whose address is taken nowhere can only be read or written by its name. A
jump runs other statements, and a pragma or asm may mean anything: they spare nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from pycparser import c_ast

from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.syntax.tree import every
from loopxform.ir.all_but import AllBut
from loopxform.ir.memo import remembered

_JUMPS = (
    c_ast.Goto,
    c_ast.Label,
    c_ast.Break,
    c_ast.Continue,
    c_ast.Return,
    c_ast.Switch,
    c_ast.Pragma,
)


def spared(node: c_ast.Node, table: Table) -> tuple[Set[str], Set[str]]:
    """The scalars (by their names in the loop tree) that `node` neither reads nor writes, and those
    that it does not write."""
    named, written = set[str](), set[str]()
    for x in every(node):
        match x:
            case c_ast.ID() | c_ast.Decl() if x.name:
                named.add(x.name)
        match x:
            case _ if isinstance(x, _JUMPS):
                return frozenset(), frozenset()
            case c_ast.Decl() if x.name:
                written.add(x.name)
            case c_ast.Assignment(lvalue=target):
                written |= {n.name for n in every(target) if isinstance(n, c_ast.ID)}
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" | "&"):
                written |= {n.name for n in every(x.expr) if isinstance(n, c_ast.ID)}
    mine = _by_name(table)
    used, changed = (
        frozenset[str]().union(*(mine.get(n, ()) for n in names)) for names in (named, written)
    )
    return AllBut(mine[""], used), AllBut(mine[""], changed)


@remembered(4)
def _by_name(table: Table) -> Mapping[str, frozenset[str]]:
    """The scalars that are read and written by their names alone: what each name may stand for, and
    all of them under `""`."""
    out: dict[str, set[str]] = {"": set()}
    for s in table.symbols:
        if s.ir and _is_by_name(s, table):
            out.setdefault(s.name, set()).add(s.ir)
            out[""].add(s.ir)
    return {name: frozenset(found) for name, found in out.items()}


def given(node: c_ast.Node, table: Table) -> str:
    """The scalar that gets what a call returns, where the call is given no other: any number."""
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target, rvalue=value):
            symbol = table.of(target)
        case c_ast.Decl(init=value) if value is not None:
            symbol = table.of(node)
        case _:
            return ""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    if not isinstance(value, c_ast.FuncCall) or symbol is None or not _is_by_name(symbol, table):
        return ""
    named = (table.of(x) for x in every(value.args) if isinstance(x, c_ast.ID))
    others = any(s is not None and s.type.is_scalar and s.is_variable for s in named)
    return "" if others else symbol.ir


def _is_by_name(s: Symbol, table: Table) -> bool:
    return (
        s.kind in ("param", "local", "loop")
        and s.type.is_scalar
        and not s.type.is_any_volatile
        and s.owner is None
        and "static" not in s.storage
        and not s.escapes
        and s not in table.exposed
    )
