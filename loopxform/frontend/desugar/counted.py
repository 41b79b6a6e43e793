"""A while loop that counts is a for loop: its start stands before it, its step at its end.

    i = 0; while (i < n) { S; i++; }     ->   for (i = 0; i < n; i++) { S }
    i = 0; for (; i < n; i++) { S }      ->   for (i = 0; i < n; i++) { S }
    i = 0; do { S; i++; } while (i < n)  ->   for (i = 0; i < (n > 0 ? n : 0 + 1); i++) { S }
    i = n; do S while (i-- > 0);         ->   for (i = n; i >= (0 < n ? 0 : n); i--) S
    do S while (--i);                    ->   i_start = i; for (i = i_start; i > ...; i--) S
    for (i = n; i; i--) S                ->   for (i = n; i != 0; i--) S
    for (; i < n; i++) { S }             ->   i_start = i; for (i = i_start; i < n; i++) { S }

Whether the header really counts is asked of every `for` later on.
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import changed, declared, mentioned
from loopxform.frontend.desugar.starts import Scope, take_start
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import clone, every, statements
from loopxform.records import record

_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), LOOPS)
_LEAVES = (c_ast.Break, c_ast.Return, c_ast.Goto, c_ast.Label)
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class CountedWhile(c_ast.For):
    """A `for` that was written with `while`."""

    __slots__ = ()


class CountedDo(c_ast.For):
    """A `for` that was written with `do`."""

    __slots__ = ()


def compared(s: c_ast.For | c_ast.While | c_ast.DoWhile, scope: Scope) -> c_ast.Node | None:
    """The condition of a loop, which compares with 0 where it asks whether what the loop steps is
    something else."""
    cond = cast(c_ast.Node | None, s.cond)
    if isinstance(cond, c_ast.ID) and cond.name in scope.types:
        whole = kind(scope.types[cond.name]) in ("signed", "unsigned")
        if whole and any(stepped(n) == cond.name for n in every(s)):
            return build.binary("!=", cond, build.number(0, cond))
    return cond


def from_start(s: c_ast.Node, before: list[c_ast.Node], scope: Scope) -> c_ast.Node | None:
    """The for loop that a loop stands for whose start stands before it and whose step is in it."""
    if isinstance(s, c_ast.DoWhile):
        return _do(s, before, scope)
    made = _loop(s, scope)
    if made is None:
        return None
    name, loop = made
    loop.init = take_start(before, name, scope)
    return loop if loop.init is not None or _is_pointer_order(name, loop.cond, scope) else None


def from_saved_start(s: c_ast.Node, scope: Scope) -> list[c_ast.Node] | None:
    """The for loop of a number whose start nobody sees: what it holds in front of the loop."""
    made = _loop(s, scope)
    known = None if made is None else scope.types.get(made[0])
    if made is None or known is None or made[0] not in scope.private:
        return None
    name, loop = made
    if kind(known) not in ("signed", "unsigned") or not _is_order(name, loop.cond):
        return None
    start = scope.fresh.name(f"{name}_start")
    loop.init = build.assignment(name, build.name(start, s), s)
    return [build.local(start, known.type, s, build.name(name, s)), loop]


def _is_pointer_order(name: str, cond: c_ast.Node, scope: Scope) -> bool:
    """Whether a condition is `p < end` of a pointer, which may well be the caller's."""
    known = scope.types.get(name)
    pointer = known is not None and isinstance(known.type, c_ast.PtrDecl | c_ast.ArrayDecl)
    return pointer and _is_order(name, cond)


def _is_order(name: str, cond: c_ast.Node | None) -> bool:
    """Whether a condition compares a variable with something."""
    ends = (cond.left, cond.right) if isinstance(cond, c_ast.BinaryOp) else ()
    order = isinstance(cond, c_ast.BinaryOp) and cond.op in (*_MIRROR, "!=")
    return order and any(isinstance(x, c_ast.ID) and x.name == name for x in ends)


def _loop(s: c_ast.Node, scope: Scope) -> tuple[str, c_ast.For] | None:
    """The variable and the for loop, without start, that `s` stands for."""
    match s:
        case c_ast.For(init=None, cond=cond, next=step) if step is not None and cond is not None:
            name, body = stepped(step), statements(s.stmt)
            if name is None or name not in mentioned(cond):
                return None
        case c_ast.While(cond=cond) | c_ast.For(init=None, cond=cond, next=None):
            found = _last_step(statements(s.stmt), cond, scope)
            if found is None:
                return None
            name, body, step = found
        case _:
            return None
    if any(name in declared(x) for x in body):
        return None
    kind = c_ast.For if isinstance(s, c_ast.For) else CountedWhile
    return name, _for(kind, None, (cond, step, body), s)


def _for(
    kind: type[c_ast.For],
    init: c_ast.Node | None,
    rest: tuple[c_ast.Node, c_ast.Node, list[c_ast.Node]],
    at: c_ast.Node,
) -> c_ast.For:
    cond, step, body = rest
    made = cast(Any, kind)(init, cond, step, build.block(body, at), coord=at.coord)
    return cast(c_ast.For, made)


