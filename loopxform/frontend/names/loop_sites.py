"""What runs in each iteration of a loop, and under which conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.syntax.tree import below
from loopxform.records import record


@record
class Site:
    """A statement or expression of a loop: the conditions around it inside the loop, and the
    branch that the last of them guards; `branches` are those of `if` and `?:`, each with what
    decides for it. A `break` in a `breakable` one leaves a loop or switch further inside; a
    `nested` one is in a loop further inside."""

    node: c_ast.Node
    conditions: tuple[c_ast.Node, ...] = ()
    branch: c_ast.Node | None = None
    breakable: bool = False
    nested: bool = False
    branches: tuple[tuple[c_ast.Node, c_ast.Node], ...] = ()


def sites_of(loop: c_ast.For | c_ast.While | c_ast.DoWhile) -> Iterator[Site]:
    """Everything that runs in each iteration of a loop, in text order, its start aside."""
    parts = (getattr(loop, "cond", None), loop.stmt, getattr(loop, "next", None))
    waiting = [Site(x) for x in reversed(parts) if x is not None]
    while waiting:
        site = waiting.pop()
        yield site
        waiting += reversed(list(_inside(site)))


def _inside(site: Site) -> Iterator[Site]:
    """The parts of a statement or an expression."""
    node = site.node
    match node:
        case c_ast.If() | c_ast.TernaryOp():
            yield replace(site, node=node.cond)
            for branch in (node.iftrue, node.iffalse):
                if branch is not None:
                    inside = _guarded(site, branch, node.cond)
                    yield replace(inside, branches=(*site.branches, (node, branch)))
        case c_ast.BinaryOp(op="&&" | "||"):
            yield replace(site, node=node.left)
            yield _guarded(site, node.right, node.left)
        case c_ast.Switch():
            yield replace(site, node=node.cond)
            yield replace(_guarded(site, node.stmt, node.cond), breakable=True)
        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
            for child in below(node):
                yield replace(site, node=child, breakable=True, nested=True)
        case c_ast.UnaryOp(op="sizeof" | "_Alignof") | c_ast.Typename():
            return
        case _:
            for child in below(node):
                yield replace(site, node=child)


def _guarded(site: Site, node: c_ast.Node, cond: c_ast.Node) -> Site:
    return replace(site, node=node, conditions=(*site.conditions, cond), branch=node)


def stated(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The expressions directly below a statement whose values are not used."""
    match node:
        case c_ast.Compound() | c_ast.Case() | c_ast.Default() | c_ast.Label():
            found = list(below(node))
        case c_ast.If():
            found = [node.iftrue, node.iffalse]
        case c_ast.For():
            found = [node.stmt, node.next]
        case c_ast.While() | c_ast.DoWhile():
            found = [node.stmt]
        case _:
            found = []
    for x in found:
        if isinstance(x, c_ast.ExprList):
            yield from x.exprs
        elif x is not None:
            yield x
