"""The names of one function, each with what it stands for."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.desugar.callee import defines_type
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.memory_calls import MemoryCalls, is_memory_call
from loopxform.frontend.names.bindings import bind
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.null_checks import find_given
from loopxform.frontend.names.own_structs import OwnStructs
from loopxform.frontend.names.scopes import Resolver
from loopxform.frontend.names.struct_pointers import as_numbers
from loopxform.frontend.names.swapped_buffers import loosen
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every
from loopxform.records import record


@record
class Resolved:
    resolver: Resolver
    params: list[Symbol]
    expressions: Expressions

    @property
    def table(self) -> Table:
        return self.resolver.table

    @classmethod
    def of(cls, node: c_ast.FuncDef, scope: FileScope, places: Places) -> Resolved:
        """Resolves a function, in whose text calls that fill and copy memory become assignments."""
        found = _resolved(node, scope, places)
        if not any(map(is_memory_call, every(node.body))):
            return found
        MemoryCalls(found.expressions, scope.records).visit(node.body)
        return _resolved(node, scope, places)


def _resolved(node: c_ast.FuncDef, scope: FileScope, places: Places) -> Resolved:
    body, args = node.body, node.decl.type.args
    resolver = Resolver(scope)
    nodes = args.params if args is not None else []
    params = [resolver.param(p) for p in nodes if isinstance(p, c_ast.Decl) and p.name]
    if any(map(defines_type, every(body))):
        resolver.shadow_records()
    table = resolver.table
    table.indexed = frozenset(_indexed(body)) if scope.has_matrices else frozenset()
    resolver.own_structs = OwnStructs.of(body)
    resolver.visit(body)
    bind(table)
    loosen(table, body)
    as_numbers(table, body)
    find_given(table)
    table.name_symbols()
    sees = scope.sees(node.decl.name)
    layout = scope.layout if resolver.records else lambda _: None
    x = Expressions(table, places, resolver.typedef, scope, sees, layout)
    return Resolved(resolver, params, x)


def _indexed(body: c_ast.Node) -> Iterator[str]:
    """The names that subscripts other than 0 follow."""
    for n in every(body):
        match n:
            case c_ast.ArrayRef(subscript=c_ast.Constant(value="0")):
                continue
            case c_ast.ArrayRef(name=c_ast.ID(name=name)):
                yield name
            case c_ast.ArrayRef(name=c_ast.StructRef(field=c_ast.ID(name=name))):
                yield name
