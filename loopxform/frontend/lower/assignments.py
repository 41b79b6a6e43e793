"""Declarations and assignments: c_ast -> ir."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.desugar.heap import HeapDecl
from loopxform.frontend.lower.counters import counts
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.fold import fold
from loopxform.frontend.lower.initialisers import elements
from loopxform.frontend.lower.long_chains import in_parts
from loopxform.frontend.lower.opaque_effects import given, spared
from loopxform.frontend.lower.pointers import bound, unknown_target
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.subscripts import as_compared
from loopxform.frontend.lower.unmodelled import check_scalar
from loopxform.frontend.names.ctype import Array, Pointer
from loopxform.frontend.names.members import is_pointer_member
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.tree import every
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Escape,
    Expr,
    Load,
    Opaque,
    Stmt,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.visit import names

_JUMPS = (c_ast.Goto, c_ast.Return, c_ast.Label, c_ast.Break, c_ast.Continue, c_ast.Case)


class SimpleStatements:
    """Lowers the statements of a function that hold no others."""

    def __init__(self, expressions: Expressions) -> None:
        self.x = expressions
        self.table = expressions.table
        self.places = expressions.places
        self.owners = {m.owner for m in self.table.symbols if m.owner is not None}

    def opaque(
        self, why: NotModelled, body: tuple[Stmt, ...] = (), loop: c_ast.For | None = None
    ) -> Opaque:
        """The statement that says why; an unmodelled loop is placed at its `for`."""
        at = self.places.node(why.node)
        origin = self.places.origin(loop or why.node)
        reason = why.reason
        if loop is not None and at and origin.loc and at.line != origin.loc.line:
            reason = f"{reason} (line {at.line})"
        text = self.places.text(origin.loc)
        var = "" if loop is None else counts(loop)
        return Opaque(why.code, reason, why.help, body, loop is not None, text, var, origin=origin)

    def odd(self, why: NotModelled, node: c_ast.Node) -> Opaque:
        """A statement that is not modelled, with what it certainly does not do."""
        jump = _jump(node)
        if why.code == "LX016":
            return replace(self.opaque(why), jump=jump)
        spares, keeps = spared(node, self.table)
        sets, moves = given(node, self.table), self._moved(node)
        odd = replace(self.opaque(why), spares=spares, keeps=keeps, sets=sets, jump=jump)
        return replace(odd, moves=moves)

    def _moved(self, node: c_ast.Node) -> tuple[str, ...]:
        """The pointer that a statement sets, and the one it is set to."""
        match node:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target, rvalue=c_ast.ID() as value):
                pair = self.table.of(target), self.table.of(value)
            case c_ast.Decl(init=c_ast.ID() as value):
                pair = self.table.of(node), self.table.of(value)
            case _:
                return ()
        plain = [s for s in pair if s is not None and self._is_pointer(s)]
        return tuple(s.ir for s in plain) if len(plain) == len(pair) else ()

    def _is_pointer(self, s: Symbol) -> bool:
        """Whether it is a pointer that only its name leads to."""
        t = s.type
        known = s.kind in ("param", "local") and not s.storage and s.owner is None
        own = known and s not in self.table.exposed and not t.is_any_volatile
        return own and s.is_pointer and s.target is None

    def _assign(self, node: c_ast.Assignment) -> list[Stmt]:
        origin = self.places.origin(node)
        if node.op == "=" and isinstance(node.rvalue, c_ast.Assignment):
            return self._chain(node, node.rvalue)
        if id(node) in self.table.copies:
            return [s for a in self.table.copies[id(node)] for s in self._assign(a)]
        if isinstance(node.lvalue, c_ast.ID):
            pointer = self.table.of(node.lvalue)
            if pointer is not None and pointer.target and self._is_bound(pointer, node.rvalue):
                return []
        target = self._target(node.lvalue)
        written = target.name if isinstance(target, Var) else target.array
        whole = self.x.value(node.rvalue)
        before, whole = in_parts(whole, written, self.x.types, origin)
        value = as_compared(whole, self.x.types)
        op = node.op[:-1]
        if not op and (step := _step(target, value)) and self.x.type_of(target).is_integer:
            op, value = step
        return [*before, Assign(target, value, op, origin=origin)]

    def _chain(self, outer: c_ast.Assignment, inner: c_ast.Assignment) -> list[Stmt]:
        """`a = b = e` is `b = e; a = b`."""
        help = "write two statements"
        before = self._assign(inner)
        if not before:  # a pointer that is another name for a place: it holds no value here
            raise NotModelled("LX017", "an assignment inside an expression", help, inner)
        last = before[-1]
        assert isinstance(last, Assign)
        target, written = self._target(outer.lvalue), last.target
        name = written.name if isinstance(written, Var) else written.array
        subscripts = written.index if isinstance(written, Load) else ()
        if any(name in names(i) for i in subscripts):
            raise NotModelled("LX017", "an assignment inside an expression", help, inner)
        value: Expr = last.value if self._is_kept(last) else written
        return [*before, Assign(target, value, origin=self.places.origin(outer))]

    def _is_kept(self, s: Assign) -> bool:
        """Whether the target holds the very constant that is assigned."""
        if s.op or not isinstance(s.value, Const) or not isinstance(s.value.value, int):
            return False
        most = 1 if self.x.type_of(s.target).kind == "bool" else 127
        return 0 <= s.value.value <= most

    def _target(self, node: c_ast.Node) -> Var | Load:
        if isinstance(node, c_ast.ID):
            symbol = self.x.symbol(node)
            if symbol.type.derived:
                help = f"leave '{symbol.name}' alone and add an offset to the subscripts"
                raise NotModelled("LX014", f"the pointer '{symbol.name}' is changed", help, node)
            check_scalar(symbol, node)
            return Var(symbol.ir, origin=self.places.origin(node))
        if isinstance(node, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.StructRef):
            return self.x.load(node)
        help = "use a variable or an array element"
        raise NotModelled("LX015", "the target is not a variable or an array element", help, node)

    # ------------------------------------------------------------ declarations

    def _decl(self, node: c_ast.Decl) -> list[Stmt]:
        symbol = self.table.of(node)
        if symbol is None or symbol.kind not in ("local", "loop"):
            return []
        t = symbol.type
        if t.is_any_volatile and node.init is not None:
            raise NotModelled("LX016", f"'{symbol.name}' is volatile", "", node)
        if "static" in symbol.storage:
            if self._is_constant(symbol, node):
                return []
            help = "make it a variable of the file or a parameter"
            reason = f"'{symbol.name}' keeps its value between calls (static)"
            raise NotModelled("LX015", reason, help, node)
        if t.base is not None and (t.is_scalar or symbol.is_modelled_array):
            return self._object(node, symbol, t.base)
        if id(node) in self.table.copies:
            return [*self._structs(node, symbol), *self._copies(node)]
        if symbol in self.owners and not any(isinstance(d, Pointer) for d in t.derived):
            parts = self._structs(node, symbol)
            help = "set its members one by one"
            why = NotModelled("LX015", f"the initialiser of a {t.spelling}", help, node)
            return parts if node.init is None else [*parts, self.opaque(why)]
        if node.init is None or self._is_bound(symbol, node.init):
            return []
        if t.is_array:
            raise unknown_target(symbol, node)
        help = "use the array it points to, or make it a parameter"
        raise NotModelled("LX015", f"'{symbol.name}' has type {t}", help, node)

    def _copies(self, node: c_ast.Decl) -> list[Stmt]:
        """The copies of members that the initialiser of a struct stands for; what it declares is
        there, whatever they come to."""
        try:
            return [s for a in self.table.copies[id(node)] for s in self._assign(a)]
        except NotModelled as why:
            return [self.odd(why, node)]

    def _is_bound(self, symbol: Symbol, value: c_ast.Node) -> bool:
        """Whether a pointer is only another name for the place `value`, so that nothing is done
        where it is set. Raises NotModelled where there is no such place."""
        if symbol.target is not value:
            return False
        bound(symbol, value, self.x)
        return True

    def _is_constant(self, symbol: Symbol, node: c_ast.Decl) -> bool:
        """Whether a static is `static const int K = 4`: then its name stands for the number."""
        t = symbol.type
        if not (t.is_scalar and t.const and t.base and t.base.is_integer and node.init is not None):
            return False
        value = fold(self.x.lower(node.init))
        symbol.value = None if value is None else Const(value, t.base)
        return value is not None

    def _object(self, node: c_ast.Decl, symbol: Symbol, t: Scalar) -> list[Stmt]:
        origin = self.places.origin(node)
        shape = self._shape(node, symbol)
        heap = isinstance(node, HeapDecl)
        out: list[Stmt] = [
            Decl(symbol.ir, t, shape, heap=heap, exposed=bool(symbol.escapes), origin=origin)
        ]
        if node.init is None:
            return out
        try:
            for index, e in self._initial(node, shape):
                name = symbol.ir
                target = Load(name, index, origin=origin) if shape else Var(name, origin=origin)
                out.append(Assign(target, e, origin=origin))
        except NotModelled as why:
            return [out[0], self.odd(why, node)]
        return out

    def _initial(
        self, node: c_ast.Decl, shape: tuple[Expr, ...]
    ) -> Iterable[tuple[tuple[Expr, ...], Expr]]:
        """Index and value of every element; a scalar has one."""
        if not shape:
            return [((), as_compared(self.x.lower(node.init), self.x.types))]
        return [(i, e or Const(0)) for i, e in elements(node, shape, self.x.lower)]

    def _structs(self, node: c_ast.Decl, symbol: Symbol) -> list[Stmt]:
        """One array for each member of a struct, or of an array of structs, that is used."""
        out: list[Stmt] = []
        for m in self.table.symbols:
            if (
                m.owner is symbol
                and m.member_type is not None
                and not is_pointer_member(m.member_type)
            ):
                if m.type.base is None:
                    out += self._structs(node, m)
                else:
                    shape, exposed = self._shape(node, m), bool(m.escapes)
                    origin = self.places.origin(node)
                    out.append(Decl(m.ir, m.type.base, shape, exposed=exposed, origin=origin))
        return out

    def _shape(self, node: c_ast.Decl, symbol: Symbol) -> tuple[Expr, ...]:
        """The sizes of an array. Raises NotModelled for one that is not read, and then nothing that
        uses the array is."""
        try:
            return tuple(self._dimensions(node, symbol))
        except NotModelled:
            symbol.unsized = True
            raise

    def _dimensions(self, node: c_ast.Decl, symbol: Symbol) -> Iterator[Expr]:
        for d in symbol.type.derived:
            assert isinstance(d, Array)
            if d.size is not None:
                yield _dimension(self.x, d.size)
            elif isinstance(node.init, c_ast.InitList):
                yield Const(len(node.init.exprs))
            else:
                help = "state the size"
                raise NotModelled("LX015", f"the size of '{symbol.name}' is not stated", help, node)


def _step(target: Var | Load, value: Expr) -> tuple[str, Const] | None:
    """The operator and the number of `k = k + 1`, which is `k += 1`."""
    match value:
        case Bin("+" | "-" as op, left, Const() as number) if left == target:
            return op, number
        case Bin("+", Const() as number, right) if right == target:
            return "+", number
        case _:
            return None


def _jump(node: c_ast.Node) -> Escape:
    """Where control goes in a statement, or in one that an expression holds."""
    match node:
        case c_ast.Break():
            return "break"
        case c_ast.Continue():
            return "continue"
        case _:
            return "elsewhere" if any(isinstance(n, _JUMPS) for n in every(node)) else ""


def _dimension(x: Expressions, node: c_ast.Node) -> Expr:
    e = x.lower(node)
    if not x.type_of(e).is_integer:
        raise NotModelled("LX015", "an array size that is not an integer", "", node)
    while isinstance(e, Cast) and e.type.bytes >= 4 and x.type_of(e.operand).bytes <= e.type.bytes:
        e = e.operand
    return e
