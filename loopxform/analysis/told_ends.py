"""Matrices that pointers lead to, and of which the host finds out which element is the last."""

from __future__ import annotations

from functools import reduce

from loopxform.ir.nodes import Bin, Const, Expr, Function, Var
from loopxform.records import record


@record
class ToldEnd:
    """The exclusive upper bounds of the subscripts, the condition under which the array is touched
    at all, and subscripts of its last element."""

    upper: tuple[Expr, ...]
    when: Expr
    last: tuple[Expr, ...]


def told_end(fn: Function, array: str) -> ToldEnd | None:
    """What a parameter says that holds the number of elements (`Param.ends`); None where there is
    none, or no rows."""
    ends = [p.name for p in fn.objects if p.ends == array]
    shape = next(p.shape for p in fn.objects if p.name == array) if ends else ()
    rest = tuple(d for d in shape[1:] if d is not None)
    if not rest:
        return None
    end = Var(ends[0])
    last = Bin("-", end, Const(1))
    length = reduce(lambda a, b: Bin("*", a, b), rest)
    # Rows may have no element where the guards, which are asked later, keep the loops on the host.
    rows = Bin("+", Bin("/", last, Bin("max", length, Const(1))), Const(1))
    begin = (Const(0),) * len(rest)
    return ToldEnd((rows, *rest), Bin(">=", end, Const(1)), (*begin, last))
