"""The largest number of iterations that a loop has among the iterations of the loops around it.

    for j < n: for k < j: ...      at most n - 1: k ends at j, which ends at n - 1

What cannot be bounded stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Var
from loopxform.transforms.edges.bounds import ends_of, least, trip_count


def most_iterations(loop: For, around: tuple[For, ...]) -> Expr:
    """An upper bound of the trip count of `loop`, which counts upwards, without the counters of
    the loops `around` it (outermost first) as far as these move its bounds in proportion."""
    gaps = (_largest(poly(end) - poly(loop.lo), around) for end in ends_of(loop))
    return trip_count(replace(loop, lo=Const(0), hi=least([to_expr(g) for g in gaps])))


def _largest(p: Poly, around: tuple[For, ...]) -> Poly:
    """A bound of `p` from above over the iterations of the loops `around`."""
    for loop in reversed(around):
        factor, rest = p.coefficient(loop.var), p.without(loop.var)
        c, step = factor.value, value_of(loop.step)
        if not c or not step or rest + factor * poly(Var(loop.var)) != p:
            continue
        end = _last(loop, step) if (c > 0) == (step > 0) else poly(loop.lo)
        p = p if end is None else rest + factor * end
    return p


def _last(loop: For, step: int) -> Poly | None:
    """A value that no iteration is beyond; None where several bounds end the loop."""
    return None if _several(loop.hi) else poly(loop.hi) - constant(1 if step > 0 else -1)


def _several(e: Expr) -> bool:
    return isinstance(e, Bin) and e.op in ("min", "max")
