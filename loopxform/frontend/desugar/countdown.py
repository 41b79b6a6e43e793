"""Loops whose condition counts down.

    i = n; while (i-- > 0) S        ->  for (i = n - 1; i >= 0; i--) S
    for (size_t i = n; i-- > 0;) S  ->  for (long c = (long)n - 1; c >= 0; c--) S
    for (size_t i = n - 1; i < n; i--) S, i != (size_t)-1  ->  the same

The second form, where S has (size_t)c for i, is for unsigned variables, which would never be below
0; where the variable lives on, it is set to what it has wrapped around to.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.counted import CountedWhile
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared
from loopxform.frontend.desugar.starts import Scope, own_start, take_start
from loopxform.frontend.syntax.tree import clone, every, replace_children

_LEAVE = Jump(lambda n: isinstance(n, c_ast.Break), (*LOOPS, c_ast.Switch))


def counted_down(s: c_ast.Node, before: list[c_ast.Node], scope: Scope) -> list[c_ast.Node] | None:
    """The statements that a loop with such a condition becomes."""
    if not isinstance(s, c_ast.While | c_ast.For) or getattr(s, "next", None) is not None:
        return None
    found = _countdown(s.cond)
    if found is None:
        return None
    name, op = found
    known = scope.types.get(name)
    sign = kind(known) if known is not None else "other"
    if name not in scope.private or sign not in ("signed", "unsigned"):
        return None
    if name in declared(s.stmt) or name in changed(s.stmt):
        return None
    init, own = own_start(s, name)
    if isinstance(s, c_ast.For) and s.init is not None and init is None:
        return None
    first = init or take_start(before, name, scope)
    start = build.name(name, s) if first is None else cast(c_ast.Node, first.rvalue)
    if sign == "signed":
        return _signed(s, name, op, start, own=own, scope=scope, kept=first is None)
    leaves = any(isinstance(x, c_ast.Return | c_ast.Goto | c_ast.Label) for x in every(s.stmt))
    if leaves or _LEAVE.held(s.stmt):
        # The start is put back where the loop stays what it was.
        if first is not None and init is None:
            before.append(first)
        return None
    assert known is not None
    return _unsigned(s, name, start, known, own=own, scope=scope)


def wrapped_down(s: c_ast.Node, scope: Scope) -> list[c_ast.Node] | None:
    """The statements that a loop of an unsigned number becomes that ends once it has wrapped around
    below 0."""
    found = _wrapping(s) if isinstance(s, c_ast.For) else None
    if found is None:
        return None
    name, bound, type = found
    known, other = scope.types.get(name), scope.types.get(bound)
    if known is None or other is None or not {name, bound} <= scope.private:
        return None
    words = _words(known.type)
    if kind(known) != "unsigned" or not words == _words(other.type) == _words(type or known.type):
        return None
    body, (_, own) = cast(Any, s).stmt, own_start(s, name)
    jumps = any(isinstance(x, c_ast.Return | c_ast.Goto | c_ast.Label) for x in every(body))
    if {name, bound} & (changed(body) | declared(body)) or jumps or _LEAVE.held(body):
        return None
    return _unsigned(s, name, build.name(bound, s), known, own=own, scope=scope)


def _words(declared: c_ast.Node) -> list[str] | None:
    """The type of a number, as its declaration says it."""
    t = declared.type if isinstance(declared, c_ast.TypeDecl) else None
    return t.names if isinstance(t, c_ast.IdentifierType) else None


def _wrapping(s: c_ast.For) -> tuple[str, str, c_ast.Node | None] | None:
    """The counter of `i = n - 1; i < n; i--`, or `i != (size_t)-1`, n, and the type of that 1."""
    match s.next:
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=name)):
            first, _ = own_start(s, name)
        case _:
            return None
    match first and first.rvalue:
        case c_ast.BinaryOp(op="-", left=c_ast.ID(name=bound), right=c_ast.Constant(value="1")):
            pass
        case _:
            return None
    match s.cond:
        case c_ast.BinaryOp(op="<", left=c_ast.ID(name=left), right=c_ast.ID(name=right)) if (
            left == name and right == bound
        ):
            return name, bound, None
        case c_ast.BinaryOp(op="!=", left=c_ast.ID(name=left), right=end) if left == name:
            type = end.to_type.type if isinstance(end, c_ast.Cast) else None
            minus = end if type is None else end.expr
            return (name, bound, type) if _is_minus_one(minus) else None
        case _:
            return None


def _is_minus_one(n: c_ast.Node) -> bool:
    minus = isinstance(n, c_ast.UnaryOp) and n.op == "-"
    return minus and getattr(cast(Any, n).expr, "value", "") == "1"


def _countdown(cond: c_ast.Node | None) -> tuple[str, str] | None:
    """The variable and the comparison with 0 of `i-- > 0`, `i--`, `i-- != 0`."""
    match cond:
        case c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=name)):
            return name, "!="
        case c_ast.BinaryOp(
            op=">" | "!=" as op,
            left=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=name)),
            right=c_ast.Constant(value="0"),
        ):
            return name, op
        case c_ast.BinaryOp(
            op="<" | "!=" as op,
            left=c_ast.Constant(value="0"),
            right=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=name)),
        ):
            return name, op.replace("<", ">")
        case _:
            return None


def _signed(
    s: c_ast.Node,
    name: str,
    op: str,
    start: c_ast.Node,
    *,
    own: bool,
    scope: Scope,
    kept: bool,
) -> list[c_ast.Node]:
    out: list[c_ast.Node] = []
    type = scope.types[name].type
    if kept:
        value = scope.fresh.name(f"{name}_start")
        out.append(build.local(value, type, s, start))
        start = build.name(value, s)
    less = build.binary("-", start, build.number(1, s))
    init: c_ast.Node = build.assignment(name, less, s)
    if own:
        decl = build.local(name, type, s, less)
        init = build.declarations(decl)
    zero = build.number(0, s)
    if op == ">":
        cond = build.binary(">=", build.name(name, s), zero)
    else:
        cond = build.binary("!=", build.name(name, s), build.minus(build.number(1, s)))
    return [*out, _for(s, init, cond, build.step("--", name, s), cast(Any, s).stmt)]


def _unsigned(
    s: c_ast.Node,
    name: str,
    start: c_ast.Node,
    known: c_ast.Decl,
    *,
    own: bool,
    scope: Scope,
) -> list[c_ast.Node]:
    count = scope.fresh.name(name)
    long = build.integer(s, "long")
    first = build.binary("-", build.cast_to(long, start), build.number(1, s))
    decl = build.local(count, long, s, first)
    init = build.declarations(decl)
    cond = build.binary(">=", build.name(count, s), build.number(0, s))
    body = _Counted(name, count, known.type).visit(cast(Any, s).stmt)
    out: list[c_ast.Node] = [_for(s, init, cond, build.step("--", count, s), body)]
    if not own and name in scope.outside - scope.once:
        out.append(build.assignment(name, build.minus(build.number(1, s)), s))
    return out


class _Counted:
    """Puts a signed counter in the place of an unsigned variable. A subscript needs no cast."""

    def __init__(self, name: str, count: str, type: c_ast.Node) -> None:
        self.name = name
        self.count = count
        self.type = type

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        match n:
            case c_ast.ID(name=name) if name == self.name:
                return build.cast_to(clone(self.type), build.name(self.count, n))
            case c_ast.ArrayRef(subscript=c_ast.ID(name=name)) if name == self.name:
                n.name = self.visit(n.name)
                n.subscript = build.name(self.count, n)
                return n
            case c_ast.StructRef():
                n.name = self.visit(n.name)
                return n
        replace_children(n, self.visit)
        return n


def _for(
    s: c_ast.Node, init: c_ast.Node, cond: c_ast.Node, step: c_ast.Node, body: c_ast.Node
) -> c_ast.Node:
    kind = CountedWhile if isinstance(s, c_ast.While) else c_ast.For
    return cast(c_ast.Node, cast(Any, kind)(init, cond, step, body, coord=s.coord))