def _last_step(
    items: list[c_ast.Node], cond: c_ast.Node | None, scope: Scope
) -> tuple[str, list[c_ast.Node], c_ast.Node] | None:
    """The variable of a condition that a body steps once it is done with it, the body without the
    step, and the step."""
    if cond is None or any(map(_CONTINUE.held, items)):
        return None
    for n in range(len(items) - 1, -1, -1):
        name = stepped(items[n])
        if name is None or name not in mentioned(cond):
            continue
        rest = items[n + 1 :]
        if rest and name not in scope.private:
            return None
        left = any(isinstance(x, _LEAVES) for s in rest for x in every(s))
        if left or any(name in mentioned(s) | declared(s) for s in rest):
            return None
        return name, [*items[:n], *rest], items[n]
    return None


def _do(s: c_ast.DoWhile, before: list[c_ast.Node], scope: Scope) -> c_ast.Node | None:
    counted = _counted_do(s, scope)
    if counted is None:
        return None
    kept = list(before)
    init = take_start(kept, counted.name, scope)
    if init is None or not _is_kept(init.rvalue, s, scope):
        return None
    before[:] = kept
    return counted.loop(init, s)


def do_from_saved_start(s: c_ast.Node, scope: Scope) -> list[c_ast.Node] | None:
    """The for loop of a `do` whose counter starts at what it holds."""
    counted = _counted_do(s, scope) if isinstance(s, c_ast.DoWhile) else None
    if counted is None or counted.name not in scope.private:
        return None
    name = counted.name
    start = scope.fresh.name(f"{name}_start")
    held = build.local(start, scope.types[name].type, s, build.name(name, s))
    return [held, counted.loop(build.assignment(name, build.name(start, s), s), s)]


@record
class _CountedDo:
    """What a `do` counts with, what it does, its step, and the condition that it goes on with:
    `name op bound`."""

    name: str
    body: list[c_ast.Node]
    step: c_ast.Node
    op: str
    bound: c_ast.Node

    def loop(self, init: c_ast.Assignment, s: c_ast.Node) -> c_ast.For:
        """The loop that runs at least once, from a start that keeps its value."""
        op, once = self.op, clone(init.rvalue)
        more = {"<": "+", ">": "-"}.get(op)
        if more is not None:
            once = build.binary(more, once, build.number(1, s))
        strict = build.binary(_MIRROR[op[0]], clone(self.bound), clone(init.rvalue))
        most = build.choice(strict, clone(self.bound), once)
        cond = build.binary(op, build.name(self.name, s), most)
        return _for(CountedDo, init, (cond, self.step, self.body), s)


def _counted_do(s: c_ast.DoWhile, scope: Scope) -> _CountedDo | None:
    cond, step = _stepped_before(s.cond)
    items = [*statements(s.stmt), *([] if step is None else [step])]
    found = _last_step(items, cond, scope)
    if found is None:
        return None
    name, body, last = found
    if any(name in changed(x) | declared(x) for x in body):
        return None
    limit = _least_once(name, last, cond, scope)
    return _CountedDo(name, body, last, *limit) if limit and name in scope.types else None


def _stepped_before(cond: c_ast.Node) -> tuple[c_ast.Node, c_ast.Node | None]:
    """The condition behind the step that it begins with: `++i < n` is i++, then i < n; `i++ < n` is
    i++, then i <= n."""
    match cond:
        case c_ast.BinaryOp(
            op=op, left=c_ast.UnaryOp(op="++" | "--", expr=c_ast.ID() as x) as step
        ):
            return build.binary(op, build.name(x.name, x), cond.right), step
        case c_ast.BinaryOp(op=op, left=c_ast.UnaryOp(op=at, expr=c_ast.ID() as x) as step) if (
            op,
            at,
        ) in ((">", "p--"), ("<", "p++")):
            return build.binary(f"{op}=", build.name(x.name, x), cond.right), step
        case c_ast.UnaryOp(op="p--", expr=c_ast.ID() as x):
            return build.binary(">=", build.name(x.name, x), build.number(0, cond)), cond
        case c_ast.UnaryOp(op="--", expr=c_ast.ID() as x):
            return build.binary(">", build.name(x.name, x), build.number(0, cond)), cond
        case _:
            return cond, None


def _least_once(
    name: str, step: c_ast.Node, cond: c_ast.Node, scope: Scope
) -> tuple[str, c_ast.Node] | None:
    """`<` and `n` of a condition `i < n` towards which the step goes."""
    if not isinstance(cond, c_ast.BinaryOp) or cond.op not in _MIRROR:
        return None
    op, side, bound = cond.op, cond.left, cond.right
    if not isinstance(side, c_ast.ID) or side.name != name:
        op, side, bound = _MIRROR[op], bound, side
    if not isinstance(side, c_ast.ID) or side.name != name or name in mentioned(bound):
        return None
    up = isinstance(step, c_ast.UnaryOp) and "+" in step.op
    up = up or (isinstance(step, c_ast.Assignment) and step.op == "+=")
    known = scope.types.get(name)
    signed = known is not None and kind(known) == "signed"
    fits = all(isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp) for n in every(bound))
    return (op, bound) if fits and signed and up == (op[0] == "<") else None


def _is_kept(start: c_ast.Node, loop: c_ast.Node, scope: Scope) -> bool:
    """Whether a start can be computed again while the loop runs."""
    kinds = c_ast.ID | c_ast.Constant | c_ast.BinaryOp
    plain = all(isinstance(n, kinds) for n in every(start))
    return plain and mentioned(start) <= scope.private - changed(loop) - declared(loop)
