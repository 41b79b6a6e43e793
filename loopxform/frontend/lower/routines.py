"""Functions of the file that are pure and work on numbers, as routines: any control flow of C
without `goto` and `switch`, variables and small arrays of their own."""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.sealed import is_sealed
from loopxform.frontend.lower.unmodelled import check_scalar
from loopxform.frontend.names.ctype import Array, CType, Func, ctype
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.scopes import Resolver
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.places import Places
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Call,
    Const,
    Decl,
    Jump,
    Line,
    Load,
    Loop,
    Param,
    Return,
    Routine,
    Test,
    Var,
)
from loopxform.ir.routines import expressions
from loopxform.ir.types import Scalar


def routine(node: c_ast.FuncDef, scope: FileScope, places: Places) -> Routine | None:
    """The function, or None where it is none of that kind."""
    try:
        return _Routine(node, scope, places).made()
    except NotModelled:
        pass
    except RecursionError:
        return None
    t = ctype(node.decl.type, scope.typedef)
    first, why = t.derived[0], f"what '{node.decl.name}' computes is not read"
    whole = isinstance(first, Func) and len(t.derived) == 1 and not node.param_decls
    if not whole or not isinstance(first, Func) or not is_sealed(node, scope):
        return None
    return _declared(node.decl.name, t, first.params, scope, why)


def declared_routine(name: str, t: CType, scope: FileScope) -> Routine | None:
    """A function that is declared const, as far as it works on numbers."""
    first = t.derived[0] if len(t.derived) == 1 else None
    if "const" not in scope.promised.get(name, ()) or not isinstance(first, Func):
        return None
    return _declared(name, t, first.params, scope, f"'{name}' is only declared here")


def _declared(
    name: str, t: CType, given: c_ast.ParamList | None, scope: FileScope, why: str
) -> Routine | None:
    """A routine without a body; None where it does not work on numbers."""
    nodes = [] if given is None or _takes_nothing(given) else given.params
    types = [ctype(p.type, scope.typedef) for p in nodes if hasattr(p, "type")]
    numbers = [x.base for x in types if x.is_scalar and not x.volatile and x.base is not None]
    if given is None or t.base is None or not len(nodes) == len(types) == len(numbers):
        return None
    params = tuple(Param(f"x{n}", x) for n, x in enumerate(numbers))
    return Routine(name, params, t.base, (), unwritten=why)


