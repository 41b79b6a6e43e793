"""Structured control flow: a function whose jumps, switches and counting while loops are written
as if and for, as far as that says the same.

The tree of the function is changed in place. What cannot be rewritten stays as it is and is
refused where it is lowered.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.asking import flagged
from loopxform.frontend.desugar.commas import apart
from loopxform.frontend.desugar.countdown import counted_down, wrapped_down
from loopxform.frontend.desugar.counted import (
    compared,
    do_from_saved_start,
    from_saved_start,
    from_start,
)
from loopxform.frontend.desugar.early_exits import with_early_exits
from loopxform.frontend.desugar.early_steps import stepped_at_the_start, stepped_in_condition
from loopxform.frontend.desugar.jumps import LOOPS, Jump, Stuck, guarded
from loopxform.frontend.desugar.kinds import alike
from loopxform.frontend.desugar.leaving_loops import out_of_loops
from loopxform.frontend.desugar.names import Fresh, changed, declared, governed, mentioned
from loopxform.frontend.desugar.several_steps import stepped_once
from loopxform.frontend.desugar.starts import Scope
from loopxform.frontend.desugar.strides import counted_strides
from loopxform.frontend.desugar.switches import chain
from loopxform.frontend.syntax.tree import (
    below,
    every,
    replace_children,
    runs_once,
    statements,
)

_KINDS = (*LOOPS, c_ast.Switch, c_ast.Goto, c_ast.Return)
_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), LOOPS)
_BREAK = Jump(lambda n: isinstance(n, c_ast.Break), (*LOOPS, c_ast.Switch))


def structure(
    node: c_ast.FuncDef, file_names: frozenset[str], fresh: Fresh, *, strides: bool = False
) -> None:
    """Rewrites the body of `node`; with `strides` also loops whose step is a variable."""
    if not any(isinstance(n, _KINDS) for n in every(node.body)):
        return
    taken = {
        x.name
        for n in every(node.body)
        if isinstance(n, c_ast.UnaryOp) and n.op == "&"
        for x in every(n.expr)
        if isinstance(x, c_ast.ID)
    }
    private = declared(node) - taken - file_names
    static = {d.name for d in every(node.body) if isinstance(d, c_ast.Decl) and d.storage}
    kept = private - static - governed(node.body)
    own = Scope(fresh, alike(node), kept, _outside(node), _once(node))
    _Structure(node, own, private, strides=strides).run()


def _outside(node: c_ast.FuncDef) -> frozenset[str]:
    """The names that are mentioned outside of the for loops that set them first."""
    found: set[str] = set()

    def visit(n: c_ast.Node, inside: frozenset[str]) -> None:
        if isinstance(n, c_ast.For):
            match n.init:
                case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                    visit(value, inside)
                    inside = inside | {name}
                case c_ast.DeclList(decls=decls):
                    inside = inside | {d.name for d in decls if isinstance(d, c_ast.Decl)}
        if isinstance(n, c_ast.ID) and n.name not in inside:
            found.add(n.name)
        for child in below(n):
            visit(child, inside)

    visit(node.body, frozenset())
    return frozenset(found)


def _once(node: c_ast.FuncDef) -> frozenset[str]:
    """The names that nothing mentions but one loop, which asks them in its condition and stands in
    no other loop: what they are behind it is nobody's business."""
    if any(isinstance(n, c_ast.Goto) for n in every(node.body)):
        return frozenset()
    times = _uses(node.body)
    found: set[str] = set()

    def visit(n: c_ast.Node) -> None:
        if isinstance(n, LOOPS):
            inside, asked = _uses(n), _uses(n.cond) if n.cond else Counter[str]()
            found.update(x for x in asked if inside[x] == times[x] and x not in changed(n.stmt))
            return
        for child in below(n):
            visit(child)

    visit(node.body)
    return frozenset(found)


def _uses(n: c_ast.Node) -> Counter[str]:
    return Counter(x.name for x in every(n) if isinstance(x, c_ast.ID))


