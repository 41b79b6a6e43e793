"""Statements with control flow: c_ast -> ir. What is not modelled becomes Opaque and keeps the
loops inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import count

from pycparser import c_ast

from loopxform.frontend.desugar.leaving_loops import Leaving
from loopxform.frontend.lower.assignments import SimpleStatements
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.facts import Facts
from loopxform.frontend.lower.fold import fold
from loopxform.frontend.lower.guarded_extrema import guarded_extremum
from loopxform.frontend.lower.loops import Headers
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.sketch import in_order
from loopxform.frontend.lower.subscripts import check_condition
from loopxform.frontend.names.ctype import ctype
from loopxform.frontend.names.iterated import place
from loopxform.frontend.names.liveness import Liveness
from loopxform.frontend.names.sequential import Obstacle
from loopxform.frontend.names.symbols import Span, Symbol, outside
from loopxform.frontend.pragmas.annotated import Annotations, Noted
from loopxform.frontend.pragmas.directives import Directives
from loopxform.frontend.syntax.tree import below, statements
from loopxform.ir.nodes import (
    INNER_RETURN,
    Assign,
    Const,
    For,
    If,
    Opaque,
    Stmt,
    While,
)
from loopxform.ir.sequential import Sequential
from loopxform.ir.visit import declared, walk, writes

_COUNTED = "write it as a for loop that counts to a bound"
_JUMP = "write the jump as an if around what it skips, or as a for loop"
_LAST = "make it the last statement of the function, or compute a flag and return that at the end"
_GUARD = "put what it skips into an if"


class Statements(SimpleStatements):
    """Lowers the statements of one function."""

    def __init__(
        self,
        expressions: Expressions,
        facts: Facts,
        annotations: Annotations,
        function: c_ast.Compound,
        iterated: Mapping[str, Sequence[str]],
        obstacles: Mapping[str, Obstacle],
    ) -> None:
        super().__init__(expressions)
        self.function = function
        self.iterated = iterated
        self.obstacles = obstacles
        self.sequential: list[Sequential] = []
        self.facts = facts
        self.headers = Headers(expressions, facts)
        self.directives = Directives(self.table, self.places, self._reads_outside_loops)
        self.annotations = annotations
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
            return [self.odd(why, node)]

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
                return _taken(self._if(node))
            case c_ast.ExprList():
                return list(self.block(node.exprs))
            case _:
                return self._control(node)

    def _control(self, node: c_ast.Node) -> list[Stmt]:
        match node:
            case c_ast.While() | c_ast.DoWhile():
                word = "while" if isinstance(node, c_ast.While) else "do"
                why = NotModelled("LX011", f"a {word} loop", _COUNTED, node)
                opaque = self.opaque(why, self.body(node.stmt))
                return [self._while(opaque, node.cond, once=word == "do")]
            case c_ast.Switch():
                why = NotModelled("LX011", "a switch", "write it with if and else", node)
                body = [s for item in statements(node.stmt) for s in self._case(item)]
                return [self.opaque(why, tuple(body))]
            case c_ast.Case() | c_ast.Default():
                word = "case" if isinstance(node, c_ast.Case) else "default"
                reason = f"the {word} label of a switch around it"
                why = NotModelled("LX011", reason, _JUMP, node)
                return [replace(self.opaque(why, self.block(node.stmts)), jump="elsewhere")]
            case c_ast.Label():
                why = NotModelled("LX011", f"the label '{node.name}'", _JUMP, node)
                return [replace(self.opaque(why, self.body(node.stmt)), jump="elsewhere")]
            case c_ast.Goto() | Leaving():
                raise NotModelled("LX011", "a goto", _JUMP, node)
            case c_ast.Break():
                raise NotModelled("LX011", "a break", "run to the bound, with an if inside", node)
            case c_ast.Continue():
                raise NotModelled("LX011", "a continue", _GUARD, node)
            case c_ast.Return():
                raise NotModelled("LX011", INNER_RETURN, _LAST, node)
            case _:
                return self._expression(node)

    def _case(self, node: c_ast.Node) -> Iterable[Stmt]:
        """A statement of a switch, whose own labels are part of it. One further inside is jumped
        to from there (Duff's device)."""
        if isinstance(node, c_ast.Case | c_ast.Default):
            return self.block(node.stmts)
        return self.stmt(node)

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
            return replace(self.odd(why, node.cond), body=then + orelse)
        return guarded_extremum(If(cond, then, orelse, origin=self.places.origin(node)))

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
        ordered = in_order(node, self.obstacles, self.places)
        self.sequential += [ordered] if ordered is not None else []
        try:
            h = self.headers.header(node)
        except NotModelled as why:
            return self._uncounted(node, why)
        out = self._live_out(h.symbol, node)
        loop = For(
            h.symbol.ir,
            h.lo,
            h.hi,
            Const(h.step),
            (),
            type=h.type,
            live_out=out,
            asks=h.asks,
            origin=origin,
        )
        self.facts.enter(loop)
        outside, self.x.around = self.x.around, self.facts.around
        loop = replace(loop, body=self.body(node.stmt))
        self.x.around = outside
        self.facts.leave()
        return [replace(loop, sets=tuple(self._silently_set(node, loop, h.symbol)))]

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

    def _silently_set(self, node: c_ast.For, loop: For, counter: Symbol) -> Iterator[str]:
        """What iterations of the user's text set outside of the loop, and the loop tree does not,
        or in variables of each iteration."""
        tree = writes((loop,)) | {s.var for _, s in walk((loop,)) if isinstance(s, For)}
        own = declared((loop,)).keys()
        found = (s for s in self.table.symbols if s.ir in tree - own and s.kind != "loop")
        known = {n.partition(".")[0] for s in (counter, *found) for n in (s.name, s.spelling)}
        return (n for n in self.iterated.get(place(node), ()) if n not in known)

    def _live_out(self, symbol: Symbol, node: c_ast.For) -> bool:
        """Whether the variable may be read after the loop, before another loop sets it."""
        if symbol.kind == "global" or self.table.is_known_elsewhere(symbol):
            return True
        if symbol.kind == "loop":
            return False
        reads = self._reads_outside_loops(symbol)
        if self.table.jumps:
            return bool(reads)
        span, outer = self.table.span(node), self.table.outermost(node)
        later = any(r >= span.end or (outer is not span and outer.repeats(r)) for r in reads)
        if not later or symbol.escapes:
            return later
        return self._liveness.after((node,), symbol)

    @cached_property
    def _liveness(self) -> Liveness:
        table = self.table
        return Liveness(self.function, lambda x: table.of(x) if isinstance(x, c_ast.ID) else None)

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


def has_effects(node: c_ast.Node) -> bool:
    """Whether evaluating `node` does anything: assigns, steps or calls."""
    if isinstance(node, c_ast.Assignment | c_ast.FuncCall | c_ast.Compound):
        return True
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
        return True
    return any(has_effects(child) for child in below(node))


def _taken(s: Stmt) -> list[Stmt]:
    """A condition that is a number (`if (VERBOSE) ...`) without the branch that is never taken,
    unless that has loops, which are judged, or something to jump to."""
    value = fold(s.cond) if isinstance(s, If) else None
    if value is None or not isinstance(s, If):
        return [s]
    kept, dead = (s.then, s.orelse) if value else (s.orelse, s.then)
    if any(isinstance(x, For | Opaque) for _, x in walk(dead)):
        return [s]
    return [replace(s, cond=Const(1), then=kept, orelse=())] if kept else []
