"""Builtins of GNU compilers as the C they stand for.

__builtin_expect(c, 1)              ->  (long)c, and c where only its truth is asked
__builtin_assume_aligned(p, 64)     ->  p
__builtin_sqrt(x)                   ->  sqrt(x)     where the file has no sqrt of its own
__builtin_inff()                    ->  1.0f / 0.0f    INFINITY of <math.h>
__builtin_unreachable();            ->  ;           likewise __builtin_prefetch(...);
"""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.callee import calls, steps
from loopxform.frontend.syntax.tree import every, replace_children
from loopxform.ir import functions

_PREFIX = "__builtin_"
_NOTHING = ("__builtin_unreachable", "__builtin_prefetch", "__builtin_assume")
_INFINITE = {"inf": "", "inff": "f", "huge_val": "", "huge_valf": "f"}
"""Calls that give infinity, by the suffix of its type."""

_TRUTH = ("<", ">", "<=", ">=", "==", "!=", "&&", "||")


class _Expected(c_ast.Cast):
    """A condition that somebody says is likely."""

    __slots__ = ()


def without_builtins(node: c_ast.FuncDef, defined: frozenset[str]) -> None:
    """Rewrites the body of `node` in place; `defined` are the functions of the file."""
    called = (n.name for n in every(node.body) if isinstance(n, c_ast.FuncCall))
    if any(isinstance(n, c_ast.ID) and n.name.startswith(_PREFIX) for n in called):
        node.body = _Builtins(defined).visit(node.body)


class _Builtins:
    def __init__(self, defined: frozenset[str]) -> None:
        self.defined = defined

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        replace_children(node, self.visit)
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith(_PREFIX):
                return self._call(node, name)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=one), rvalue=c_ast.ID(name=other)):
                return build.nothing(node) if one == other else node
            case c_ast.If() | c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.TernaryOp():
                node.cond = _truth(node.cond)
            case c_ast.UnaryOp(op="!"):
                node.expr = _truth(node.expr)
            case c_ast.BinaryOp(op="&&" | "||"):
                node.left, node.right = _truth(node.left), _truth(node.right)
        return node

    def _call(self, node: c_ast.FuncCall, name: str) -> c_ast.Node:
        given = list(node.args.exprs) if node.args is not None else []
        effects = any(steps(n) or calls(n, self.defined) for a in given for n in every(a))
        plain = name.removeprefix(_PREFIX)
        if name in _NOTHING and not effects:
            return build.nothing(node)
        if name == "__builtin_expect" and len(given) == 2:
            long = build.cast_to(build.integer(node, "long"), given[0])
            made = cast(Any, _Expected)(cast(Any, long).to_type, given[0], coord=node.coord)
            return cast(c_ast.Node, made)
        if name == "__builtin_assume_aligned" and given and not effects:
            return cast(c_ast.Node, given[0])
        if plain in _INFINITE and not given:
            return build.infinity(_INFINITE[plain], node)
        if functions.parameters(plain) is not None and plain not in self.defined:
            node.name = build.name(plain, node.name)
        return node


def _truth(node: c_ast.Node) -> c_ast.Node:
    """A condition without the hint, where the conversion to long cannot change its truth."""
    if not isinstance(node, _Expected):
        return node
    inner = cast(c_ast.Node, node.expr)
    number = isinstance(inner, c_ast.BinaryOp) and inner.op in _TRUTH
    number = number or (isinstance(inner, c_ast.UnaryOp) and inner.op == "!")
    return inner if number else node
