"""Constants of the file: integer constant expressions, and the elements of `const` variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from pycparser import c_ast

from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.fold import fold
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.ctype import Pointer
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.scopes import Resolver
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.places import Places
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Call, Const, Expr, Load, Var
from loopxform.ir.visit import walk_expr

MOST = 4096
"""Elements; larger tables stay where they are."""


def constant(node: c_ast.Node, scope: FileScope, places: Places) -> int | None:
    """The value of an integer constant expression at file scope."""
    e = _lowered(node, scope, places)
    return None if e is None else fold(e)


def constants(s: Symbol, scope: FileScope, places: Places) -> tuple[Expr, ...]:
    """The elements of a `const` variable of the file, in storage order; () where the text does not
    give them, or not in a form that is read."""
    node = s.decl
    if not isinstance(node, c_ast.Decl) or node.init is None:
        return ()
    if not s.type.const or any(isinstance(d, Pointer) for d in s.type.derived):
        return ()
    sizes = [value_of(d) for d in s.shape if d is not None]
    shape = [n for n in sizes if n is not None and n > 0]
    if len(shape) < len(s.shape) or prod(shape) > MOST:
        return ()
    key = (id(node.init), *shape)
    if key not in scope.elements:
        given = _elements(node.init, shape, lambda n: constant(n, scope, places))
        found = (_lowered(n, scope, places) if n is not None else Const(0) for n in given or ())
        lowered = tuple(e for e in found if e is not None)
        scope.elements[key] = lowered if len(lowered) == len(given or ()) else ()
    return scope.elements[key]


Evaluated: TypeAlias = Callable[[c_ast.Node], int | None]


def positions(init: c_ast.InitList, value: Evaluated) -> list[tuple[int, c_ast.Node]] | None:
    """Where each item of a list goes: behind the one before, or where `[3] =` says. `value`
    evaluates these numbers; None where one cannot be told, or it is another designator."""
    out: list[tuple[int, c_ast.Node]] = []
    at = 0
    for item in init.exprs:
        if isinstance(item, c_ast.NamedInitializer):
            only = item.name[0] if len(item.name) == 1 else None
            found = value(only.expr) if isinstance(only, c_ast.ArrayDesignator) else None
            if found is None or found < 0:
                return None
            at, item = found, item.expr
        out.append((at, item))
        at += 1
    return out


def _elements(
    init: c_ast.Node, shape: Sequence[int], value: Evaluated
) -> list[c_ast.Node | None] | None:
    """What each element is set to (None is zero); None where the braces do not follow the rows."""
    if not shape:
        return None if isinstance(init, c_ast.InitList) else [init]
    if not isinstance(init, c_ast.InitList):
        return None
    items = positions(init, value)
    if items is None:
        return None
    flat = not any(isinstance(e, c_ast.InitList) for _, e in items)
    if flat and len(shape) > 1 and any(isinstance(e, c_ast.NamedInitializer) for e in init.exprs):
        return None
    extents = [prod(shape)] if flat else shape
    rows: list[list[c_ast.Node | None]] = [[None] * prod(extents[1:]) for _ in range(extents[0])]
    for at, e in items:
        row = _elements(e, extents[1:], value) if at < extents[0] else None
        if row is None:
            return None
        rows[at] = row
    return [e for row in rows for e in row]


def _lowered(node: c_ast.Node, scope: FileScope, places: Places) -> Expr | None:
    """A constant expression; None where it is none."""
    resolver = Resolver(scope)
    resolver.visit(node)
    try:
        e = Expressions(resolver.table, places, scope.typedef, scope).lower(node)
    except NotModelled:
        return None
    return None if any(isinstance(x, Var | Load | Call) for x in walk_expr(e)) else e
