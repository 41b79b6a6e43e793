"""Matrices that pointers lead to, and of which the host finds out where they end."""

from __future__ import annotations

from functools import reduce

from loopxform.ir.nodes import Bin, Const, Expr, Function, Var
from loopxform.records import record


@record
class ToldEnd:
    """The exclusive upper bounds of the subscripts, the condition under which the array is touched
    at all, and subscripts of its last element, where its last row may not be whole."""

    upper: tuple[Expr, ...]
    when: Expr
    last: tuple[Expr, ...] | None


def told_end(fn: Function, array: str) -> ToldEnd | None:
    """What a parameter says that holds the number of elements (`Param.ends`), of a matrix that is
    declared in rows the number of these; None where there is none, or no rows."""
    ends = [p.name for p in fn.objects if p.ends == array]
    shape = next(p.shape for p in fn.objects if p.name == array) if ends else ()
    rest = tuple(d for d in shape[1:] if d is not None)
    if not rest:
        return None
    end = Var(ends[0])
    if shape[0] == end:
        sizes = (end, *(d for d in rest if not isinstance(d, Const)))
        there = [Bin(">=", d, Const(1)) for d in sizes]
        return ToldEnd((end, *rest), reduce(lambda a, b: Bin("&&", a, b), there), None)
    last = Bin("-", end, Const(1))
    length = reduce(lambda a, b: Bin("*", a, b), rest)
    # Rows may have no element where the guards, which are asked later, keep the loops on the host.
    rows = Bin("+", Bin("/", last, Bin("max", length, Const(1))), Const(1))
    begin = (Const(0),) * len(rest)
    return ToldEnd((rows, *rest), Bin(">=", end, Const(1)), (*begin, last))
