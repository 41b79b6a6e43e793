"""Which element a pointer expression names: `*(A + i)`, `(&A[i])[j]`, `(*A)[j]`, `A[i][j]`.

An element is an array and, for each dimension, a list of signed terms (node by node, not lowered).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.ctype import Array, CType, Derived, Pointer, ctype
from loopxform.frontend.names.members import is_pointer_member
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.tree import behind_address

Term: TypeAlias = tuple[int, c_ast.Node]
Index: TypeAlias = list[list[Term]]


class Names(Protocol):
    """What the names in a pointer expression stand for."""

    def symbol(self, node: c_ast.ID) -> Symbol: ...
    def member(self, owner: Symbol, node: c_ast.StructRef) -> Symbol: ...
    def typedef(self, name: str) -> CType | None: ...
    def is_within(self, terms: Sequence[Term], size: c_ast.Node | None) -> bool: ...


Of: TypeAlias = Callable[[c_ast.Node], Symbol | None]

_ONE_BLOCK = "pass one block of memory: {type} {name}[M][N], or a flat {type} *{name}"


def rank_left(node: c_ast.Node, of: Of) -> int:
    """How many subscripts an expression still takes: 0 for a number, more for a pointer."""
    match node:
        case c_ast.ID():
            symbol = of(node)
            return len(symbol.type.derived) if symbol is not None and symbol.is_variable else 0
        case c_ast.ArrayRef():
            return max(rank_left(node.name, of), rank_left(node.subscript, of)) - 1
        case c_ast.UnaryOp() if node.op == "*":
            return rank_left(node.expr, of) - 1
        case c_ast.UnaryOp() if node.op == "&":
            return rank_left(node.expr, of) + 1
        case c_ast.UnaryOp() if node.op in ("++", "--", "p++", "p--"):
            return rank_left(node.expr, of)
        case c_ast.BinaryOp() if node.op in ("+", "-"):
            left, right = rank_left(node.left, of), rank_left(node.right, of)
            return 0 if left and right else max(left, right)
        case c_ast.Cast():
            t = ctype(node.to_type, lambda _: None)
            return len(t.derived)
        case c_ast.TernaryOp():
            return rank_left(node.iftrue, of)
        case c_ast.Assignment():
            return rank_left(node.lvalue, of)
        case c_ast.StructRef():
            symbol = of(node)
            return (
                len(symbol.member_type.derived) if symbol is not None and symbol.member_type else 0
            )
        case _:
            return 0


def element(node: c_ast.Node, names: Names) -> tuple[Symbol, Index]:
    """The array and the index of an ArrayRef or a dereference; a scalar has no index."""
    symbol, index = _place(node, names)
    if symbol.type.is_scalar and symbol.is_variable and not index:
        return symbol, []
    if symbol.type.is_scalar and behind_address(node):
        return symbol, []
    _check(symbol, node)
    rank = len(symbol.type.derived)
    if len(index) > rank:
        raise NotModelled("LX014", f"'{symbol.name}' has {rank} dimensions", "", node)
    if len(index) < rank:
        help = f"give all {rank} subscripts"
        raise NotModelled("LX014", f"a row of '{symbol.name}' is used as a value", help, node)
    return symbol, index


def _place(node: c_ast.Node, names: Names) -> tuple[Symbol, Index]:
    """The object `node` denotes, as a place in an array."""
    match node:
        case c_ast.ArrayRef():
            base, sub = node.name, node.subscript
            if _is_integer_first(base, sub, names):
                base, sub = sub, base
            symbol, done, offset = _pointer(base, names)
            index = [*done, [*offset, (1, sub)]]
            if _is_pointer(base, names):
                _check_row(symbol, index, node, names)
            return symbol, index
        case c_ast.UnaryOp(op="*"):
            symbol, done, offset = _pointer(node.expr, names)
            _check_row(symbol, [*done, offset], node, names)
            return symbol, [*done, offset]
        case c_ast.StructRef():
            return _member(node, names)
        case c_ast.Cast() if _is_struct(node, names):  # of an argument to the parameter's type
            return _place(node.expr, names)
        case c_ast.ID():
            return names.symbol(node), []
        case _:
            raise _unknown(node)


def _pointer(node: c_ast.Node, names: Names) -> tuple[Symbol, Index, list[Term]]:
    """The place `node` points to: an array, the dimensions passed, and an offset in the next."""
    match node:
        case c_ast.ID():
            symbol = names.symbol(node)
            if symbol.target is None:
                return symbol, [], []
            return bound(symbol, node, names)
        case c_ast.Cast():
            return _seen_as(ctype(node.to_type, names.typedef), "", node.expr, node, names)
        case c_ast.ArrayRef() | c_ast.UnaryOp(op="*") | c_ast.StructRef():
            symbol, index = _place(node, names)
            return symbol, index, []
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() | c_ast.UnaryOp()):
            symbol, index = _place(node.expr, names)
            return symbol, index[:-1], index[-1]
        case c_ast.UnaryOp(op="&", expr=c_ast.ID() as struct) if names.symbol(struct).type.record:
            return names.symbol(struct), [], []
        case c_ast.UnaryOp(op="&", expr=c_ast.ID() as scalar):
            symbol = names.symbol(scalar)
            if not symbol.type.is_scalar:
                raise _unknown(node)
            return symbol, [], []
        case c_ast.BinaryOp(op="+"):
            base, offset = node.left, node.right
            if _is_integer_first(base, offset, names):
                base, offset = offset, base
            symbol, done, terms = _pointer(base, names)
            return symbol, done, [*terms, (1, offset)]
        case c_ast.BinaryOp(op="-"):
            symbol, done, terms = _pointer(node.left, names)
            return symbol, done, [*terms, (-1, node.right)]
        case _:
            raise _unknown(node)


def _is_pointer(base: c_ast.Node, names: Names) -> bool:
    """Whether this is a pointer to an element, not the name of a row: `&m[0][0]`, or `p`."""
    match base:
        case c_ast.ID():
            return names.symbol(base).target is not None
        case c_ast.UnaryOp(op=op):
            return bool(op == "&")
        case _:
            return isinstance(base, c_ast.Cast | c_ast.BinaryOp)


def _check_row(symbol: Symbol, index: Index, node: c_ast.Node, names: Names) -> None:
    """Raises NotModelled for an element that a pointer finds from one in a row with a fixed number
    on, as in `p[i]` after `p = m[0]`: it may be in any row, unless the loops around say that `i`
    numbers elements of one. `p = m[i]` leads through that row."""
    derived = symbol.type.derived
    if not 2 <= len(index) <= len(derived):
        return
    dim = derived[len(index) - 1]
    *_, row, terms = ([isinstance(x, c_ast.Constant) for _, x in part] for part in index)
    if not isinstance(dim, Array) or not all(row) or all(terms):
        return
    if not names.is_within(index[-1], dim.size):
        text = f"a pointer to an element may lead through all rows of '{symbol.name}'"
        help = f"give all subscripts: {symbol.name}[i][j]"
        raise NotModelled("LX014", text, help, node)


def _is_struct(node: c_ast.Cast, names: Names) -> bool:
    t = ctype(node.to_type, names.typedef)
    return bool(t.record) and not t.derived


def bound(pointer: Symbol, node: c_ast.Node, names: Names) -> tuple[Symbol, Index, list[Term]]:
    """The place that a local pointer with one value points to. Both must have the same elements."""
    assert pointer.target is not None
    return _seen_as(pointer.type, f" '{pointer.name}'", pointer.target, node, names)


def _member(node: c_ast.StructRef, names: Names) -> tuple[Symbol, Index]:
    """A member of a struct. A pointer that is a member counts as an array of its own where there
    is one struct."""
    if node.type == "->":
        owner, done, offset = _pointer(node.name, names)
        index = [*done, offset] if owner.type.derived else []
    else:
        owner, index = _place(node.name, names)
    if len(index) != len(owner.type.derived):
        raise _unknown(node)
    if owner.kind == "local" and any(isinstance(d, Pointer) for d in owner.type.derived):
        raise unknown_target(owner, node)
    found = names.member(owner, node)
    if found.behind_pointer:
        return found, []
    if found.member_type is None or not is_pointer_member(found.member_type):
        return found, index
    if len(found.type.derived) > len(found.member_type.derived):
        return found, index
    one_level = len(owner.type.derived) <= 1
    if one_level and all(_is_zero_term(t) for terms in index for t in terms):
        return found, []
    help = "copy the pointer to a variable before the loop"
    raise NotModelled("LX015", f"each struct has its own array '{found.name}'", help, node)


def _is_zero_term(term: Term) -> bool:
    return isinstance(term[1], c_ast.Constant) and term[1].value == "0"


def _seen_as(
    t: CType, name: str, value: c_ast.Node, node: c_ast.Node, names: Names
) -> tuple[Symbol, Index, list[Term]]:
    """The place that `value` points to, where a pointer of type `t` steps through it alike."""
    symbol, done, offset = _pointer(value, names)
    pointer = bool(t.derived) and isinstance(t.derived[0], Pointer) and not t.is_any_volatile
    alike = symbol.type.base == t.base and symbol.type.record == t.record
    if pointer and alike and (t.base is not None or t.record):
        rows, there = t.derived[1:], symbol.type.derived[len(done) + 1 :]
        if len(there) == len(rows) and all(_same_step(a, b, names) for a, b in zip(rows, there)):
            return symbol, done, offset
    help = f"use '{symbol.name}' itself"
    reason = f"the pointer{name} sees '{symbol.name}' with another type ({t})"
    raise NotModelled("LX014", reason, help, node)


def _same_step(a: Derived, b: Derived, names: Names) -> bool:
    """Whether two types lead on alike: to arrays of one size, or along pointers."""
    if isinstance(a, Array) and isinstance(b, Array):
        return same_size(a.size, b.size, names)
    return isinstance(a, Pointer) and isinstance(b, Pointer)


def same_size(a: c_ast.Node | None, b: c_ast.Node | None, names: Names) -> bool:
    """Whether two array sizes are the same expression of constants and of variables that are
    never modified."""
    a, b = _size_meant(a, names), _size_meant(b, names)
    match a, b:
        case c_ast.ID(), c_ast.ID():
            symbol = names.symbol(a)
            return symbol is names.symbol(b) and not symbol.writes and not symbol.escapes
        case c_ast.Constant(value=one), c_ast.Constant(value=other):
            return bool(one == other)
        case c_ast.BinaryOp(op=one), c_ast.BinaryOp(op=other) if one == other:
            left = same_size(a.left, b.left, names)
            return left and same_size(a.right, b.right, names)
        case _:
            return False


def _size_meant(node: c_ast.Node | None, names: Names) -> c_ast.Node | None:
    """A size, or the one that a variable which is set once stands for: a parameter of a function
    whose call was replaced by its body."""
    if isinstance(node, c_ast.Cast):
        inner = node.expr
        same = isinstance(inner, c_ast.ID) and names.symbol(inner).type.base
        if same and ctype(node.to_type, names.typedef).base == same:
            return _size_meant(inner, names)
    if isinstance(node, c_ast.ID):
        s = names.symbol(node)
        init = s.decl.init if isinstance(s.decl, c_ast.Decl) and s.kind == "local" else None
        if isinstance(init, c_ast.ID) and len(s.writes) == 1 and not s.escapes:
            before = names.symbol(init)
            if before.type.base == s.type.base and not before.writes:
                return _size_meant(init, names)
    return node


def _is_integer_first(left: c_ast.Node, right: c_ast.Node, names: Names) -> bool:
    """Whether the pointer comes second: `i + A`, `i[A]`."""

    def of(n: c_ast.Node) -> Symbol | None:
        return names.symbol(n) if isinstance(n, c_ast.ID) else None

    if not isinstance(left, c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.ArrayRef):
        return False
    return rank_left(left, of) == 0 and rank_left(right, of) > 0


def _check(symbol: Symbol, node: c_ast.Node) -> None:
    """NotModelled unless `symbol` is one block of elements that has no other name here."""
    name, t = symbol.name, symbol.type
    if symbol.loose or symbol.rows:
        return
    if symbol.is_modelled_array and "static" not in (
        symbol.storage if symbol.kind == "local" else ()
    ):
        return
    if not symbol.is_variable or not t.derived:
        raise NotModelled("LX014", f"'{name}' is not an array", "", node)
    pointers = sum(isinstance(d, Pointer) for d in t.derived)
    if pointers > 1 or any(isinstance(d, Pointer) for d in t.derived[1:]):
        help = _ONE_BLOCK.format(type=t.spelling, name=name)
        reason = f"'{name}' is an array of pointers ({t}), whose rows may overlap"
        raise NotModelled("LX014", reason, help, node)
    if t.base is None:
        help = "use separate arrays for the members"
        raise NotModelled("LX015", f"'{name}' has elements of type {t.spelling}", help, node)
    if isinstance(t.derived[0], Array):
        help = "make it an array of the file or a parameter"
        raise NotModelled("LX015", f"'{name}' keeps its value between calls (static)", help, node)
    raise unknown_target(symbol, node)


def unknown_target(pointer: Symbol, node: c_ast.Node) -> NotModelled:
    """The refusal of a local pointer that is not another name for one place."""
    name = pointer.name
    help = f"set '{name}' once, to a place in an array, or use the array itself"
    return NotModelled(
        "LX014", f"what the local pointer '{name}' points to is not known", help, node
    )


def _unknown(node: c_ast.Node) -> NotModelled:
    if isinstance(node, c_ast.StructRef):
        help = "copy the pointer to a parameter, or use separate arrays"
        return NotModelled("LX015", "an array inside a struct", help, node)
    if isinstance(node, c_ast.FuncCall):
        return NotModelled("LX012", "a pointer returned by a call", "name the array", node)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
        help = "index the array with a loop variable: A[i]"
        return NotModelled("LX014", "a pointer is moved while it is used", help, node)
    help = "name the array and its subscripts: A[i][j]"
    return NotModelled("LX014", "this pointer does not name one array", help, node)


def is_zero(node: c_ast.Node) -> bool:
    """Whether it is 0, NULL among others."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return isinstance(node, c_ast.Constant) and node.value == "0"
