"""What becomes of a variable from some place on: whether its value may be read before it is set.

`NONE` is what may always be said of statements as long as all that can run after them is looked at
too; `SET` says that no way leads past without setting the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from pycparser import c_ast

from loopxform.frontend.syntax.tree import below, every

Means = Callable[[c_ast.Node], bool]
"""Whether a node is the name of the variable."""


class Use(Enum):
    NONE = 0
    READ = 1
    SET = 2


def live_after(body: c_ast.Node, region: Sequence[c_ast.Node], means: Means) -> bool:
    """Whether the variable may be read after `region`, consecutive statements somewhere in `body`,
    before it is set again."""
    if any(isinstance(x, c_ast.Goto | c_ast.Switch | c_ast.Label) for x in every(body)):
        inside = {id(x) for n in region for x in every(n)}
        return any(means(x) and id(x) not in inside for x in every(body))
    return _after(body, region, means) is Use.READ


def first(node: c_ast.Node | None, means: Means) -> Use:
    """What a statement or an expression does first."""
    match node:
        case None:
            return Use.NONE
        case c_ast.ID():
            return Use.READ if means(node) else Use.NONE
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as target) if means(target):
            return _or(first(node.rvalue, means), Use.SET)
        case c_ast.Compound() | c_ast.DeclList() | c_ast.ExprList():
            return sequence(below(node), means)
        case c_ast.If() | c_ast.TernaryOp():
            return _or(first(node.cond, means), _either(node.iftrue, node.iffalse, means))
        case c_ast.BinaryOp(op="&&" | "||"):
            return _or(first(node.left, means), _perhaps(first(node.right, means)))
        case c_ast.For():
            return sequence((node.init, node.cond), means, _perhaps(_round(node, means)))
        case c_ast.While():
            return _or(first(node.cond, means), _perhaps(_round(node, means)))
        case c_ast.DoWhile():
            return sequence((node.stmt, node.cond), means)
        case c_ast.StructRef():
            return first(node.name, means)
        case c_ast.Switch() | c_ast.Label() | c_ast.Goto():
            return Use.READ if any(map(means, every(node))) else Use.NONE
        case _:
            found = [first(x, means) for x in below(node)]
            return next((u for u in (Use.READ, Use.SET) if u in found), Use.NONE)


def sequence(nodes: Iterable[c_ast.Node | None], means: Means, last: Use = Use.NONE) -> Use:
    """What statements do first, one after the other, and `last` at the end."""
    certain = True
    for n in nodes:
        use = first(n, means)
        if use is Use.READ or (use is Use.SET and certain):
            return use
        certain = certain and not _jumps(n)
    return last if certain else _perhaps(last)


def _round(loop: c_ast.For | c_ast.While, means: Means) -> Use:
    """One iteration of a loop, from its body to its condition."""
    following = (loop.next,) if isinstance(loop, c_ast.For) else ()
    return sequence((loop.stmt, *following, loop.cond), means)


def _or(use: Use, following: Use) -> Use:
    return following if use is Use.NONE else use


def _perhaps(use: Use) -> Use:
    """Of what may not run."""
    return Use.NONE if use is Use.SET else use


def _either(then: c_ast.Node | None, orelse: c_ast.Node | None, means: Means) -> Use:
    uses = {first(then, means), first(orelse, means)}
    return Use.READ if Use.READ in uses else uses.pop() if len(uses) == 1 else Use.NONE


def _jumps(node: c_ast.Node | None) -> bool:
    """Whether a statement may be left for somewhere else than what follows it."""
    return any(isinstance(x, c_ast.Break | c_ast.Continue) for x in every(node))


# ---------------------------------------------------------------- what follows a region


def _after(node: c_ast.Node, region: Sequence[c_ast.Node], means: Means) -> Use | None:
    """What happens first after the region, up to the end of `node`; None where it is not there."""
    if any(node is x for x in region):
        return Use.NONE
    children = list(below(node))
    for n, child in enumerate(children):
        use = _after(child, region, means)
        if use is not None:
            return _on(node, child, children[n + 1 :], use, region, means)
    return None


def _on(
    node: c_ast.Node,
    child: c_ast.Node,
    rest: list[c_ast.Node],
    use: Use,
    region: Sequence[c_ast.Node],
    means: Means,
) -> Use:
    """Goes on from the part of `node` that holds the region."""
    match node:
        case c_ast.Compound():
            following = [x for x in rest if not any(x is r for r in region)]
            after = sequence(following, means)
            return _or(use, _perhaps(after) if _jumps(child) else after)
        case c_ast.For() | c_ast.While():
            again = _round(node, means)
            head = (node.next, node.cond) if isinstance(node, c_ast.For) else (node.cond,)
            back = sequence(head, means, _perhaps(again))
            return _or(_perhaps(use) if _jumps(child) else use, back)
        case c_ast.DoWhile():
            back = _or(first(node.cond, means), _perhaps(first(node.stmt, means)))
            return _or(_perhaps(use) if _jumps(child) else use, back)
        case _:
            return use
