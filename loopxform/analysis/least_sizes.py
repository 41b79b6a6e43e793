"""Sizes from which on arrays are touched, where loops of a few iterations may leave them alone.

    for (j = 0; j < n; j++) if (j != i) s += x[j];      touches x where n >= 2
    if (beta != 1) c[i] *= beta;
    for (k = 0; k < u; k++) c[i] += t * b[k];           touches c[i] for certain where u >= 1

    for (k = 0; k < u; k++) s += x[row[i]][k];          with float x[rows][u], where rows >= 1

The tile of an array that exists for larger sizes alone cannot be copied for the others, nor can the
host copy an array of which it is not known whether it is there. The written program asks the sizes,
and runs the user's loops for smaller ones: these have few iterations then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.analysis.domain import names_of
from loopxform.analysis.extent import Extent, NoExtent, certain_parts, explain
from loopxform.analysis.linear import Conj
from loopxform.analysis.region import region
from loopxform.analysis.sets import TooHard
from loopxform.analysis.subscripts_from_zero import with_subscripts_from_zero
from loopxform.analysis.system import eliminate
from loopxform.budget import Exhausted, part, within
from loopxform.ir.nodes import Bin, Const, Expr, Function, Param, Var
from loopxform.ir.visit import loops, names, writes

MOST = 8
"""Loops of fewer iterations are left to the host."""

SHARE = 1 / 16
"""Of the time that is left, for what is to be assumed of sizes."""


def with_assumptions(fn: Function, read: Function | None = None) -> Function:
    """The function under the assumptions that its arrays begin where subscripts are 0, and that
    sizes are not so small that it would leave arrays alone; `read` is it with loops on data as
    loops of the tree, where it has such."""
    read = read or fn
    fn = with_subscripts_from_zero(fn, read)
    read = replace(read, assumes=fn.assumes)
    with suppress(Exhausted, TooHard), within(part(SHARE)):
        for p in [p for p in fn.objects if _is_open(p) or _is_named_by_data(read, p)]:
            asked = tuple(e for e in _asked(read, p) if e not in fn.assumes)
            if asked:
                fn, read = (replace(x, assumes=(*x.assumes, *asked)) for x in (fn, read))
    return fn


def _is_open(p: Param) -> bool:
    """Whether nothing but its subscripts says what an array has."""
    return p.array and p.shape[0] is None and not (p.tests or p.values)


def _is_named_by_data(fn: Function, p: Param) -> bool:
    """Whether a matrix has rows of a number that no loop runs to. (Of elements there may be none:
    sparse rows that are empty.)"""
    bounds = frozenset(n for s in loops(fn) for e in (s.loop.lo, s.loop.hi) for n in names(e))
    match p.shape:
        case (Var(rows), _, *_):
            return p.array and rows not in bounds
        case _:
            return False


def _asked(fn: Function, p: Param) -> tuple[Expr, ...]:
    array, rows = p.name, Bin(">=", p.shape[0], Const(1)) if p.shape[0] is not None else None
    match explain(fn, array):
        case Extent(when=when) if when is not None:
            asked = tuple(e for e in _conjuncts(when) if _is_least(e, 2) or e == rows)
            if asked and not _touched(fn, array, when):
                return asked if _touched(_given(fn, asked), array, when) else ()
        case NoExtent():
            for e in _least_sizes(fn, array):
                if isinstance(explain(_given(fn, (e,)), array), Extent):
                    return (e,)
    return ()


def _given(fn: Function, asked: tuple[Expr, ...]) -> Function:
    return replace(fn, assumes=(*fn.assumes, *asked))


def _touched(fn: Function, array: str, when: Expr) -> bool:
    """Whether a condition holds wherever a loop runs that may read an array, which nothing sets."""
    if array in writes(fn.body):
        return True
    inside = (
        (*i.loops[-1].path, 0)
        for i in region(fn).instances
        if i.loops and any(a.storage.name == array for a in i.accesses)
    )
    return all(always(fn, path, when) for path in dict.fromkeys(inside))


def _conjuncts(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Bin) and e.op == "&&":
        yield from _conjuncts(e.left)
        yield from _conjuncts(e.right)
    else:
        yield e


def _is_least(e: Expr, least: int) -> bool:
    match e:
        case Bin(">=", Var(), Const(int(value))):
            return least <= value <= MOST
        case _:
            return False


def _least_sizes(fn: Function, array: str) -> list[Expr]:
    """The conditions `size >= number` under which an array is touched for certain somewhere."""
    own = {p.name for p in fn.objects if not p.array and p.type.is_integer} - writes(fn.body)
    scalars = names_of(fn).inputs & own
    found = (_lower_bounds(x, scalars) for x in certain_parts(fn, array))
    return list(dict.fromkeys(e for bounds in found for e in bounds if _is_least(e, 1)))


def _lower_bounds(conj: Conj, scalars: Iterable[str]) -> Iterator[Expr]:
    for c in eliminate(conj, frozenset(scalars)) or ():
        name = next((n for n in c.lin if n), "")
        if not c.eq and name and c.lin == {name: 1, "": c.lin.get("", 0)}:
            yield Bin(">=", Var(name), Const(-c.lin.get("", 0)))
