"""Loops that leave pointers alone which others may know: static ones, and those whose address is
taken.

    static vec *row;
    resize(&row, n);                              `row` may be set by whoever has its address,
    for (i = 0; i < n; i++) row->x[i] = 0;        but no store of a double does that (C11 6.5p7)
"""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

from loopxform.frontend.names.expression_types import ExpressionTypes
from loopxform.frontend.names.loop_data import is_math
from loopxform.frontend.names.pointer_keepers import stores_number
from loopxform.frontend.names.variables import changed
from loopxform.frontend.outline.owner import Owner


def keeps_pointers(inside: Iterable[c_ast.Node], owner: Owner, types: ExpressionTypes) -> bool:
    """Whether statements set no pointer but by its name: they call nothing but functions of
    numbers, and store numbers alone, no bytes, where types tell objects apart."""
    return owner.strict and all(_keeps(x, owner, types) for x in inside)


def _keeps(x: c_ast.Node, owner: Owner, types: ExpressionTypes) -> bool:
    match x:
        case c_ast.FuncCall():
            name = x.name.name if isinstance(x.name, c_ast.ID) else ""
            return is_math(x) and name not in owner.own
        case c_ast.Goto() | c_ast.Label() | c_ast.Pragma():
            return False
    target = changed(x)
    return target is None or isinstance(target, c_ast.ID) or stores_number(target, types)
