"""Expressions: c_ast -> ir. Every C conversion that type_of does not imply becomes a Cast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.lower.calls import unknown_call
from loopxform.frontend.lower.fold import fold
from loopxform.frontend.lower.literals import literal, special
from loopxform.frontend.lower.pointers import Term, element, is_zero, rank_left
from loopxform.frontend.lower.ranges import Context, is_between
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.subscripts import as_compared, subscript
from loopxform.frontend.lower.unmodelled import (
    check_scalar,
    endless_member,
    odd_member,
    outside,
    sized,
)
from loopxform.frontend.names.ctype import CType, Func, Lookup, ctype
from loopxform.frontend.names.declared_types import expression_type, size_of
from loopxform.frontend.names.filescope import FileScope, Sees
from loopxform.frontend.names.fresh import is_fresh
from loopxform.frontend.names.members import is_pointer_member
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.syntax.places import Places
from loopxform.ir import functions
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Call, Cast, Const, Expr, Load, Routine, Select, Un, Var
from loopxform.ir.records import Record
from loopxform.ir.types import HALF, ULONG, Scalar
from loopxform.ir.typing import is_half, type_of

MAX_DEPTH = 150

MAX_TERMS = 900
"""Of a value, which is computed in parts (`long_chains`); the parser takes few more."""

_INLINE = "write out what it computes, or move the call out of the loops"


class Expressions:
    """Lowers the expressions of one function."""

    def __init__(
        self,
        table: Table,
        places: Places,
        typedef: Lookup,
        scope: FileScope,
        sees: Sees = lambda _: None,
        layout: Callable[[CType], Record | None] = lambda _: None,
    ) -> None:
        """`sees` says what is looked at of what a call of a math function leaves behind, `layout`
        how structs lie in memory."""
        self.sees = sees
        self.layout = layout
        self.scope = scope
        self.routines: dict[str, Routine] = {}
        """The pure functions of numbers that are called."""
        self.table = table
        self.places = places
        self._typedef = typedef
        self.types: dict[str, Scalar] = {
            s.ir: s.type.base for s in table.symbols if s.is_variable and s.type.base is not None
        }
        self.exposed = [
            s
            for s in table.symbols
            if s.kind in ("param", "local", "loop")
            and not s.type.derived
            and table.is_known_elsewhere(s)
        ]
        """Scalars of this function that pointers of the file could point to."""
        self.around: Context = ()
        """What the loops around say of their counters."""
        self._depth = 0
        self._most = MAX_DEPTH

    def type_of(self, e: Expr) -> Scalar:
        return type_of(e, self.types)

    def lower(self, node: c_ast.Node) -> Expr:
        """The value of an expression; NotModelled with the part that is the reason."""
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                help = "split the expression into several statements"
                raise NotModelled("LX010", "the expression is nested too deeply", help, node)
            return self._lower(node)
        finally:
            self._depth -= 1

    def value(self, node: c_ast.Node) -> Expr:
        """The value of an expression that may be a sum of very many terms."""
        self._most = MAX_TERMS
        try:
            return self.lower(node)
        finally:
            self._most = MAX_DEPTH

    def _lower(self, node: c_ast.Node) -> Expr:
        given = self.table.test(node)
        if given is not None:
            op = "<=" if isinstance(node, c_ast.BinaryOp) and node.op == "==" else ">"
            return Bin(op, Var(given.ir), Const(0), origin=self.places.origin(node))
        match node:
            case c_ast.Constant():
                return literal(node)
            case c_ast.ID():
                return self._name(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.ArrayRef() | c_ast.StructRef():
                return self.load(node)
            case c_ast.TernaryOp():
                cond, *values = (self.lower(n) for n in (node.cond, node.iftrue, node.iffalse))
                cond = as_compared(cond, self.types)
                return Select(cond, *values, origin=self.places.origin(node))
            case c_ast.Cast():
                return self._cast(node)
            case c_ast.FuncCall():
                return self._call(node)
            case _:
                raise outside(node)

    # ------------------------------------------------------------ names and elements

    def typedef(self, name: str) -> CType | None:
        return self._typedef(name)

    def symbol(self, node: c_ast.ID) -> Symbol:
        found = self.table.of(node)
        if found is None:
            help = "declare it, or include the header that does (-I DIR) or define it (-D)"
            if node.name == "__LINE__":
                help = "it is known without #line, and in calls of macros on one line"
            raise NotModelled("LX018", f"'{node.name}' is not declared", help, node)
        if found.type.is_any_volatile:
            help = "copy it to an ordinary variable outside the loops"
            raise NotModelled("LX016", f"'{node.name}' is volatile", help, node)
        if found.of_thread:
            help = "copy it to an ordinary variable outside the loops"
            raise NotModelled("LX015", f"'{node.name}' is another in each thread", help, node)
        return sized(found, node)

    def _name(self, node: c_ast.ID) -> Expr:
        found = self.symbol(node)
        if found.value is not None:
            return Const(found.value.value, found.value.type, found.value.text)
        check_scalar(found, node)
        return Var(found.ir, origin=self.places.origin(node))

    def member(self, owner: Symbol, node: c_ast.StructRef) -> Symbol:
        """What stands for a member of a struct."""
        name = self.scope.records.first_name(owner.type, node.field.name)
        found = self.table.members.get((owner, name))
        if found is None:
            open_ended = (owner.type.record, name) in self.scope.records.open_ended
            raise endless_member(node) if open_ended else odd_member(node)
        if self._is_set(found) or self._may_be_set(found):
            reason = f"the pointer '{found.name}' may be set in this function"
            raise NotModelled("LX015", reason, "copy it to a parameter", node)
        return sized(found, node)

    def _may_be_set(self, m: Symbol) -> bool:
        """Whether a member that is a pointer may be set to what has another name here, under the
        name of another struct. What a call may set it to is asked as of other pointers: loops
        around the call are unknown, and others meet one array."""
        if m.member_type is None or not is_pointer_member(m.member_type):
            return False
        if self.table.copies_pointers or not (self.table.aliasing.strict or self._is_typed_only()):
            return True
        changed = (s for s in self.table.settings if self._is_set(s))
        return any(self.table.aliasing.may_be_one(m.field, s.field) for s in changed)

    def _is_set(self, m: Symbol) -> bool:
        """Whether a member is set under its name, to what may have another."""
        values = (x.value for x in self.table.settings.get(m, ()))
        return not all(is_fresh(v, m, self.table, self.typedef, self.scope.own) for v in values)

    def _is_typed_only(self) -> bool:
        """Whether nothing is stored through a pointer."""
        return all(s.within is not None for s in self.table.stores.values())

    def is_within(self, terms: Sequence[Term], size: c_ast.Node | None) -> bool:
        """Whether a subscript numbers an element of a dimension, as far as the loops around say."""
        count = None if size is None else value_of(self.lower(size))
        lowered = [(sign, self._integer(n), n) for sign, n in terms]
        e = subscript(lowered, self.types)
        return count is not None and is_between(e, 0, count - 1, self.around, self.types)

    def load(self, node: c_ast.Node) -> Load | Var:
        """The array element an ArrayRef or a dereference names, or the `x` of `*&x`."""
        symbol, parts = element(node, self)
        if not parts:
            check_scalar(symbol, node)
            return Var(symbol.ir, origin=self.places.origin(node))
        if (set_here := _astray(symbol)) is not None:
            reason = f"'{set_here.name}' is set in this function, to what may have another name"
            help = f"use another pointer for what '{set_here.name}' is set to"
            raise NotModelled("LX014", reason, help, node)
        if self.exposed and (own := self._local_behind(symbol)) is not None:
            reason = f"'{symbol.name}' may point to '{own.name}', whose address is taken"
            raise NotModelled("LX014", reason, "make the pointer a parameter", node)
        index: list[Expr] = []
        for part in parts:
            counted = [term for term in part if not is_zero(term[1])] or part[:1]
            terms = [(sign, self._integer(n), n) for sign, n in counted]
            index.append(subscript(terms, self.types))
        return Load(symbol.ir, tuple(index), origin=self.places.origin(node))

    def _local_behind(self, s: Symbol) -> Symbol | None:
        """The scalar of the function that an array may be: no caller gave the pointer."""
        given = not (s.kind == "global" or s.loose or s.rows or s in self.table.settings)
        if (given or not s.is_pointer) and not (s.member_type and is_pointer_member(s.member_type)):
            return None
        t, may_modify = replace(s.type, derived=()), self.table.aliasing.may_modify
        return next((x for x in self.exposed if may_modify(t, x.type)), None)

    def _integer(self, node: c_ast.Node) -> Expr:
        e = self.lower(node)
        if not self.type_of(e).is_integer:
            raise NotModelled("LX014", "the subscript is not an integer", "", node)
        return e

    # ------------------------------------------------------------ operators

    def _binary(self, node: c_ast.BinaryOp) -> Expr:
        """Long sums are left-deep: their operands are collected without recursion."""
        chain: list[c_ast.BinaryOp] = []
        left: c_ast.Node = node
        while isinstance(left, c_ast.BinaryOp) and (left is node or not self.table.test(left)):
            chain.append(left)
            left = left.left
        most = self._most if self._depth == 1 else MAX_DEPTH
        if len(chain) + self._depth > most:
            help = "split the expression into several statements"
            raise NotModelled("LX010", "the expression has too many operands", help, node)
        out = self._operand(left)
        for op in reversed(chain):
            right = self._operand(op.right)
            if op.op in ("%", "<<", ">>", "&", "|", "^"):
                for e, part in ((out, op.left), (right, op.right)):
                    if not self.type_of(e).is_integer:
                        raise NotModelled("LX010", f"{op.op} needs integers", "", part)
            out = Bin(op.op, out, right, origin=self.places.origin(op))
        return out

    def _operand(self, node: c_ast.Node) -> Expr:
        if self.table.test(node) is None and rank_left(node, self.table.of):
            reason = "a pointer is computed or compared"
            raise NotModelled("LX014", reason, "index the array instead: A[i]", node)
        return self.lower(node)

    def _unary(self, node: c_ast.UnaryOp) -> Expr:
        match node.op:
            case "-" | "+" | "!" | "~":
                return Un(node.op, self._operand(node.expr), origin=self.places.origin(node))
            case "*":
                return self.load(node)
            case "sizeof":
                return self._sizeof(node)
            case "++" | "--" | "p++" | "p--":
                op = node.op.strip("p")
                help = f"put the {op} into a statement of its own"
                raise NotModelled("LX017", f"{op} inside an expression", help, node)
            case "&":
                help = "name the element itself: A[i]"
                raise NotModelled("LX014", "an address is taken", help, node)
            case _:
                raise outside(node)

    def _sizeof(self, node: c_ast.UnaryOp) -> Expr:
        of_type = isinstance(node.expr, c_ast.Typename)
        t = ctype(node.expr, self.typedef) if of_type else self.declared_type(node.expr)
        size = None if t is None else self.size_of(t)
        if size is None and not of_type and not rank_left(node.expr, self.table.of):
            operand = self.lower(node.expr)
            size = (HALF if is_half(operand, self.types) else self.type_of(operand)).bytes
        if size is None:
            help = "write the number"
            raise NotModelled("LX015", "sizeof of this type is not modelled", help, node)
        return Const(size, ULONG, f"{size}UL")

    def declared_type(self, node: c_ast.Node) -> CType | None:
        """The type of what an expression names or points to, where a declaration says it."""
        return expression_type(node, self.table, self.typedef)

    def size_of(self, t: CType) -> int | None:
        """The bytes of an object, where they are one number."""
        return size_of(t, self.number, self.layout)

    def number(self, node: c_ast.Node) -> int | None:
        """The value of an integer constant expression; None of any other."""
        try:
            return fold(self.lower(node))
        except NotModelled:
            return None

    def _cast(self, node: c_ast.Cast) -> Expr:
        t = ctype(node.to_type, self.typedef)
        if not t.is_scalar or t.base is None:
            help = "use the object with the type it was declared with"
            raise NotModelled("LX015", f"a cast to {t}", help, node)
        operand = self._operand(node.expr)
        if self.type_of(operand) == t.base:
            return operand
        return Cast(t.base, operand, origin=self.places.origin(node))

    def _call(self, node: c_ast.FuncCall) -> Expr:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        symbol = self.table.of(node.name) if name else None
        if name in ("asm", "__asm", "__asm__"):
            raise NotModelled("LX016", "inline assembly", "write it in C", node)
        if not name or (symbol is not None and symbol.is_variable):
            raise NotModelled("LX012", "a call through a function pointer", _INLINE, node)
        args = tuple(node.args.exprs) if node.args else ()
        if (number := special(name)) is not None:
            return number
        routine = self.scope.routine(name, symbol)
        if routine is not None and len(routine.params) == len(args):
            if name not in self.scope.routines:
                self._leaves_nothing(name, node)
            given = zip(args, routine.params)
            values = tuple(self.convert(self.lower(a), p.type) for a, p in given)
            self.routines[name] = routine
            return Call(name, values, routine.returns, origin=self.places.origin(node))
        if name in self.scope.own or not functions.is_known(name):
            raise self._unknown(name, node)
        self._leaves_nothing(name, node)
        operands = [self._operand(a) for a in args]
        if functions.is_generic(name) and any(is_half(e, self.types) for e in operands):
            reason = f"which function '{name}' is for a _Float16 is left to the compiler"
            raise NotModelled("LX012", reason, "convert the argument first: (float)x", node)
        which = functions.chosen(name, [self.type_of(e) for e in operands])
        types = functions.parameters(which) or ()
        if len(operands) != len(types):
            raise self._unknown(name, node)
        if symbol is not None and not _declares(symbol.type, which, self.typedef):
            reason = f"'{name}' is declared with other types than the function of the C library"
            raise NotModelled("LX012", reason, "include the header that declares it", node)
        values = tuple(self.convert(e, t) for e, t in zip(operands, types))
        return Call(which, values, origin=self.places.origin(node))

    def _leaves_nothing(self, name: str, node: c_ast.FuncCall) -> None:
        """NotModelled where somebody looks at what a function of the library leaves behind."""
        state = self.sees(name.removeprefix(functions.GENERIC))
        if state is not None:
            reason = f"'{name}' may set '{state}', which is looked at"
            raise NotModelled("LX012", reason, f"look at the argument instead of {state}", node)

    def _unknown(self, name: str, node: c_ast.Node) -> NotModelled:
        reason, help = unknown_call(name, self.scope)
        return NotModelled("LX012", reason, help, node)

    def convert(self, e: Expr, t: Scalar) -> Expr:
        """`e` as a value of type `t`, with a Cast where C converts."""
        return e if self.type_of(e) == t else Cast(t, e, origin=e.origin)


def _astray(s: Symbol | None) -> Symbol | None:
    """The pointer behind an array, or behind a member of structs, that may be set to another."""
    while s is not None and not s.astray:
        s = s.owner
    return s


def _declares(t: CType, name: str, typedef: Lookup) -> bool:
    """Whether a declaration of a function gives it the types that the C library does."""
    if not t.derived or not isinstance(t.derived[0], Func):
        return False
    wanted, params = functions.parameters(name) or (), t.derived[0].params
    nodes = [] if params is None else [p for p in params.params if hasattr(p, "type")]
    found = [ctype(p.type, typedef) for p in nodes]
    known = len(t.derived) == 1 and t.base == functions.result(name)
    return known and (params is None or [p.base for p in found if not p.derived] == [*wanted])
