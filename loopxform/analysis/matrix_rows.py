"""Matrices whose rows are found through pointers (`double **a`): the row length that a dense copy
needs, and the part of each row that a function touches.

    touched(a) = { (params, r, x) : an access a[r][x] }
    length     = max x + 1, over all rows
    part(r)    = from min x to max x in row r: both ends are in one array, so all between them is

The host copies these parts into a dense array and back. No part may be in memory that another
array, row or pointer to a row has, where one of the two is written: only a run can tell.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from loopxform.analysis import boxes, sets
from loopxform.analysis.domain import names_of
from loopxform.analysis.extent import Extent, NoExtent, explain, index_names
from loopxform.analysis.linear import conj_names, rename_conj
from loopxform.errors import UnsupportedC
from loopxform.ir.nodes import Expr, Function, Param
from loopxform.records import record

_HELP = "pass the matrix as one array: {type} {name}[n][m]"


@record
class RowPart:
    """The part of the row that `index` leads to: its first and last element, none where `when` does
    not hold; the counters run from 0 to below `ends`. All of it speaks of calls for which
    `touched` holds."""

    index: tuple[str, ...]
    ends: tuple[Expr, ...]
    first: Expr
    last: Expr
    when: Expr | None
    touched: Expr | None


def with_row_lengths(fn: Function) -> Function:
    """The function with dense arrays in place of pointers to rows. Raises UnsupportedC where it is
    not known how much of one is touched."""
    for p in fn.objects:
        if p.rows and p.array:
            row_part(fn, p)  # what the host cannot copy is no array
    lengths = {p.name: _extent(fn, p).upper for p in fn.objects if p.rows and p.array}

    def dense(p: Param) -> Param:
        return replace(p, shape=(None, *lengths[p.name][1:])) if p.name in lengths else p

    return replace(fn, params=tuple(map(dense, fn.params)), globals=tuple(map(dense, fn.globals)))


def row_part(fn: Function, p: Param) -> RowPart:
    """What a function touches of each row. Raises UnsupportedC."""
    extent = _extent(fn, p)
    names = index_names(len(p.shape))
    index = tuple(f"lx_row_{n}" for n in range(len(p.shape) - 1))
    counters = dict(zip(names, index))
    parts = tuple(rename_conj(c, lambda n: counters.get(n, n)) for c in extent.parts)
    known = names_of(fn).inputs
    scalars = {n for n in chain.from_iterable(map(conj_names, parts)) if n in known}
    params = (*index, *sorted(scalars))

    def question() -> RowPart:
        union = sets.build(parts, names[-1:], params)
        where = union.params()
        last = boxes.formula(union.dim_max(0), params, where)
        first = boxes.formula(union.dim_min(0), params, where)
        when = boxes.condition(where.coalesce(), params)
        return RowPart(index, extent.upper[:-1], first, last, when, extent.when)

    try:
        return sets.bounded(question)
    except (boxes.NoFormula, sets.TooHard) as e:
        raise _refusal(p, str(e)) from e


def _extent(fn: Function, p: Param) -> Extent:
    found = explain(fn, p.name)
    if isinstance(found, NoExtent):
        why = found.obstacle
        raise UnsupportedC(why.message, loc=why.loc or p.origin.loc, code="LX040", help=why.remedy)
    return found


def _refusal(p: Param, why: str) -> UnsupportedC:
    return UnsupportedC(
        f"which part of each row of '{p.name}' is touched cannot be told: {why}",
        loc=p.origin.loc,
        code="LX040",
        help=_HELP.format(type=p.type.c, name=p.name),
    )
