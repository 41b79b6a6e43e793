"""Statements: c_ast -> ir. What is not modelled becomes Opaque and keeps the loops inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from itertools import count

from pycparser import c_ast

from loopxform.frontend.annotated import Annotations, Noted
from loopxform.frontend.counters import counts
from loopxform.frontend.ctype import Array, Pointer, ctype
from loopxform.frontend.desugar.heap import HeapDecl
from loopxform.frontend.directives import Directives
from loopxform.frontend.facts import Facts
from loopxform.frontend.fold import fold
from loopxform.frontend.initialisers import elements
from loopxform.frontend.lower_expr import Expressions, check_scalar
from loopxform.frontend.lower_loop import Headers
from loopxform.frontend.members import is_pointer_member
from loopxform.frontend.pointers import bound, unknown_target
from loopxform.frontend.refusal import NotModelled
from loopxform.frontend.spared import given, spared
from loopxform.frontend.subscripts import check_condition
from loopxform.frontend.symbols import Span, Symbol, outside
from loopxform.frontend.tree import below
from loopxform.ir.nodes import (
    BREAK,
    Assign,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    If,
    Load,
    Opaque,
    Stmt,
    Var,
    While,
)
from loopxform.ir.types import Scalar
from loopxform.ir.visit import names

_COUNTED = "write it as a for loop that counts to a bound"
_JUMP = "write the jump as an if around what it skips, or as a for loop"
_LAST = "make it the last statement of the function, or compute a flag and return that at the end"
_GUARD = "put what it skips into an if"


class Statements:
    """Lowers the statements of one function."""

    def __init__(self, expressions: Expressions, facts: Facts, annotations: Annotations) -> None:
        self.x = expressions
        self.table = expressions.table
        self.places = expressions.places
        self.facts = facts
        self.headers = Headers(expressions, facts)
        self.directives = Directives(self.table, self.places, self._reads_outside_loops)
        self.annotations = annotations
        self.owners = {m.owner for m in self.table.symbols if m.owner is not None}
        self._reads: dict[Symbol, list[int]] = {}

    def block(self, items: Iterable[c_ast.Node] | None) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        waiting = []
        noted: list[Noted] = []
        for item in items or ():
            if isinstance(item, c_ast.Pragma):
                seen = self.directives.meet(item, out)
                waiting += [seen] if seen else []
                noted += self.annotations.meet(item)
                continue
            scop = self.annotations.scop
            found = self.stmt(item)
            self.directives.govern(waiting, item, found)
            self.annotations.govern(noted, item, found, scop)
            waiting, noted = [], []
            out += found
        self.annotations.end(noted)
        return tuple(out)

    def body(self, node: c_ast.Node | None) -> tuple[Stmt, ...]:
        """The statements of a loop body or a branch."""
        return () if node is None else tuple(self.stmt(node))

    def stmt(self, node: c_ast.Node) -> list[Stmt]:
        """The statements that `node` stands for; never raises NotModelled."""
        try:
            return self._stmt(node)
        except NotModelled as why:
            return [self._odd(why, node)]

    def _odd(self, why: NotModelled, node: c_ast.Node) -> Opaque:
        """A statement that is not modelled, with what it certainly does not do."""
        if why.code == "LX016":
            return self.opaque(why)
        spares, keeps = spared(node, self.table)
        sets = given(node, self.table)
        return replace(self.opaque(why), spares=spares, keeps=keeps, sets=sets)

    def _stmt(self, node: c_ast.Node) -> list[Stmt]:
        match node:
            case c_ast.Compound():
                return list(self.block(node.block_items))
            case c_ast.Pragma() | c_ast.EmptyStatement() | c_ast.Typedef() | c_ast.StaticAssert():
                return []
            case c_ast.Decl():
                return self._decl(node)
            case c_ast.Assignment():
                return self._assign(node)
            case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
                target = self._target(node.expr)
                op = node.op[-1]
                return [Assign(target, Const(1), op, origin=self.places.origin(node))]
            case c_ast.For():
                return self._for(node)
            case c_ast.If():
                return [self._if(node)]
            case c_ast.ExprList():
                return list(self.block(node.exprs))
            case _:
                return self._control(node)

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

    # ------------------------------------------------------------ control flow

    def _control(self, node: c_ast.Node) -> list[Stmt]:
        match node:
            case c_ast.While() | c_ast.DoWhile():
                word = "while" if isinstance(node, c_ast.While) else "do"
                why = NotModelled("LX011", f"a {word} loop", _COUNTED, node)
                opaque = self.opaque(why, self.body(node.stmt))
                return [self._while(opaque, node.cond, once=word == "do")]
            case c_ast.Switch():
                why = NotModelled("LX011", "a switch", "write it with if and else", node)
                return [self.opaque(why, self.body(node.stmt))]
            case c_ast.Case() | c_ast.Default():
                return list(self.block(node.stmts))
            case c_ast.Label():
                why = NotModelled("LX011", f"the label '{node.name}'", _JUMP, node)
                return [self.opaque(why, self.body(node.stmt))]
            case c_ast.Goto():
                raise NotModelled("LX011", "a goto", _JUMP, node)
            case c_ast.Break():
                raise NotModelled("LX011", BREAK, "run to the bound, with an if inside", node)
            case c_ast.Continue():
                raise NotModelled("LX011", "a continue", _GUARD, node)
            case c_ast.Return():
                raise NotModelled("LX011", "a return that is not the last statement", _LAST, node)
            case _:
                return self._expression(node)

    def _expression(self, node: c_ast.Node) -> list[Stmt]:
        """An expression whose value is not used: nothing, if it does nothing."""
        if isinstance(node, c_ast.Cast) and ctype(node.to_type, self.x.typedef).is_void:
            return self._expression(node.expr)
        if has_effects(node) or not isinstance(node, c_ast.ID | c_ast.Constant):
            self.x.lower(node)
        return []

    def _if(self, node: c_ast.If) -> Stmt:
        then, orelse = self.body(node.iftrue), self.body(node.iffalse)
        try:
            cond = self.x.lower(node.cond)
            check_condition(cond, self.x.types, node.cond)
        except NotModelled as why:
            return replace(self._odd(why, node.cond), body=then + orelse)
        return If(cond, then, orelse, origin=self.places.origin(node))

    def _while(self, s: Opaque, cond: c_ast.Node | None, *, once: bool = False) -> Opaque:
        """The loop around the body of `s`, with its condition where that is modelled."""
        try:
            test = Const(1) if cond is None else self.x.lower(cond)
            if cond is not None:
                check_condition(test, self.x.types, cond)
        except NotModelled:
            return s
        held = {f.name: getattr(s, f.name) for f in fields(s)}
        return While(**held, cond=test, once=once)

    def _for(self, node: c_ast.For) -> list[Stmt]:
        origin = self.places.origin(node)
        try:
            h = self.headers.header(node)
        except NotModelled as why:
            return self._uncounted(node, why)
        out = self._live_out(h.symbol, node)
        loop = For(
            h.symbol.ir, h.lo, h.hi, Const(h.step), (), type=h.type, live_out=out, origin=origin
        )
        self.facts.enter(loop)
        body = self.body(node.stmt)
        self.facts.leave()
        return [replace(loop, body=body)]

    def _uncounted(self, node: c_ast.For, why: NotModelled) -> list[Stmt]:
        """A `for` whose header is not modelled: its start, and a while loop that ends with its
        step."""
        declared = node.init.decls if isinstance(node.init, c_ast.DeclList) else ()
        for d in declared:
            self._own_name(d)
        start = self.block(declared or ([node.init] if node.init else []))
        step, body = self.body(node.next), self.body(node.stmt)
        loop = self._while(self.opaque(why, (*body, *step), node), node.cond)
        if isinstance(loop, While) and not any(isinstance(s, Opaque) for s in (*start, *step)):
            return [*start, loop]
        return [self.opaque(why, (*(start if declared else ()), *body), node)]

    def _own_name(self, node: c_ast.Decl) -> None:
        """A variable that does not count has a name that no counter shares."""
        symbol = self.table.of(node)
        others = {s.ir for s in self.table.symbols if s is not symbol}
        if symbol is None or symbol.ir not in others:
            return
        symbol.ir = next(n for k in count(2) if (n := f"{symbol.name}_{k}") not in others)
        if symbol.type.base is not None:
            self.x.types[symbol.ir] = symbol.type.base

    def _live_out(self, symbol: Symbol, node: c_ast.For) -> bool:
        """Whether the variable may be read after the loop, before another loop sets it."""
        if symbol.kind == "loop":
            return False
        if symbol.kind == "global":
            return True
        reads = self._reads_outside_loops(symbol)
        if self.table.jumps:
            return bool(reads)
        span, outer = self.table.span(node), self.table.outermost(node)
        return any(r >= span.end or (outer is not span and outer.repeats(r)) for r in reads)

    def _reads_outside_loops(self, symbol: Symbol) -> list[int]:
        """Where `symbol` is read outside the loops that give it its value first."""
        if symbol not in self._reads:
            spans = [s for s in self.table.spans.values() if self._starts(symbol, s)]
            self._reads[symbol] = outside(symbol.reads, spans)
        return self._reads[symbol]

    def _starts(self, symbol: Symbol, span: Span) -> bool:
        match span.node:
            case c_ast.For(init=c_ast.Assignment(op="=", lvalue=c_ast.ID() as target)):
                return self.table.of(target) is symbol
            case _:
                return False

    # ------------------------------------------------------------ assignments

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
        return [Assign(target, self.x.lower(node.rvalue), node.op[:-1], origin=origin)]

    def _chain(self, outer: c_ast.Assignment, inner: c_ast.Assignment) -> list[Stmt]:
        """`a = b = e` is `b = e; a = b`."""
        before = self._assign(inner)
        last = before[-1]
        assert isinstance(last, Assign)
        target, written = self._target(outer.lvalue), last.target
        name = written.name if isinstance(written, Var) else written.array
        subscripts = written.index if isinstance(written, Load) else ()
        if any(name in names(i) for i in subscripts):
            help = "write two statements"
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
        if symbol in self.owners and not any(isinstance(d, Pointer) for d in t.derived):
            parts = self._structs(node, symbol)
            help = "set its members one by one"
            why = NotModelled("LX015", f"the initialiser of a {t.spelling}", help, node)
            if id(node) in self.table.copies:
                return [*parts, *(s for a in self.table.copies[id(node)] for s in self._assign(a))]
            return parts if node.init is None else [*parts, self.opaque(why)]
        if node.init is None or self._is_bound(symbol, node.init):
            return []
        if t.is_array:
            raise unknown_target(symbol, node)
        help = "use the array it points to, or make it a parameter"
        raise NotModelled("LX015", f"'{symbol.name}' has type {t}", help, node)

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
        out: list[Stmt] = [Decl(symbol.ir, t, shape, heap=heap, origin=origin)]
        if node.init is None:
            return out
        try:
            for index, e in self._initial(node, shape):
                name = symbol.ir
                target = Load(name, index, origin=origin) if shape else Var(name, origin=origin)
                out.append(Assign(target, e, origin=origin))
        except NotModelled as why:
            return [out[0], self._odd(why, node)]
        return out

    def _initial(
        self, node: c_ast.Decl, shape: tuple[Expr, ...]
    ) -> Iterable[tuple[tuple[Expr, ...], Expr]]:
        """Index and value of every element; a scalar has one."""
        if not shape:
            return [((), self.x.lower(node.init))]
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
                    shape = self._shape(node, m)
                    out.append(Decl(m.ir, m.type.base, shape, origin=self.places.origin(node)))
        return out

    def _shape(self, node: c_ast.Decl, symbol: Symbol) -> tuple[Expr, ...]:
        out: list[Expr] = []
        for d in symbol.type.derived:
            assert isinstance(d, Array)
            if d.size is not None:
                out.append(_dimension(self.x, d.size))
            elif isinstance(node.init, c_ast.InitList):
                out.append(Const(len(node.init.exprs)))
            else:
                help = "state the size"
                raise NotModelled("LX015", f"the size of '{symbol.name}' is not stated", help, node)
        return tuple(out)


def _dimension(x: Expressions, node: c_ast.Node) -> Expr:
    e = x.lower(node)
    if not x.type_of(e).is_integer:
        raise NotModelled("LX015", "an array size that is not an integer", "", node)
    while isinstance(e, Cast) and e.type.bytes >= 4 and x.type_of(e.operand).bytes <= e.type.bytes:
        e = e.operand
    return e


def has_effects(node: c_ast.Node) -> bool:
    """Whether evaluating `node` does anything: assigns, steps or calls."""
    if isinstance(node, c_ast.Assignment | c_ast.FuncCall | c_ast.Compound):
        return True
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
        return True
    return any(has_effects(child) for child in below(node))
