"""What a file declares: types, constants, variables and functions, by their names."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.desugar.names import shown
from loopxform.frontend.lower.constants import constant, positions
from loopxform.frontend.lower.routines import declared_routine
from loopxform.frontend.names.ctype import Array, Func, ctype, enum_key, enumeration, named
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.symbols import Symbol, enumerator
from loopxform.frontend.syntax.places import Places
from loopxform.ir.nodes import Const, Expr


def declare(node: c_ast.Typedef | c_ast.Decl, scope: FileScope, places: Places) -> None:
    """What is declared outside of functions."""
    _structs(node.type, scope, places)
    _enumerators(node.type, scope, places)
    match node:
        case c_ast.Typedef():
            t = named(ctype(node.type, scope.typedef), node.name)
            scope.names[node.name] = Symbol(node.name, t, "type")
        case c_ast.Decl(name=str()):
            _object(node, scope, places)


def declare_function(node: c_ast.Decl, scope: FileScope, places: Places) -> None:
    """A function that is defined, and the constants of its type."""
    _enumerators(node.type, scope, places)
    _object(node, scope, places)


def _object(node: c_ast.Decl, scope: FileScope, places: Places) -> None:
    """A variable or function of the file; sizes and constants are evaluated here."""
    t = ctype(node.type, scope.typedef)
    if t.derived and isinstance(t.derived[0], Func):
        scope.names[node.name] = Symbol(node.name, t, "function", node)
        made = declared_routine(node.name, t, scope)
        if made is not None:
            scope.routines.setdefault(made.name, made)
        return
    symbol = Symbol(shown(node.name), t, "global", node, tuple(node.storage or ()))
    symbol.rows = scope.has_matrices and t.is_rows
    if t.is_array or symbol.rows or (t.record and t.derived):
        symbol.shape = tuple(_size(d, node, scope, places) for d in t.derived)
        inner = zip(t.derived[1:], symbol.shape[1:])
        symbol.unsized = any(isinstance(d, Array) and size is None for d, size in inner)
    elif t.is_scalar and t.const and not t.volatile and t.base and t.base.is_integer:
        value = None if node.init is None else constant(node.init, scope, places)
        symbol.value = None if value is None else Const(value, t.base)
    known = scope.names.get(node.name)
    if known is not None and known.kind == "global" and "extern" in symbol.storage:
        return
    scope.names[node.name] = symbol


def _structs(node: c_ast.Node, scope: FileScope, places: Places) -> None:
    """The structs that a declaration defines."""
    scope.records.define(node, scope.typedef, lambda size: constant(size, scope, places))


def _size(d: object, node: c_ast.Decl, scope: FileScope, places: Places) -> Expr | None:
    """One dimension of a global: a number, or None where it is not stated."""
    if not isinstance(d, Array):
        return None
    if d.size is None:
        if not isinstance(node.init, c_ast.InitList):
            return None
        items = positions(node.init, lambda n: constant(n, scope, places))
        return Const(max(at for at, _ in items) + 1) if items else None
    value = constant(d.size, scope, places)
    return None if value is None else Const(value)


def _enumerators(node: c_ast.Node | None, scope: FileScope, places: Places) -> None:
    """The constants of an enumeration that a declaration holds."""
    while node is not None and not isinstance(node, c_ast.Enum):
        node = getattr(node, "type", None)
    if node is None or node.values is None:
        return
    values: list[int | None] = []
    for item in node.values.enumerators:
        if not isinstance(item, c_ast.Enumerator):
            continue
        before = values[-1] if values else -1
        if item.value is not None:
            values.append(constant(item.value, scope, places))
        else:
            values.append(None if before is None else before + 1)
        scope.names[item.name] = enumerator(item, values[-1])
    t = enumeration(values) if scope.layouts.usual(node) else None
    if t is not None:
        scope.names[enum_key(node)] = Symbol(enum_key(node), t, "type")
