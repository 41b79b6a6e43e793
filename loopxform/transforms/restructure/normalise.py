"""Normalise: for (i = lo; i < hi; i += s) S(i)
          -> for (i = 0; i < ceil((hi-lo)/s); i++) S(lo + i*s).

Legal where the body does not change the bounds: the iterations are renumbered. Where one operand of
the bound gives a fixed number of iterations (`min(M, ii + Ry)` from ii: Ry), the others become a
guard in the body (`ii + i < M`), so that the loop can be unrolled. (Cholewa-Madsen and Holst, step
5b, listing 9.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Stmt, Var
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import (
    ends_of,
    fixed_trips,
    guarded,
    iteration_value,
    least,
    replace_iterator,
    trips_to,
)
from loopxform.transforms.restructure.guards import enters_unseen
from loopxform.transforms.sites import (
    fixed_header,
    for_each,
    no_wrap,
    rewrite_loops,
    some_loops,
    unmapped,
    whole_loop,
)


@record
class Normalise(Step):
    """Makes a loop start at 0 and count by 1. `guard` places the bounds check: "body" directly
    inside the loop, "innermost" inside the loops perfectly nested in it whose bounds may be
    computed for any value of the variable."""

    loop: str
    guard: str = "body"

    verb: ClassVar[str] = "normalise"
    usage: ClassVar[str] = "normalise LOOP [body|innermost]   (LOOP* for every loop of that name)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        if self.guard not in ("body", "innermost"):
            return (
                Obstacle(
                    "LX025",
                    f"'{self.guard}' is not a place for the bounds check",
                    sites[0].loop.origin.loc,
                    remedy="use body or innermost",
                ),
            )
        return for_each(sites, lambda s: _obstacles(fn, s))

    def rewrite(self, fn: Function) -> Function:
        types = symbols(fn)
        return rewrite_loops(fn, self.loop, lambda loop: self._normal(loop, types))

    def _normal(self, loop: For, types: dict[str, Scalar]) -> For:
        wide = promote(loop.type)
        types = {**types, loop.var: wide}
        value = iteration_value(loop, Var(loop.var), types)
        count, cuts = _count(loop)
        compare = "<" if _ascends(loop) else ">"
        conditions: list[Expr] = [Bin(compare, value, cut) for cut in cuts]
        body = replace_iterator(loop.body, loop.var, value)
        body = _sink(conditions, body) if self.guard == "innermost" else guarded(conditions, body)
        origin = loop.origin.then(str(self))
        header = replace(loop, lo=Const(0), hi=count, step=Const(1), type=wide)
        return replace(header, body=body, origin=origin)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same iterations, numbered from 0"


def _ascends(loop: For) -> bool:
    return (value_of(loop.step) or 1) > 0


def _count(loop: For) -> tuple[Expr, list[Expr]]:
    """The new trip count and the bounds that become guards."""
    fixed = fixed_trips(loop)
    if fixed is not None:
        return to_expr(fixed[0]), fixed[1]
    counts = [trips_to(loop, end) for end in ends_of(loop)]
    return least([to_expr(c) for c in counts if c is not None]), []


def _obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    structure = (*whole_loop(site), *fixed_header(site), *unmapped(site, "normalise"))
    if structure or fixed_trips(site.loop) is not None:
        return structure
    return _countable(site.loop) or no_wrap(fn, site)


def _countable(loop: For) -> tuple[Obstacle, ...]:
    if all(trips_to(loop, end) is not None for end in ends_of(loop)):
        return ()
    return (
        Obstacle(
            "LX133",
            f"the number of iterations of '{loop.var}' cannot be written down",
            loop.origin.loc,
            remedy="write the loop with a constant step",
        ),
    )


def _sink(conditions: list[Expr], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The guard goes inside loops that fill the body, if they may be entered without it."""
    if conditions and len(body) == 1 and isinstance(body[0], For) and enters_unseen(body[0]):
        return (replace(body[0], body=_sink(conditions, body[0].body)),)
    return guarded(conditions, body)
