"""Headers of `for` loops: start, bound and step, or the reason why they are not known.

Accepted: `var = lo` (or a declaration), a comparison of `var` (or `var + c`) with a bound that the
body leaves alone (or several, joined by `&&`), and `var++ var-- var += c var -= c var = var + c`
with a constant c. The bound of the loop tree is exclusive: `i <= n` is `n + 1`, `i >= 0` is `-1`,
and of several it is the one that is reached first.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.counting import Counting
from loopxform.frontend.lower.ends import End, Ends, asked, left_early
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.facts import Facts
from loopxform.frontend.lower.fold import fold
from loopxform.frontend.lower.pointers import Of, rank_left
from loopxform.frontend.lower.refusal import NotModelled, refused
from loopxform.frontend.lower.subscripts import check_wrap
from loopxform.frontend.lower.unmodelled import check_scalar
from loopxform.frontend.names.hidden_state import ARITHMETIC
from loopxform.frontend.names.symbols import Span, Store, Symbol
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Select
from loopxform.ir.types import INT, Scalar
from loopxform.ir.visit import names, walk_expr
from loopxform.records import record

_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_NO_BOUND = "the condition does not compare '{}' with a bound"
_FORM = "write the loop as for (i = lo; i < hi; i++)"
A_CALL = "a call in the body may modify"
_UNSIGNED = "write i + 1 < n instead of i < n - 1, or make the variables signed (int or long)"


@record
class Header:
    symbol: Symbol
    lo: Expr
    hi: Expr
    step: int
    asks: Expr | None

    @property
    def type(self) -> Scalar:
        assert self.symbol.type.base is not None
        return self.symbol.type.base


def _is_float(node: c_ast.Node) -> bool:
    """Whether a number is written with a point, or converted to one that has."""
    if isinstance(node, c_ast.IdentifierType):
        return not {"float", "double"}.isdisjoint(node.names)
    return isinstance(node, c_ast.Constant) and node.type in ("float", "double", "long double")


class Headers:
    """Reads the headers of one function's loops."""

    def __init__(self, expressions: Expressions, facts: Facts) -> None:
        self.x = expressions
        self.table = expressions.table
        self.counting = Counting(expressions, facts)
        self.ends = Ends(expressions, facts)

    def header(self, node: c_ast.For) -> Header:
        """The header of `node`; NotModelled with the part that is the reason."""
        self._rounds(node)
        symbol, start = self._start(node)
        step, part = self._step(node, symbol)
        conditions = _conjuncts(node.cond)
        bounds = [self._condition(c, node, symbol) for c in conditions]
        self._unchanged(symbol, node)
        lo = self._number(start)
        early = left_early(node.stmt)
        alone = len(bounds) == 1 and not early
        ends = [self._end(node, symbol, lo, (step, part), bound, alone=alone) for bound in bounds]
        if len(ends) > 1:
            self._comparable(ends, lo, symbol, node)
        hi = self.ends.exclusive(ends, up=step > 0, early=early)
        return Header(symbol, lo, hi, step, asked(ends, symbol.ir))

    def _rounds(self, node: c_ast.For) -> None:
        """Arithmetic in a loop rounds to nearest, and nobody looks at what it raises."""
        state = self.x.sees(ARITHMETIC)
        if state is not None and self._is_floating(node):
            help = "leave rounding and exceptions alone around the loop"
            raise NotModelled("LX012", f"arithmetic uses {state}, which is looked at", help, node)

    def _is_floating(self, node: c_ast.For) -> bool:
        numbers = any(s.type.base is not None and s.type.base.is_float for s in self.table.symbols)
        written = (isinstance(n, c_ast.FuncCall) or _is_float(n) for n in every(node))
        return numbers or any(written)

    def _end(
        self,
        node: c_ast.For,
        symbol: Symbol,
        lo: Expr,
        stepping: tuple[int, c_ast.Node],
        comparison: tuple[str, c_ast.Node, int],
        *,
        alone: bool,
    ) -> End:
        """Where one comparison ends the loop; `alone` says that nothing else does."""
        (step, part), (said, bound, shift) = stepping, comparison
        op = said
        hi = self._nearest(self._number(bound), "min" if step > 0 else "max")
        read = self._symbols(bound)
        owners = {s.owner for s in read}
        for s in read:
            self._bound_unchanged(s, node, bound, itself=s in owners)
        if op == "!=":
            if step not in (1, -1):
                raise refused(part, "a loop that ends with != must step by 1", "end it with < or >")
            op = "<" if step > 0 else ">"
            self.counting.reaches(symbol, lo, hi, step, node)
        if (step > 0) != (op in ("<", "<=")):
            raise refused(part, f"'{symbol.name}' counts away from its bound", _FORM)
        self.counting.agrees(symbol, lo, hi, (op, step, shift), node)
        return End(hi, op, shift, bound, said, None if alone or said != "!=" else lo)

    def _nearest(self, e: Expr, op: str) -> Expr:
        """The least (or greatest) of two signed numbers says so, and a choice between numbers is
        the one that C takes."""
        if isinstance(e, Select) and self.x.type_of(e) == INT and (value := fold(e)) is not None:
            return Const(value, origin=e.origin)
        match e:
            case Select(Bin("<" | "<=" | ">" | ">=" as compare, left, right), then, orelse):
                pair = (left, right) if (compare in ("<", "<=")) == (op == "min") else (right, left)
                signed = not any(self.x.type_of(x).is_unsigned for x in pair)
                if signed and pair == (then, orelse):
                    nearest = (self._nearest(x, op) for x in pair)
                    return Bin(op, *nearest, origin=e.origin)
        return e

    def _comparable(self, ends: list[End], lo: Expr, symbol: Symbol, node: c_ast.For) -> None:
        """The nearest of several ends is the least (or greatest) number, and reading all of them
        is as good as reading them until one is reached: the first is read in any case, and one that
        must not be (an element of an array) where the loop begins before those in front of it,
        which is asked of the arguments."""
        types = [self.x.type_of(end.bound) for end in ends]
        traps = [n for n, end in enumerate(ends) if any(map(_may_trap, walk_expr(end.bound)))]
        unsafe = any(not self._is_reached(ends[:n], lo) for n in traps)
        own = symbol.type.base
        assert own is not None
        alike = all(t == own for t in types)
        if unsafe or (any(t.is_unsigned for t in (own, *types)) and not alike):
            raise refused(node.cond, _NO_BOUND.format(symbol.name), _FORM)

    def _is_reached(self, ends: list[End], lo: Expr) -> bool:
        """Whether a loop is asked to begin before some ends, as far as its condition tells."""
        said = [Bin(end.op, simplify(Bin("+", lo, Const(end.shift))), end.bound) for end in ends]
        open = [c for c in said if names(c) or not evaluate(c, {})]
        return self.ends.facts.assume_all(open)

    # ------------------------------------------------------------ the three parts

    def _start(self, node: c_ast.For) -> tuple[Symbol, c_ast.Node]:
        match node.init:
            case c_ast.DeclList(decls=[c_ast.Decl(init=init) as d]) if init is not None:
                symbol = self.table.of(d)
                start = init
            case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target, rvalue=start):
                symbol = self.x.symbol(target)
            case None:
                raise refused(node, "the loop has no start value", _FORM)
            case _:
                part = node.init if not isinstance(node.init, c_ast.DeclList) else node
                raise refused(part, "the loop does not start one variable", _FORM)
        if symbol is None or not symbol.type.is_scalar or symbol.type.base is None:
            raise refused(node, "the loop variable is not an integer", _FORM)
        if symbol.type.is_any_volatile:
            raise NotModelled("LX016", f"'{symbol.name}' is volatile", "", node)
        check_scalar(symbol, node)
        if not symbol.type.base.is_integer or symbol.type.base.kind == "bool":
            help = "count with an int and compute the value from it"
            raise refused(node, f"'{symbol.name}' of type {symbol.type} counts a loop", help)
        return symbol, start

    def _step(self, node: c_ast.For, symbol: Symbol) -> tuple[int, c_ast.Node]:
        match node.next:
            case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID() as v) if self._is(v, symbol):
                return 1, node.next
            case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID() as v) if self._is(v, symbol):
                return -1, node.next
            case c_ast.Assignment(op="+=" | "-=" as op, lvalue=v) if self._is(v, symbol):
                return self._constant(node.next.rvalue, op[0], node.next), node.next
            case c_ast.Assignment(op="=", lvalue=v, rvalue=c_ast.BinaryOp(op="+" | "-" as op) as e):
                if self._is(v, symbol) and self._is(e.left, symbol):
                    return self._constant(e.right, op, node.next), node.next
                if self._is(v, symbol) and op == "+" and self._is(e.right, symbol):
                    return self._constant(e.left, op, node.next), node.next
        part = node.next or node
        raise refused(part, f"'{symbol.name}' is not advanced by a constant", _FORM)

    def _constant(self, node: c_ast.Node, op: str, part: c_ast.Node) -> int:
        e = self.x.lower(node)
        value = fold(e) if self.x.type_of(e).is_integer else None
        if value is None:
            reason = "the step is not a constant, so its sign is not known"
            raise refused(node, reason, "use a constant step")
        if value == 0:
            raise refused(part, "the step is 0", "use a positive step")
        return value if op == "+" else -value

    def _condition(
        self, cond: c_ast.Node | None, node: c_ast.For, symbol: Symbol
    ) -> tuple[str, c_ast.Node, int]:
        """Comparison, bound, and the constant c of `var + c < bound`."""
        if isinstance(cond, c_ast.BinaryOp) and cond.op in _MIRROR:
            for op, side, bound in (
                (cond.op, cond.left, cond.right),
                (_MIRROR[cond.op], cond.right, cond.left),
            ):
                if symbol in self._symbols(bound):
                    continue
                shift = self._shift(side, symbol)
                if shift is not None:
                    return op, bound, shift
                alone = self._alone(side, bound, op, symbol)
                if alone is not None:
                    return op, alone, 0
        if cond is None:
            raise refused(node, "the loop has no condition", _FORM)
        sides = (cond.left, cond.right) if isinstance(cond, c_ast.BinaryOp) else ()
        if any(rank_left(side, self.table.of) for side in sides):
            reason = "how far apart two pointers are is not known"
            raise refused(
                cond, reason, "compare the pointer with its array and a number: p < a + n"
            )
        raise refused(cond, _NO_BOUND.format(symbol.name), _FORM)

    def _alone(
        self, side: c_ast.Node, bound: c_ast.Node, op: str, symbol: Symbol
    ) -> c_ast.Node | None:
        """The bound of `var` where that of `var + e` or of `var * c` is stated, in ints: wider
        numbers for the difference, and the quotient that is rounded up."""
        if not isinstance(side, c_ast.BinaryOp) or side.op not in ("+", "-", "*"):
            return None
        if symbol.type.base != INT or any(rank_left(n, self.table.of) for n in (side, bound)):
            return None
        if self._is(side.left, symbol):
            other = side.right
        elif side.op != "-" and self._is(side.right, symbol):
            other = side.left
        else:
            return None
        ints = all(self.x.type_of(self.x.lower(n)) == INT for n in (side, other, bound))
        if not ints or symbol in self._symbols(other):
            return None
        if side.op != "*":
            wide = build.cast_to(build.integer(bound, "long long"), bound)
            return build.binary("-" if side.op == "+" else "+", wide, other)
        factor = value_of(self.x.lower(other))
        if factor is None or factor < 2 or op not in ("<", ">="):
            return None
        one, zero = build.number(1, bound), build.number(0, bound)
        up = build.binary("+", build.binary("/", build.binary("-", bound, one), other), one)
        return build.choice(build.binary(">", bound, zero), up, build.binary("/", bound, other))

    def _shift(self, side: c_ast.Node, symbol: Symbol) -> int | None:
        """c where `side` is `var + c`, 0 where it is `var`."""
        if self._is(side, symbol):
            return 0
        if isinstance(side, c_ast.BinaryOp) and side.op in ("+", "-"):
            if self._is(side.left, symbol) and isinstance(side.right, c_ast.Constant):
                value = value_of(self.x.lower(side.right))
                return value if value is None or side.op == "+" else -value
            if side.op == "+" and self._is(side.right, symbol):
                constant = isinstance(side.left, c_ast.Constant)
                return value_of(self.x.lower(side.left)) if constant else None
        return None

    def _is(self, node: c_ast.Node, symbol: Symbol) -> bool:
        return isinstance(node, c_ast.ID) and self.table.of(node) is symbol

    def _number(self, node: c_ast.Node) -> Expr:
        e = self.x.lower(node)
        if not self.x.type_of(e).is_integer:
            raise refused(node, "the bound is not an integer", "convert it to int before the loop")
        check_wrap(e, self.x.types, node)
        self.ends.is_difference(e)
        for c in walk_expr(e):
            if isinstance(c, Cast) and not self.counting.keeps(c):
                help = "compute the bound into a variable before the loop"
                raise refused(node, f"the cast to {c.type} may change the bound", help)
        return e

    # ------------------------------------------------------------ what must hold

    def _symbols(self, node: c_ast.Node) -> list[Symbol]:
        """The objects an expression reads."""
        found = [self.table.of(node)] if isinstance(node, c_ast.ID | c_ast.StructRef) else []
        for child in below(node):
            found += self._symbols(child)
        return [s for s in found if s is not None]

    def _unchanged(self, symbol: Symbol, node: c_ast.For) -> None:
        """The loop variable is advanced by the header alone."""
        span = self.table.span(node)
        name = symbol.name
        if span.repeated(symbol.writes) > 1:
            part = _writer(node.stmt, symbol, self.table.of) or node
            help = "use another variable inside the body"
            raise refused(part, f"'{name}' is modified in the body of its loop", help)
        self._not_elsewhere(symbol, span, node)

    def _not_elsewhere(self, symbol: Symbol, span: Span, part: c_ast.Node) -> None:
        """Nothing in the loop modifies a variable under another name, as far as that is not asked
        at run time: whether a pointer that the caller gives points to a variable of the file."""
        if symbol.type.const:
            return
        known = self.table.is_known_elsewhere(symbol)
        help = f"use a copy of '{symbol.name}' in the loop"
        if span.repeated(symbol.escapes):
            reason = f"the address of '{symbol.name}' is taken in the loop"
            raise refused(part, reason, help)
        if (known or symbol.kind == "global") and span.repeated(self.table.calls):
            what = "the global " if symbol.kind == "global" else ""
            reason = f"{A_CALL} {what}'{symbol.name}'"
            raise refused(part, reason, help)
        if known and (pointer := self._reaching(symbol, span)) is not None:
            reason = f"writing to '{pointer}' may modify '{symbol.name}', whose address is taken"
            raise refused(part, reason, help)

    def _reaching(self, symbol: Symbol, span: Span) -> str | None:
        """A pointer through which the loop may write to a variable whose address is taken."""
        for place, s in self.table.stores.items():
            inside = span.repeats(place) and s.within is None
            if inside and self.table.modifies(place, symbol.type) and not self._is_given(s):
                return "a pointer" if s.base is None else s.base.name
        return None

    def _is_given(self, store: Store) -> bool:
        """Whether the caller gave the one pointer that leads to what is stored."""
        pointer = store.base
        if pointer is None or not store.through or pointer.kind != "param":
            return False
        return pointer not in self.table.settings and pointer not in self.table.exposed

    def _bound_unchanged(
        self, symbol: Symbol, node: c_ast.For, bound: c_ast.Node, *, itself: bool
    ) -> None:
        """`itself` says that nothing but the pointer is read, to reach a member."""
        span = self.table.span(node)
        owner = symbol.owner
        held = replace(symbol.type, derived=())
        stores = owner.stores if owner is not None else ()
        if owner and any(span.repeats(p) and self.table.modifies(p, held) for p in stores):
            help = "copy the bound to a variable before the loop"
            why = f"which a store through '{owner.name}' in the body may modify"
            raise refused(bound, f"the bound reads '{symbol.name}', {why}", help)
        if span.repeated(symbol.writes) or (span.repeated(symbol.stores) and not itself):
            help = f"copy the bound to a variable before the loop, or do not modify '{symbol.name}'"
            raise refused(bound, f"the bound reads '{symbol.name}', which the body modifies", help)
        if symbol.type.derived:
            escaped = symbol.escapes or symbol.kind in ("param", "global")
            if escaped and span.repeated(self.table.calls):
                help = "copy the bound to a variable before the loop"
                raise refused(bound, f"{A_CALL} '{symbol.name}'", help)
            return
        self._not_elsewhere(symbol, span, bound)


def _may_trap(e: Expr) -> bool:
    """Whether an expression may only be computed where C computes it."""
    return isinstance(e, Load) or (isinstance(e, Bin) and e.op in ("/", "%"))


def _conjuncts(cond: c_ast.Node | None) -> list[c_ast.Node | None]:
    """The conditions that `&&` joins."""
    if isinstance(cond, c_ast.BinaryOp) and cond.op == "&&":
        return [*_conjuncts(cond.left), *_conjuncts(cond.right)]
    return [cond]


def _writer(node: c_ast.Node, symbol: Symbol, of: Of) -> c_ast.Node | None:
    """The first construct below `node` that modifies `symbol`."""
    target = None
    match node:
        case c_ast.Assignment():
            target = node.lvalue
        case c_ast.UnaryOp() if node.op in ("++", "--", "p++", "p--"):
            target = node.expr
    if isinstance(target, c_ast.ID) and of(target) is symbol:
        return node
    for child in below(node):
        found = _writer(child, symbol, of)
        if found is not None:
            return found
    return None
