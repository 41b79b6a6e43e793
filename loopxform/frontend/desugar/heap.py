"""Calls that allocate memory: how many elements, and the declaration that stands for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.offsets import elements
from loopxform.frontend.syntax.tree import clone, every

_NAMES = ("malloc", "calloc", "alloca", "__builtin_alloca")


class HeapDecl(c_ast.Decl):
    """The declaration of an array that the C text allocates."""

    __slots__ = ()

    @classmethod
    def of(cls, name: str, element: c_ast.Node, size: c_ast.Node, at: c_ast.Node) -> c_ast.Node:
        array = cast(Any, c_ast.ArrayDecl)(element, clone(size), [], coord=at.coord)
        plain = build.local(name, array, at)
        made = cast(Any, cls)(name, [], [], [], [], plain.type, None, None, coord=at.coord)
        return cast(c_ast.Node, made)


def _call(n: c_ast.Node | None) -> c_ast.FuncCall | None:
    while isinstance(n, c_ast.Cast):
        n = n.expr
    named = isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)
    return cast(c_ast.FuncCall, n) if named and cast(Any, n).name.name in _NAMES else None


def is_allocation(n: c_ast.Node) -> bool:
    """Whether an expression is the address of new memory."""
    return _call(n) is not None


def is_cleared(n: c_ast.Node) -> bool:
    """Whether that memory is 0."""
    call = _call(n)
    return call is not None and cast(Any, call).name.name == "calloc"


def length(value: c_ast.Node, d: c_ast.Decl) -> c_ast.Node | None:
    """How many elements of the pointer `d` an allocation has room for."""
    call = _call(value)
    args = list(call.args.exprs) if call is not None and call.args is not None else []
    factors = [f for a in args for f in _factors(a)]
    sizes = [f for f in factors if isinstance(f, c_ast.UnaryOp) and f.op == "sizeof"]
    others = [f for f in factors if f not in sizes]
    if any(isinstance(n, c_ast.FuncCall | c_ast.Assignment) for f in others for n in every(f)):
        return None
    if elements(d) == "char" and not sizes:
        pass
    elif len(sizes) != 1 or not _is_element(sizes[0].expr, d):
        return None
    one = build.number(1, value)
    others = [f for f in others if not (isinstance(f, c_ast.Constant) and f.value == "1")]
    return reduce(partial(build.binary, "*"), others) if others else one


def _factors(n: c_ast.Node) -> Iterator[c_ast.Node]:
    """What is multiplied; a cast to a wide type changes no length that fits into memory."""
    while isinstance(n, c_ast.Cast) and _is_size(n.to_type):
        n = n.expr
    if isinstance(n, c_ast.BinaryOp) and n.op == "*":
        yield from _factors(n.left)
        yield from _factors(n.right)
    else:
        yield n


def _is_size(t: c_ast.Node) -> bool:
    inner = cast(Any, t).type
    names = inner.type.names if isinstance(inner, c_ast.TypeDecl) else None
    return names is not None and set(names) <= {"size_t", "unsigned", "long", "int"}


def _is_element(n: c_ast.Node, d: c_ast.Decl) -> bool:
    """Whether `sizeof` of something is the size of what the pointer points to."""
    match n:
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return bool(name == d.name)
        case c_ast.ArrayRef(name=c_ast.ID(name=name)):
            return bool(name == d.name)
        case c_ast.Typename():
            mine = elements(d)
            star = build.local("", build.pointer_to(n.type), n)
            return mine is not None and elements(star) == mine
        case _:
            return False