class _Structure:
    def __init__(
        self, node: c_ast.FuncDef, scope: Scope, private: frozenset[str], *, strides: bool
    ) -> None:
        self.node, self.strides = node, strides
        self.scope = scope
        self.fresh = scope.fresh
        self.private = private
        self.gotos = Counter(n.name for n in every(node.body) if isinstance(n, c_ast.Goto))

    def run(self) -> None:
        self.node.body = self.visit(self.node.body)
        self._returns()

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """`node` rewritten, what is inside it first."""
        if isinstance(node, c_ast.Decl | c_ast.Assignment | c_ast.FuncCall | c_ast.UnaryOp):
            return node
        replace_children(node, self.visit)
        match node:
            case c_ast.DoWhile() if runs_once(node) and (block := self._once(node)) is not None:
                return block
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                self._continues(node)
                node.stmt = self._alone(node.stmt)
                node.cond = compared(node, self.scope)
                if isinstance(node, c_ast.For):
                    return apart(node, self.scope.types, self.scope.private)
            case c_ast.If():
                node.iftrue = self._alone(node.iftrue)
                node.iffalse = node.iffalse and self._alone(node.iffalse)
            case c_ast.Switch():
                return chain(node, self.fresh, self.private) or node
            case c_ast.Compound() if node.block_items:
                node.block_items = self._counted(self._labels(node.block_items))
        return node

    def _alone(self, s: c_ast.Node) -> c_ast.Node:
        """A loop that is all of a body, as in a block."""
        if not isinstance(s, c_ast.For | c_ast.While | c_ast.DoWhile):
            return s
        made = self._counted([s])
        return made[0] if len(made) == 1 else build.block(made, s)

    def _counted(self, items: list[c_ast.Node]) -> list[c_ast.Node]:
        """`items` with the counting loops in it as for loops that hold their start."""
        out: list[c_ast.Node] = []
        for s in items:
            with_early_exits(s, self.scope)
            s = stepped_at_the_start(s, self.scope) or s
            stepped_once(s, self.scope)
            loop = from_start(s, out, self.scope)
            made = counted_down(s, out, self.scope) if loop is None else [loop]
            made = wrapped_down(s, self.scope) if made is None else made
            made = stepped_in_condition(s, out, self.scope) if made is None else made
            made = do_from_saved_start(s, self.scope) if made is None else made
            made = flagged(s, self.scope) if made is None else made
            made = from_saved_start(s, self.scope) if made is None else made
            if made is None and self.strides and isinstance(s, c_ast.For):
                made = counted_strides(s, self.scope)
            out += [s] if made is None else made
        return out

    def _once(self, node: c_ast.DoWhile) -> c_ast.Node | None:
        """The statements of `do ... while (0)` as a block, which `break` and `continue` leave."""
        items = statements(node.stmt)
        try:
            for jump in (_CONTINUE, _BREAK):
                if any(map(jump.held, items)):
                    items = guarded(items, jump, self.fresh, self.private)
        except Stuck:
            return None
        return build.block(items, node)

    def _continues(self, loop: c_ast.For | c_ast.While | c_ast.DoWhile) -> None:
        items = statements(loop.stmt)
        if not any(map(_CONTINUE.held, items)):
            return
        try:
            made = guarded(items, _CONTINUE, self.fresh, self.private)
        except Stuck:
            return
        loop.stmt = build.block(made, loop.stmt)

    def _labels(self, items: list[c_ast.Node]) -> list[c_ast.Node]:
        """Forward jumps to a label of the same list become guards; the label goes."""
        for n, s in enumerate(items):
            if not isinstance(s, c_ast.Label):
                continue
            jump = Jump(partial(_goes_to, s.name))
            before, after = items[:n], [s.stmt, *items[n + 1 :]]
            found = sum(jump.is_jump(x) for b in before for x in every(b))
            if found != self.gotos[s.name] or _hides(before, jump, after):
                continue
            before = out_of_loops(before, jump, self.fresh)
            try:
                made = guarded(before, jump, self.fresh, self.private) if before else []
            except Stuck:
                continue
            return self._labels([*made, *after])
        return items

    def _returns(self) -> None:
        """Early returns outside of loops; the value is kept in a variable."""
        items = statements(self.node.body)
        jump = Jump(lambda n: isinstance(n, c_ast.Return))
        early = items[:-1] if items and isinstance(items[-1], c_ast.Return) else items
        if not any(map(jump.held, early)):
            return
        type = self.node.decl.type.type
        if not isinstance(type, c_ast.TypeDecl):
            return
        result = self.fresh.name("result")
        if not build.is_void(type):
            jump = Jump(jump.is_jump, left=lambda n: [build.assignment(result, _value(n), n)])
        try:
            made = guarded(items, jump, self.fresh, self.private)
        except Stuck:
            return
        if not build.is_void(type):
            last = items[-1]
            end = build.returned(build.name(result, last), last)
            made = [build.local(result, type, self.node.decl), *made, end]
        self.node.body = build.block(made, self.node.body)


def _value(node: c_ast.Node) -> c_ast.Node:
    if not isinstance(node, c_ast.Return) or node.expr is None:
        raise Stuck
    return cast(c_ast.Node, node.expr)


def _goes_to(label: str, node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Goto) and node.name == label


def _hides(before: list[c_ast.Node], jump: Jump, after: list[c_ast.Node]) -> bool:
    """Whether a variable that is declared behind the first jump is used after the label."""
    first = next((n for n, s in enumerate(before) if jump.held(s)), len(before))
    names = frozenset[str]().union(*map(declared, before[first:]))
    return any(names & mentioned(s) for s in after)
