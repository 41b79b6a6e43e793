"""Initialisers of local arrays, as one assignment per element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Const, Expr

_MOST = 64
_LOOP = "initialise it by a loop"


def elements(
    node: c_ast.Decl, shape: tuple[Expr, ...], lower: Callable[[c_ast.Node], Expr]
) -> Iterator[tuple[tuple[Expr, ...], Expr | None]]:
    """Index and value of every element of an array declared with `= {...}`; None is zero.

    Elements that are not mentioned are zero.
    """
    if node.init is None:
        return
    sizes = [value_of(d) for d in shape]
    total = 1
    for n in sizes:
        total *= n or _MOST + 1
    if not isinstance(node.init, c_ast.InitList) or total > _MOST:
        raise NotModelled("LX010", "an initialiser of this size or form", _LOOP, node)
    given = dict(_given(node.init, (), len(shape)))
    for index in product(*(range(n or 0) for n in sizes)):
        e = given.pop(index, None)
        yield tuple(Const(i) for i in index), None if e is None else lower(e)
    if given:
        raise NotModelled("LX010", "more initialisers than elements", "", node)


def _given(
    init: c_ast.InitList, index: tuple[int, ...], rank: int
) -> Iterator[tuple[tuple[int, ...], c_ast.Node]]:
    for n, e in enumerate(init.exprs):
        here = (*index, n)
        if isinstance(e, c_ast.NamedInitializer):
            raise NotModelled("LX010", "an initialiser with a designator", _LOOP, e.name[0])
        if isinstance(e, c_ast.InitList):
            if len(here) == rank:
                raise NotModelled("LX010", "an initialiser with too many braces", _LOOP, e)
            yield from _given(e, here, rank)
        elif len(here) < rank:
            if len(init.exprs) == 1 and isinstance(e, c_ast.Constant):
                yield (*here, *([0] * (rank - len(here)))), e
            else:
                raise NotModelled("LX010", "an initialiser without inner braces", _LOOP, e)
        else:
            yield here, e