class _Routine:
    def __init__(self, node: c_ast.FuncDef, scope: FileScope, places: Places) -> None:
        self.node, self.scope = node, scope
        resolver = Resolver(scope)
        args = node.decl.type.args
        if node.param_decls or any(isinstance(p, c_ast.ID) for p in (args.params if args else ())):
            raise self._other(node)
        given = [p for p in (args.params if args else ()) if getattr(p, "name", None)]
        params = [resolver.param(p) for p in given]
        resolver.visit(node.body)
        self.table = resolver.table
        self.table.name_symbols()
        sees = scope.sees(node.decl.name)
        self.x = Expressions(self.table, places, resolver.typedef, scope, sees)
        self.typedef = resolver.typedef
        if len(given) < len(args.params if args else ()) and not _takes_nothing(args):
            raise self._other(node)
        for s in self.table.symbols:
            outside = s.kind == "global" and s.value is None
            if outside or s.escapes or "static" in (s.storage if s.kind == "local" else ()):
                raise self._other(node)
        self.params = tuple(Param(s.ir, self._number(s.type)) for s in params)

    def made(self) -> Routine:
        t = ctype(self.node.decl.type, self.typedef)
        returns = self._number(CType(t.base, t.spelling, t.derived[1:]))
        self.returns = returns
        body = tuple(self._block(self.node.body.block_items))
        out = Routine(self.node.decl.name, self.params, returns, body)
        names = {e.name for e in expressions(out) if isinstance(e, Call) and e.type is not None}
        known = self.scope.routines | self.x.routines
        calls = tuple(r for n, r in known.items() if n in names and n in self.x.routines)
        return Routine(out.name, self.params, returns, body, calls)

    def _number(self, t: CType) -> Scalar:
        if not t.is_scalar or t.base is None or t.is_any_volatile:
            raise self._other(self.node)
        return t.base

    def _other(self, node: c_ast.Node) -> NotModelled:
        return NotModelled("LX012", "not a function of numbers", "", node)

    # ------------------------------------------------------------ statements

    def _block(self, items: Iterable[c_ast.Node] | None) -> Iterable[Line]:
        for item in items or ():
            yield from self._line(item)

    def _body(self, node: c_ast.Node | None) -> tuple[Line, ...]:
        return () if node is None else tuple(self._line(node))

    def _line(self, node: c_ast.Node) -> Iterable[Line]:
        match node:
            case c_ast.Compound():
                yield from self._block(node.block_items)
            case c_ast.EmptyStatement():
                pass
            case c_ast.DeclList() | c_ast.ExprList():
                yield from self._block(getattr(node, "decls", None) or getattr(node, "exprs", ()))
            case c_ast.Decl():
                yield from self._decl(node)
            case c_ast.Assignment() | c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
                yield self._assign(node)
            case c_ast.If():
                cond = self.x.lower(node.cond)
                yield Test(cond, self._body(node.iftrue), self._body(node.iffalse))
            case c_ast.For():
                yield from self._body(node.init)
                cond_or_none = None if node.cond is None else self.x.lower(node.cond)
                after = self._body(node.next)
                steps = tuple(s for s in after if isinstance(s, Assign))
                if len(steps) != len(after):
                    raise self._other(node)
                yield Loop(cond_or_none, self._body(node.stmt), steps)
            case c_ast.While():
                yield Loop(self.x.lower(node.cond), self._body(node.stmt))
            case c_ast.DoWhile():
                yield Loop(self.x.lower(node.cond), self._body(node.stmt), at_end=True)
            case c_ast.Break():
                yield Jump("break")
            case c_ast.Continue():
                yield Jump("continue")
            case c_ast.Return() if node.expr is not None:
                yield Return(self.x.convert(self.x.lower(node.expr), self.returns))
            case _:
                raise self._other(node)

    def _decl(self, node: c_ast.Decl) -> Iterable[Line]:
        symbol = self.table.of(node)
        if symbol is None:  # it declares a type alone
            return
        if symbol.kind != "local" and symbol.kind != "loop":
            raise self._other(node)
        if symbol.type.derived:
            yield self._array(symbol, node)
            return
        yield Decl(symbol.ir, self._number(symbol.type))
        if node.init is not None:
            yield Assign(Var(symbol.ir), self.x.lower(node.init))

    def _array(self, s: Symbol, node: c_ast.Decl) -> Decl:
        sizes = [d.size for d in s.type.derived if isinstance(d, Array) and d.size is not None]
        shape = [value_of(self.x.lower(n)) for n in sizes]
        known = tuple(Const(n) for n in shape if n is not None)
        if len(known) < len(s.type.derived) or node.init is not None or s.type.base is None:
            raise self._other(node)
        return Decl(s.ir, s.type.base, known)

    def _assign(self, node: c_ast.Assignment | c_ast.UnaryOp) -> Assign:
        if isinstance(node, c_ast.UnaryOp):
            return Assign(self._target(node.expr), Const(1), node.op[-1])
        return Assign(self._target(node.lvalue), self.x.lower(node.rvalue), node.op[:-1])

    def _target(self, node: c_ast.Node) -> Var | Load:
        if isinstance(node, c_ast.ID):
            symbol = self.x.symbol(node)
            check_scalar(symbol, node)
            return Var(symbol.ir)
        return self.x.load(node)


def _takes_nothing(args: c_ast.ParamList) -> bool:
    only = args.params[0] if len(args.params) == 1 else None
    return isinstance(only, c_ast.Typename) and build.is_void(only.type)
