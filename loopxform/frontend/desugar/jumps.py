"""Jumps to the end of a list of statements become guards around what they skip.

    if (c) continue; S                ->  if (!c) { S }
    if (c) { T; continue; } else U; S ->  if (c) { T } else { U; S }
    if (c) { if (d) continue; T } S   ->  if (c) { if (!d) { T } } if (!(c && d)) { S }
                                      or  skip = 0; if (c) { if (d) skip = 1; else { T } }
                                          if (!skip) { S }

The third form needs conditions that nothing in the list can change; the last one does not.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.names import Fresh, changed, declared, mentioned
from loopxform.frontend.syntax.tree import below, every, statements
from loopxform.records import record

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@record
class Jump:
    """The jumps to eliminate: which statements they are, those that hide them (a loop hides its
    own `continue`), and what stays of one (`return e` is `result = e`)."""

    is_jump: Callable[[c_ast.Node], bool]
    hidden_by: tuple[type[c_ast.Node], ...] = ()
    left: Callable[[c_ast.Node], list[c_ast.Node]] = lambda _: []

    def held(self, node: c_ast.Node | None) -> bool:
        """Whether such a jump is anywhere in `node`."""
        waiting = [] if node is None else [node]
        while waiting:
            n = waiting.pop()
            if self.is_jump(n):
                return True
            if not isinstance(n, self.hidden_by):
                waiting += below(n)
        return False


class Stuck(Exception):
    """The jumps of a list cannot be written as guards."""


class _Flag(Exception):
    """A condition may have changed: it must be kept in a variable."""


@record
class _Left:
    """Whether the list has been left: never, always, or where the condition `when` holds (None
    where that cannot be said in the names of the list)."""

    never: bool = False
    always: bool = False
    when: c_ast.Node | None = None


_NEVER, _ALWAYS = _Left(never=True), _Left(always=True)


def guarded(
    items: list[c_ast.Node], jump: Jump, fresh: Fresh, private: frozenset[str]
) -> list[c_ast.Node]:
    """`items` without the jumps to their end. `private` are the variables that only the text of
    this function can change. Raises Stuck where a jump leaves a loop, say."""
    moving = frozenset[str]().union(*map(changed, items), *map(declared, items))
    steady = private - moving
    try:
        return _Guards(jump, steady, None).run(items)[0]
    except _Flag:
        flag = fresh.name("skip")
        out, _ = _Guards(jump, steady, flag).run(items)
        at = items[0]
        return [build.local(flag, build.integer(at), at, build.number(0, at)), *out]


class _Guards:
    def __init__(self, jump: Jump, steady: frozenset[str], flag: str | None) -> None:
        self.jump = jump
        self.steady = steady
        self.flag = flag

    def run(self, items: list[c_ast.Node]) -> tuple[list[c_ast.Node], _Left]:
        """The statements in which every jump is a guard, and whether they left the list."""
        first = next((n for n, s in enumerate(items) if self.jump.held(s)), None)
        if first is None:
            return items, _NEVER
        before, s, rest = items[:first], items[first], items[first + 1 :]
        if isinstance(s, c_ast.If):
            then, a = self.run(statements(s.iftrue))
            orelse, b = self.run(statements(s.iffalse))
            if rest and a.always and not b.always:
                orelse, b = self.run(_with(statements(s.iffalse), rest))
                rest = []
            elif rest and b.always and not a.always:
                then, a = self.run(_with(statements(s.iftrue), rest))
                rest = []
            here: list[c_ast.Node] = [_branch(s, then, orelse)]
            left = self._either(s.cond, a, b)
        else:
            here, left = self._plain(s)
        if left.always:
            _unreachable(rest)
        elif rest:
            more, after = self.run(rest)
            guard = build.negated(left.when or self._flag(s))
            here.append(build.branch(guard, build.block(more, rest[0]), None, rest[0]))
            left = self._or(left, after)
        return [*before, *here], left

    def _plain(self, s: c_ast.Node) -> tuple[list[c_ast.Node], _Left]:
        """A jump, or a block that holds one."""
        if isinstance(s, c_ast.Compound):
            inner, left = self.run(statements(s))
            return [build.block(inner, s)], left
        if not self.jump.is_jump(s):
            raise Stuck
        mark = [build.assignment(self.flag, build.number(1, s), s)] if self.flag else []
        return [*self.jump.left(s), *mark], _ALWAYS

    def _either(self, cond: c_ast.Node, a: _Left, b: _Left) -> _Left:
        """Left after `if (cond)` whose branches left as `a` and `b`."""
        if a == b and (a.always or a.never):
            return a
        if not self._is_steady(cond):
            return _Left()
        sides = []
        for side, holds in ((a, cond), (b, build.negated(cond))):
            if side.always:
                sides.append(holds)
            elif side.when is not None:
                sides.append(build.binary("&&", holds, side.when))
            elif not side.never:
                return _Left()
        return _Left(when=sides[0] if len(sides) == 1 else build.binary("||", sides[0], sides[1]))

    def _or(self, a: _Left, b: _Left) -> _Left:
        if b.never:
            return a
        if b.always:
            return _ALWAYS
        if a.when is None or b.when is None:
            return _Left()
        return _Left(when=build.binary("||", a.when, b.when))

    def _is_steady(self, cond: c_ast.Node) -> bool:
        """Whether `cond` has no effect, and the same value wherever in the list it is asked."""
        return all(map(_is_plain, every(cond))) and mentioned(cond) <= self.steady

    def _flag(self, at: c_ast.Node) -> c_ast.Node:
        if self.flag is None:
            raise _Flag
        return build.name(self.flag, at)


def _with(items: list[c_ast.Node], rest: list[c_ast.Node]) -> list[c_ast.Node]:
    """A branch that goes on with what stood behind the if."""
    if any(isinstance(x, c_ast.Decl) for x in items):
        return [build.block(items, items[0]), *rest]
    return [*items, *rest]


def _is_plain(x: c_ast.Node) -> bool:
    """Arithmetic on variables: no memory is read."""
    if isinstance(x, c_ast.UnaryOp):
        return x.op in ("-", "+", "!", "~")
    return isinstance(x, c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.TernaryOp)


def _branch(s: c_ast.If, then: list[c_ast.Node], orelse: list[c_ast.Node]) -> c_ast.If:
    """The If with new branches; an empty first one is not kept."""
    if not then and orelse:
        return build.branch(build.negated(s.cond), build.block(orelse, s), None, s)
    other = build.block(orelse, s) if orelse else None
    return build.branch(s.cond, build.block(then, s), other, s)


def _unreachable(items: list[c_ast.Node]) -> None:
    """Raises Stuck where statements that are never reached hold something a reader asks about."""
    if any(isinstance(x, (*LOOPS, c_ast.Label)) for s in items for x in every(s)):
        raise Stuck
