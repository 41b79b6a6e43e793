"""Rows of summed-area tables: x[i, j] = e + x[i - 1, j] + x[i, j - 1] - x[i - 1, j - 1].

The first row and the first column may do without what stands before them, by conditions:

    x[i, j] = e + (i > 0 ? x[i - 1, j] : 0) + (j > 0 ? x[i, j - 1] : 0) - (i > 0 && j > 0 ? ... : 0)

A condition is told apart from others by what it says of the first iteration of a loop, so that the
four cases (first row or not, first column or not) can be looked at one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from loopxform.ir.affine import poly, simplify
from loopxform.ir.nodes import Assign, Bin, Cast, Const, Expr, For, Load, Select, Un, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import loads, names, stmt_exprs, substitute, walk, writes
from loopxform.records import record
from loopxform.transforms.edges.first_iteration import decision, is_first

Term: TypeAlias = tuple[int, Expr]
Types: TypeAlias = dict[str, Scalar]
Decide: TypeAlias = Callable[[Expr], bool | None]

SIGNS = {"+": 1, "-": -1}


@record
class Table:
    """The store of a row of a summed-area table: the elements before it, above it, and above the
    former, what else is added, with signs, and the sums that say so. The loop over rows whose first
    iteration has no row above, if one is `topped`, and whether the first iteration of a row has no
    element before it."""

    store: Assign
    left: Load
    above: Load
    corner: Load
    terms: tuple[Term, ...]
    sums: tuple[Expr, ...]
    topped: For | None
    has_first: bool


def tables(loop: For, around: Sequence[For], types: Types) -> tuple[str, ...]:
    """The arrays of which a loop inside others computes a row of a summed-area table."""
    stored = (s.target for s in loop.body if isinstance(s, Assign))
    arrays = dict.fromkeys(t.array for t in stored if isinstance(t, Load))
    return tuple(a for a in arrays if table(loop, a, around, types) is not None)


def table(loop: For, array: str, around: Sequence[For], types: Types) -> Table | None:
    """What a loop inside others stores in an array, if that is a row of a summed-area table."""
    every = [s for _, s in walk(loop.body) if isinstance(s, Assign)]
    stores = [s for s in every if isinstance(s.target, Load) and s.target.array == array]
    if len(stores) != 1 or not any(s is stores[0] for s in loop.body):
        return None
    (store,) = stores
    inside = [e for _, s in walk(loop.body) for e in stmt_exprs(s)]
    used, own = (_count(array, e) for e in (inside, stmt_exprs(store)))
    if store.op or store.atomic or used != own:
        return None
    steady = (x for x in around if not (names(x.lo) | {x.var}) & writes(x.body))
    for rows in (None, *steady):
        for has_first in (False, True):
            found = _matched(loop, rows, store, types, has_first=has_first)
            if found is not None:
                return found
    return None


def _count(array: str, exprs: Sequence[Expr]) -> int:
    return sum(x.array == array for e in exprs for x in loads(e))


def _matched(
    loop: For, rows: For | None, store: Assign, types: Types, *, has_first: bool
) -> Table | None:
    """The table, if the first row of `rows` has none above, and the first iteration of a row no
    element before, where `has_first`."""
    assert isinstance(store.target, Load)
    array = store.target.array
    cases = dict[tuple[bool, bool], list[Term]]()
    for first_row in (False, True) if rows else (False,):
        for first in (False, True) if has_first else (False,):
            decide = _deciding(types, (loop if has_first else None, first), (rows, first_row))
            cases[first_row, first] = list(_terms(store.value, array, 1, decide))
    inner, *others = (_sorted(terms, array) for terms in cases.values())
    if any(x is None for x in (inner, *others)):
        return None
    assert inner is not None
    own, rest = inner
    corners = _corners(store.target, own, loop)
    if corners is None or not rest:
        return None
    left, above, corner = corners
    for (first_row, first), terms in list(cases.items())[1:]:
        wanted = [(1, left)] * (not first) + [(1, above)] * (not first_row)
        wanted += [(-1, corner)] * (not first and not first_row)
        found = _sorted(terms, array)
        if found is None or not _is_all(found[0], wanted) or Counter(found[1]) != Counter(rest):
            return None
    sums = tuple(_sums(store.value, array))
    return Table(store, left, above, corner, tuple(rest), sums, rows, has_first)


def _deciding(types: Types, *at: tuple[For | None, bool]) -> Decide:
    """What conditions are in the first iterations of loops, or in others; None of others."""

    def told(cond: Expr) -> bool | None:
        for loop, first in at:
            says = is_first(loop, cond, types) if loop is not None else None
            if says is not None:
                return says == first
        return None

    return partial(decision, known=told)


def _sorted(terms: Sequence[Term], array: str) -> tuple[list[tuple[int, Load]], list[Term]] | None:
    """Elements of the array, and other terms; None where some have both."""
    own = [(sign, e) for sign, e in terms if isinstance(e, Load) and e.array == array]
    rest = [(sign, e) for sign, e in terms if array not in names(e)]
    return (own, rest) if len(own) + len(rest) == len(terms) else None


def _corners(target: Load, own: Sequence[tuple[int, Load]], loop: For) -> tuple[Load, ...] | None:
    """The elements before, above, and above the former, if those found are these three."""
    previous: dict[str, Expr] = {loop.var: Bin("-", Var(loop.var), loop.step)}
    left = moved(target, previous)
    for above in (e for sign, e in own if sign == 1):
        corner = moved(above, previous)
        wanted = [(1, left), (1, above), (-1, corner)]
        if _in_another_row(above, target, loop.var) and _is_all(own, wanted):
            return left, above, corner
    return None


def _is_all(found: Sequence[tuple[int, Load]], wanted: Sequence[tuple[int, Load]]) -> bool:
    left = list(found)
    for sign, x in wanted:
        same = next((n for n, (s, y) in enumerate(left) if s == sign and _is_same(x, y)), None)
        if same is None:
            return False
        del left[same]
    return not left


def _terms(e: Expr, array: str, sign: int, decide: Decide) -> Iterator[Term]:
    """The terms of a sum, down to what has nothing of the array."""
    match e:
        case Bin("+" | "-" as op, left, right) if array in names(e):
            yield from _terms(left, array, sign, decide)
            yield from _terms(right, array, sign * SIGNS[op], decide)
        case Un("-", operand) if array in names(e):
            yield from _terms(operand, array, -sign, decide)
        case Cast(_, operand) if array in names(e):
            yield from _terms(operand, array, sign, decide)
        case Select(cond, then, orelse) if array in names(e) and decide(cond) is not None:
            yield from _terms(then if decide(cond) else orelse, array, sign, decide)
        case Const(0):
            pass
        case _:
            yield sign, e


def _sums(e: Expr, array: str) -> Iterator[Expr]:
    """The sums and conversions that have something of the array, and what they add up."""
    yield e
    match e:
        case Bin("+" | "-", left, right) if array in names(e):
            yield from _sums(left, array)
            yield from _sums(right, array)
        case Un("-", operand) | Cast(_, operand) if array in names(e):
            yield from _sums(operand, array)
        case Select(_, then, orelse) if array in names(e):
            yield from _sums(then, array)
            yield from _sums(orelse, array)


def moved(x: Load, values: dict[str, Expr]) -> Load:
    """An element with other values in its subscripts."""
    return Load(x.array, tuple(simplify(substitute(e, values)) for e in x.index))


def _is_same(x: Load, y: Load) -> bool:
    return all(poly(a) == poly(b) for a, b in zip(x.index, y.index))


def _in_another_row(x: Load, target: Load, var: str) -> bool:
    """Whether a subscript that stays the same while the loop runs tells two elements apart, and
    another one moves from iteration to iteration."""
    gaps = [
        (poly(a) - poly(b)).value
        for a, b in zip(x.index, target.index)
        if var not in names(a) | names(b)
    ]
    return any(gap not in (None, 0) for gap in gaps) and any(var in names(e) for e in target.index)
