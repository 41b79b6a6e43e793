"""Functions of numbers that are pure, whatever they compute: unions, tables, gotos, bytes.

    static float from_bits(unsigned w) { union { unsigned i; float f; } u; u.i = w; return u.f; }

Such a function reads its parameters, what it declares itself, and constants of the file. It writes
what it declares itself, and calls functions of that kind alone. Pointers lead to nothing else: an
address is read at once, or is an argument of memcpy and the like.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.lower.memory_calls import is_memory_call
from loopxform.frontend.names.ctype import Array, Func, Pointer, ctype
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.scopes import Resolver
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.tree import below
from loopxform.ir import functions

_STEPS = ("++", "--", "p++", "p--")


def is_sealed(node: c_ast.FuncDef, scope: FileScope) -> bool:
    """Whether the value of a function depends on its parameters alone, and it does nothing else."""
    resolver = Resolver(scope)
    args = node.decl.type.args
    for p in args.params if args else ():
        if isinstance(p, c_ast.Decl) and p.name:
            resolver.param(p)
    resolver.visit(node.body)
    return _Sealed(node, scope, resolver).holds()


class _Sealed:
    def __init__(self, node: c_ast.FuncDef, scope: FileScope, resolver: Resolver) -> None:
        self.node, self.scope = node, scope
        self.table, self.typedef = resolver.table, resolver.typedef
        self.sees = scope.sees(node.decl.name)

    def holds(self) -> bool:
        variables = [s for s in self.table.symbols if s.is_variable]
        return all(map(self._is_own_or_constant, variables)) and self._is_sealed(self.node.body)

    def _is_own_or_constant(self, s: Symbol) -> bool:
        pointer = any(isinstance(d, Pointer | Func) for d in s.type.derived)
        if pointer or s.type.is_any_volatile or "_Atomic" in s.type.spelling or s.of_thread:
            return False
        own = s.kind != "global" and "static" not in s.storage
        if s.type.base is not None:
            return own or s.type.const
        return own and self._holds_numbers(s)

    def _holds_numbers(self, s: Symbol) -> bool:
        """Whether a struct or a union has no pointer in it, which a number could be made one of."""
        if s.type.record in self.scope.records.whole:
            return True
        t = s.decl.type if isinstance(s.decl, c_ast.Decl) else None
        while isinstance(t, c_ast.ArrayDecl | c_ast.TypeDecl):
            t = t.type
        if not isinstance(t, c_ast.Struct | c_ast.Union) or t.decls is None:
            return False
        types = [ctype(d.type, self.typedef) for d in t.decls if isinstance(d, c_ast.Decl)]
        arrays = all(isinstance(x, Array) for member in types for x in member.derived)
        bases = all(x.base is not None and not x.is_any_volatile for x in types)
        return arrays and bases and len(types) == len(t.decls)

    def _is_sealed(self, n: c_ast.Node) -> bool:
        """Whether a statement or an expression keeps to the rules; where it is an array, an address
        or a function, it is none by itself."""
        match n:
            case c_ast.ID():
                s = self.table.of(n)
                return s is not None and (s.kind == "enum" or self._is_object(s))
            case c_ast.FuncCall():
                return self._is_pure_call(n)
            case c_ast.ArrayRef():
                return self._is_place(n.name) and self._is_sealed(n.subscript)
            case c_ast.StructRef():
                return n.type == "." and self._is_place(n.name)
            case c_ast.UnaryOp(op="*"):
                return self._is_place(n)
            case c_ast.UnaryOp(op="&"):
                return False
            case c_ast.UnaryOp(op="sizeof" | "_Alignof"):
                return True
            case c_ast.Assignment():
                return self._is_written(n.lvalue) and self._is_sealed(n.rvalue)
            case c_ast.UnaryOp() if n.op in _STEPS:
                return self._is_written(n.expr)
            case c_ast.Cast():
                return not ctype(n.to_type, self.typedef).derived and self._is_sealed(n.expr)
            case c_ast.Constant():
                return bool(n.type != "string")
            case _:
                return self._is_statement(n)

    def _is_statement(self, n: c_ast.Node) -> bool:
        match n:
            case c_ast.Decl():
                return n.init is None or self._is_sealed(n.init)
            case c_ast.NamedInitializer():
                return self._is_sealed(n.expr)
            case c_ast.Typedef() | c_ast.Typename():
                return True
            case c_ast.Pragma():
                return False
            case _:
                return all(map(self._is_sealed, below(n)))

    def _is_object(self, s: Symbol) -> bool:
        """A number, a struct or a union: no array, whose name is an address."""
        return s.is_variable and not s.type.derived

    def _is_place(self, n: c_ast.Node) -> bool:
        """Whether an expression names an object of the function's own or a constant one, or a part
        of it; its address may be known here only."""
        match n:
            case c_ast.ID():
                s = self.table.of(n)
                return s is not None and s.is_variable
            case c_ast.ArrayRef():
                return self._is_place(n.name) and self._is_sealed(n.subscript)
            case c_ast.StructRef(type="."):
                return self._is_place(n.name)
            case c_ast.UnaryOp(op="*"):
                return self._is_address(n.expr)
            case _:
                return False

    def _is_address(self, n: c_ast.Node) -> bool:
        """Whether an expression is the address of such an object."""
        match n:
            case c_ast.Cast():
                t = ctype(n.to_type, self.typedef)
                pointer = len(t.derived) == 1 and isinstance(t.derived[0], Pointer)
                known = pointer and (t.base is not None or t.spelling == "void")
                return known and not t.is_any_volatile and self._is_address(n.expr)
            case c_ast.UnaryOp(op="&"):
                return self._is_place(n.expr)
            case c_ast.BinaryOp(op="+"):
                return self._is_address(n.left) and self._is_sealed(n.right)
            case _:
                s = self.table.of(n) if isinstance(n, c_ast.ID) else None
                return self._is_place(n) and (s is None or bool(s.type.derived))

    def _is_written(self, n: c_ast.Node) -> bool:
        """Whether a target is an object of the function's own, or a part of one."""
        root = n
        while not isinstance(root, c_ast.ID):
            match root:
                case c_ast.ArrayRef() | c_ast.StructRef():
                    root = root.name
                case c_ast.UnaryOp(op="*" | "&") | c_ast.Cast():
                    root = root.expr
                case c_ast.BinaryOp(op="+"):
                    root = root.left
                case _:
                    return False
        s = self.table.of(root)
        return s is not None and not s.type.const and s.kind != "global" and self._is_place(n)

    def _is_pure_call(self, n: c_ast.FuncCall) -> bool:
        name = n.name.name if isinstance(n.name, c_ast.ID) else ""
        symbol = self.table.of(n.name) if name else None
        given: list[c_ast.Node] = list(n.args.exprs) if n.args is not None else []
        if not name or (symbol is not None and symbol.kind != "function"):
            return False
        if is_memory_call(n) and name not in self.scope.own:
            return len(given) == 3 and self._copies(given)
        if not all(map(self._is_sealed, given)):
            return False
        routine = self.scope.routine(name, symbol)
        if routine is not None:
            return len(given) == len(routine.params)
        known = name not in self.scope.own and functions.is_known(name)
        return known and self.sees(name.removeprefix(functions.GENERIC)) is None

    def _copies(self, given: list[c_ast.Node]) -> bool:
        """Whether the arguments of memset, memcpy or memmove are objects of the function's own."""
        to, what, size = given
        target = cast(Any, c_ast).UnaryOp("*", to, coord=to.coord)
        return (
            self._is_address(to)
            and self._is_written(target)
            and (self._is_address(what) or self._is_sealed(what))
            and self._is_sealed(size)
        )
