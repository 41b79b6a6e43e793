"""Forward substitution of scalars into subscripts, and into comparisons that decide.

    int at = (y*w + x)*3 + k;  A[at] = B[at];   ->   A[(y*w + x)*3 + k] = B[(y*w + x)*3 + k];
    int r = y + k - 2;  if (r >= 0) A[r] = 0;   ->   if (y + k - 2 >= 0) A[y + k - 2] = 0;

A subscript that the user computes beforehand then says what it depends on, as if it stood in the
brackets, and a condition says so of the subscripts under it. A value is carried forward until
something it is made of may change, and past an `if` that clamps it: `if (r < 0) r = 0;` sets
`max(r, 0)`. Ends of loops that unsigned locals hold are the numbers that these are set to, whose
arithmetic may wrap around: later questions ask for what it is made of. Scalars that only these
read, declared where they are set, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.subscripts import integer, keeps
from loopxform.ir.clamps import chosen
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import COMPARISONS, type_of
from loopxform.ir.visit import bodies, map_body, map_stmt_exprs, names, reads, substitute, walk
from loopxform.ir.visit import walk_expr as parts
from loopxform.ir.visit import writes as stores
from loopxform.ir.whiles import condition

MOST = 32
"""Parts of an expression that is carried forward; longer ones say little and grow in chains."""

Values = dict[str, Expr]


def forward_subscripts(fn: Function, types: dict[str, Scalar], node: c_ast.Node) -> Function:
    """`fn` with the values of integer locals in its subscripts; `types` has those of all names,
    and complaints point to `node`."""
    shared = frozenset(p.name for p in fn.params if p.pointer) | {g.name for g in fn.globals}
    work = _Forward(types, shared, node)
    body = work.block(fn.body, {})
    return replace(fn, body=_without(body, work.used)) if work.used else fn


def forward_values(fn: Function, types: dict[str, Scalar]) -> Function:
    """The same of a function that steps have changed since it was read."""
    return forward_subscripts(fn, types, c_ast.EmptyStatement())  # type: ignore[no-untyped-call]


class _Forward:
    """`shared` are the scalars that stores through a pointer may change; `used` collects those
    whose values were carried."""

    def __init__(self, types: dict[str, Scalar], shared: frozenset[str], node: c_ast.Node) -> None:
        self.types, self.shared, self.node = types, shared, node
        self.used: set[str] = set()

    def block(self, body: tuple[Stmt, ...], values: Values) -> tuple[Stmt, ...]:
        """The statements of a body; `values` are those in front of it, afterwards those behind."""
        return tuple(self._stmt(s, values) for s in body)

    def _stmt(self, s: Stmt, values: Values) -> Stmt:
        if isinstance(s, For | Opaque):
            _forget(values, _changed((s,)))
        s = map_stmt_exprs(s, lambda e: self._part(e, values))
        match s:
            case For():
                return replace(self._header(s, values), body=self.block(s.body, dict(values)))
            case If():
                decided = substitute(s.cond, values)
                s = replace(s, cond=self._condition(s.cond, values))
                taken, other = dict(values), dict(values)
                then, orelse = self.block(s.then, taken), self.block(s.orelse, other)
                changed = _changed((s,))
                _forget(values, changed)
                values |= self._chosen(s.cond, decided, (taken, other), changed or ())
                return replace(s, then=then, orelse=orelse)
            case Assign(Var(name), value, op):
                self.used |= names(value) & values.keys()
                value = self._shorter(substitute(value, values))
                before = values.get(name)
                if op and before is not None:
                    value = Bin(op, before, value)
                _forget(values, {name})
                if not (op and before is None) and self._carries(name, value):
                    t = self.types[name]
                    same = type_of(value, self.types) == t
                    values[name] = value if same else Cast(t, value)
            case Decl():
                _forget(values, {s.name})
        return s

    def _header(self, s: For, values: Values) -> For:
        """A loop with the values of unsigned locals in its ends, which are made of unsigned
        numbers alone: one that is converted says nothing of what is below 0."""
        known = {
            n: e for n, e in values.items() if all(map(self._has_no_sign, (Var(n), *parts(e))))
        }
        read = (names(s.lo) | names(s.hi)) & known.keys()
        if not read or condition(s) is not None:
            return s
        self.used |= read
        asks = None if s.asks is None else substitute(s.asks, known)
        return replace(s, lo=substitute(s.lo, known), hi=substitute(s.hi, known), asks=asks)

    def _has_no_sign(self, e: Expr) -> bool:
        return type_of(e, self.types).is_unsigned or (isinstance(e, Const) and e.value >= 0)

    def _chosen(
        self, cond: Expr, decided: Expr, ends: tuple[Values, Values], changed: Iterable[str]
    ) -> Iterator[tuple[str, Expr]]:
        """The values of locals that an `if` clamps; `decided` is its condition in values."""
        taken, other = ends
        for name in sorted(set(changed) & taken.keys() & other.keys()):
            value = Select(cond, taken[name], other[name])
            if not self._is_signed(name):
                nearest = self._nearest(Select(decided, taken[name], other[name]))
                if nearest and not names(nearest) & set(changed) and self._carries(name, nearest):
                    yield name, nearest
                continue
            kept = not names(value) & set(changed)
            clamped = chosen(cond, taken[name], other[name]) if kept else None
            if clamped is not None and self._carries(name, value):
                yield name, clamped

    def _nearest(self, e: Select) -> Expr | None:
        """The less or the greater of two unsigned numbers of one type that are compared as they
        stand, whatever their arithmetic does; None where it is neither."""
        match e:
            case Select(Bin("<" | "<=", left, right), then, orelse):
                pass
            case Select(Bin(">" | ">=", right, left), then, orelse):
                pass
            case _:
                return None
        plain = all(self._has_no_sign(x) for end in (left, right) for x in parts(end))
        if not plain or type_of(left, self.types) != type_of(right, self.types):
            return None
        if (then, orelse) in ((left, right), (right, left)):
            return Bin("min" if then == left else "max", then, orelse)
        return None

    def _shorter(self, e: Expr) -> Expr:
        """A value with one operator for each `?:` that is the less or the greater of two."""
        if isinstance(e, Select) and type_of(e, self.types).is_unsigned:
            return self._nearest(e) or e
        if not isinstance(e, Select) or not self._is_plain(e) or not self._is_plain(e.cond):
            return e
        new = chosen(e.cond, e.then, e.orelse)
        return e if new is None else new

    def _part(self, e: Expr, values: Values) -> Expr:
        match e:
            case Load():
                return replace(e, index=tuple(self._index(i, values) for i in e.index))
            case Select():
                return replace(e, cond=self._condition(e.cond, values))
            case _:
                return e

    def _condition(self, e: Expr, values: Values) -> Expr:
        """A condition with the values of signed locals in its comparisons."""
        match e:
            case Un("!", operand):
                return replace(e, operand=self._condition(operand, values))
            case Bin("&&" | "||", left, right):
                left, right = self._condition(left, values), self._condition(right, values)
                return replace(e, left=left, right=right)
            case Bin(op, left, right) if op in COMPARISONS:
                return replace(e, left=self._side(left, values), right=self._side(right, values))
            case _:
                return e

    def _side(self, e: Expr, values: Values) -> Expr:
        known = {n: values[n] for n in names(e) & values.keys()}
        if any(isinstance(x, Load) for x in parts(e)) or not all(map(self._is_signed, known)):
            return e
        self.used |= known.keys()
        return substitute(e, known) if known else e

    def _is_signed(self, name: str) -> bool:
        return not self.types[name].is_unsigned

    def _index(self, e: Expr, values: Values) -> Expr:
        known = {n: values[n] for n in names(e) & values.keys()}
        try:
            made = integer(substitute(e, known), self.types, self.node) if known else e
        except NotModelled:
            return e
        self.used |= known.keys()
        return made

    def _carries(self, name: str, value: Expr) -> bool:
        """Whether a value may stand for a local: it is not cut off, and reads no memory."""
        if names(value) & {name, *self.shared} or not self.types[name].is_integer:
            return False
        found = list(parts(value))
        decided = isinstance(value, Bin) and value.op in COMPARISONS
        plain = not decided and len(found) <= MOST and all(map(self._is_plain, found))
        return plain and keeps(type_of(value, self.types), self.types[name])

    def _is_plain(self, e: Expr) -> bool:
        match e:
            case Var() | Const():
                return type_of(e, self.types).is_integer
            case Cast(t, operand):
                inner = type_of(operand, self.types)
                return inner.is_integer and keeps(inner, t)
            case Bin("/" | "%", _, Const(divisor)):
                return divisor != 0
            case Select(Bin(op), then, orelse):
                same = type_of(then, self.types) == type_of(orelse, self.types)
                return op in COMPARISONS and same and not type_of(e, self.types).is_unsigned
            case Bin(op, left, right) if op in COMPARISONS:
                return not any(type_of(x, self.types).is_unsigned for x in (left, right))
            case Bin("min" | "max"):
                return True
            case _:
                return isinstance(e, Bin | Un) and e.op in ("+", "-", "*")


def _changed(body: tuple[Stmt, ...]) -> frozenset[str] | None:
    """The scalars that statements may change; None where that may be any."""
    inside = [s for _, s in walk(body)]
    if any(isinstance(s, Opaque) for s in inside):
        return None
    counters = (s.var for s in inside if isinstance(s, For))
    declared = (s.name for s in inside if isinstance(s, Decl))
    return stores(body) | set(chain(counters, declared))


def _forget(values: Values, changed: frozenset[str] | set[str] | None) -> None:
    """Drops what is made of changed scalars."""
    for name in list(values):
        if changed is None or name in changed or names(values[name]) & changed:
            del values[name]


def _without(body: tuple[Stmt, ...], used: set[str]) -> tuple[Stmt, ...]:
    """`body` without the scalars among `used` that nothing reads any more."""
    if any(isinstance(s, Opaque) for _, s in walk(body)):
        return body
    used = used - {s.var for _, s in walk(body) if isinstance(s, For)}  # loops count with these
    while dead := {n for n in used - _needed(body) if _is_set_where_declared(body, n)}:
        used = used - dead
        body = map_body(body, lambda s: () if _sets(s) in dead or _is_idle(s) else (s,))
    return body


def _needed(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What statements read, but for the scalar that `+=` changes."""
    every = [s for _, s in walk(body)]
    own = [s for s in every if isinstance(s, Assign) and isinstance(s.target, Var) and s.op]
    values = frozenset[str]().union(*(names(s.value) for s in own))
    whole = map_body(body, lambda s: () if any(s is x for x in own) else (s,))
    return values | reads(whole)


def _is_idle(s: Stmt) -> bool:
    """Whether it is an `if` that does nothing (any more)."""
    return isinstance(s, If) and not s.then and not s.orelse


def _sets(s: Stmt) -> str:
    """The scalar that a statement declares or sets, or ""."""
    match s:
        case Decl(name) | Assign(Var(name)):
            return name
        case _:
            return ""


def _is_set_where_declared(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether one block, the branches in it included, holds all that declares and sets it: each of
    its runs has its own."""
    every = chain([body], *(bodies(s) for _, s in walk(body)))
    own = [b for b in every if any(isinstance(s, Decl) and s.name == name for s in b)]
    setting = sum(_sets(s) == name for _, s in walk(body))
    return len(own) == 1 and setting == sum(_sets(s) == name for s in _branched(own[0]))


def _branched(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """The statements of a block and of the branches in it."""
    for s in body:
        yield s
        for branch in bodies(s) if isinstance(s, If) else ():
            yield from _branched(branch)
