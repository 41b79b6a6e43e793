"""What a function does that may have two names lead into one array where a loop runs: what it does
before the loop, and what earlier calls of it may have left.

    p = get(n); for (i...) p[i] = s->x[i]; s->x = p;    p and s->x are apart in the loop
    p = s->y;   for (i...) p[i] = s->x[i]; s->x = p;    the next call may find s->x in s->y
    if (c) { p = s->x; S } else for (i...) p[i] = s->x[i];           apart

A variable of the function holds nothing of an earlier call, and what only such variables lead to,
which get it from calls that are given no pointer, this call has no name for but in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast

from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.names.pointer_sources import PointerSources
from loopxform.frontend.outline.owner import Owner
from loopxform.frontend.syntax.tree import below, every


def earlier(nodes: Iterable[c_ast.Node], owner: Owner, loop: c_ast.Node) -> list[c_ast.Node]:
    """Those of the assignments, declarations and calls among `nodes` that count for a loop."""
    found = _Earlier(owner, loop)
    return [x for x in nodes if found.counts(x)]


class _Earlier:
    def __init__(self, owner: Owner, loop: c_ast.Node) -> None:
        self.owner, self.variables = owner, owner.variables
        self.last = owner.last_before[id(loop)]
        self.elsewhere = frozenset(_other_branches(owner, loop))
        named = (x.name for x in every(owner.function.body) if isinstance(x, c_ast.ID))
        self.returns_twice = any("setjmp" in name for name in named)
        self.sources = PointerSources((), owner.variables, owner.file, owner.linking)

    def counts(self, x: c_ast.Node) -> bool:
        if self.returns_twice:
            return True
        before = self.variables.order[id(x)] <= self.last and id(x) not in self.elsewhere
        match x:
            case c_ast.Assignment(op="=", lvalue=target, rvalue=value) if not before:
                return not (self._is_of_call(target) or self._is_new(value))
            case c_ast.Decl() if not before:
                return not self._is_own(x)
            case _:
                return True

    def _is_of_call(self, target: c_ast.Node) -> bool:
        """Whether it is a variable that each call of the function has anew."""
        d = self.variables.meant.get(id(target)) if isinstance(target, c_ast.ID) else None
        return d is not None and self._is_own(d)

    def _is_own(self, d: c_ast.Decl) -> bool:
        return {"static", "extern"}.isdisjoint(d.storage or ())

    def _is_new(self, value: c_ast.Node) -> bool:
        """Whether it leads to what this call alone got, wherever it sets the variable."""
        while isinstance(value, c_ast.Cast):
            value = value.expr
        d = self.variables.meant.get(id(value)) if isinstance(value, c_ast.ID) else None
        if d is None or not self._is_own(d) or id(d) in self.variables.params:
            return False
        if self.variables.kind(d) != "pointer" or self.variables.escaping[id(d)]:
            return False
        return all(v is not None and self._is_from_call(v) for v in self._settings(d))

    def _settings(self, d: c_ast.Decl) -> Iterator[c_ast.Node | None]:
        if d.init is not None:
            yield d.init
        for x in self.variables.sets[id(d)]:
            yield x.rvalue if isinstance(x, c_ast.Assignment) and x.op == "=" else None

    def _is_from_call(self, value: c_ast.Node) -> bool:
        """Whether a call gives it that is given no pointer, or it points nowhere."""
        while isinstance(value, c_ast.Cast):
            value = value.expr
        called = isinstance(value, c_ast.FuncCall | c_ast.Constant)
        return called and not self.sources.roots(value)


def _other_branches(owner: Owner, loop: c_ast.Node) -> Iterator[int]:
    """The nodes, by identity, of branches that do not run where the loop does: those of conditions
    around all loops that it is in."""
    if any(isinstance(x, c_ast.Goto | c_ast.Label) for x in every(owner.function.body)):
        return
    node: c_ast.Node | None = owner.function.body
    while node is not None and not isinstance(node, LOOPS):
        inner = next((x for x in below(node) if any(y is loop for y in every(x))), None)
        if isinstance(node, c_ast.If):
            others = (x for x in (node.iftrue, node.iffalse) if x is not None and x is not inner)
            if inner is not node.cond:
                yield from (id(y) for x in others for y in every(x))
        node = inner
