"""Forward substitution of scalars into subscripts.

    int at = (y*w + x)*3 + k;  A[at] = B[at];   ->   A[(y*w + x)*3 + k] = B[(y*w + x)*3 + k];

A subscript that the user computes beforehand then says what it depends on, as if it stood in the
brackets. A value is carried forward until something it is made of may change. Scalars that only
such subscripts read, declared where they are set, are left out.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.subscripts import integer, keeps
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
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import bodies, map_body, map_stmt_exprs, names, reads, substitute, walk
from loopxform.ir.visit import walk_expr as parts
from loopxform.ir.visit import writes as stores

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
        s = map_stmt_exprs(s, lambda e: self._subscript(e, values))
        match s:
            case For():
                return replace(s, body=self.block(s.body, dict(values)))
            case If():
                then = self.block(s.then, dict(values))
                orelse = self.block(s.orelse, dict(values))
                _forget(values, _changed((s,)))
                return replace(s, then=then, orelse=orelse)
            case Assign(Var(name), value, op):
                self.used |= names(value) & values.keys()
                value = substitute(value, values)
                _forget(values, {name})
                if not op and self._carries(name, value):
                    t = self.types[name]
                    same = type_of(value, self.types) == t
                    values[name] = value if same else Cast(t, value)
            case Decl():
                _forget(values, {s.name})
        return s

    def _subscript(self, e: Expr, values: Values) -> Expr:
        if not isinstance(e, Load):
            return e
        return replace(e, index=tuple(self._index(i, values) for i in e.index))

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
        plain = len(found) <= MOST and all(map(self._is_plain, found))
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
    while dead := {n for n in used - reads(body) if _is_set_where_declared(body, n)}:
        used = used - dead
        body = map_body(body, lambda s: () if _sets(s) in dead else (s,))
    return body


def _sets(s: Stmt) -> str:
    """The scalar that a statement declares or sets, or ""."""
    match s:
        case Decl(name) | Assign(Var(name)):
            return name
        case _:
            return ""


def _is_set_where_declared(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether one block holds all that declares and sets it: each of its runs has its own."""
    every = chain([body], *(bodies(s) for _, s in walk(body)))
    holding = [b for b in every if any(_sets(s) == name for s in b)]
    return len(holding) == 1 and any(isinstance(s, Decl) and s.name == name for s in holding[0])
