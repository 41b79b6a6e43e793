"""Normalise: for (i = lo; i < hi; i += s) S(i)
          -> for (i = 0; i < ceil((hi-lo)/s); i++) S(lo + i*s).

Always legal: the iterations are renumbered. Where one operand of the bound gives a fixed number of
iterations (`min(M, ii + Ry)` from ii: Ry), the others become a guard in the body (`ii + i < M`),
so that the loop can be unrolled. (Seed 000, step 5b, listing 9.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Stmt, Var
from loopxform.transforms.base import Step, rewrite_loops, some_loops, whole_loop
from loopxform.transforms.bounds import (
    fixed_trips,
    guarded,
    least,
    operands,
    replace_iterator,
    trips_to,
)


@dataclass(frozen=True)
class Normalise(Step):
    """Makes a loop start at 0 and count by 1. `guard` places the bounds check: "body" directly
    inside the loop, "innermost" inside the loops perfectly nested in it."""

    loop: str
    guard: str = "body"

    verb: ClassVar[str] = "normalise"
    usage: ClassVar[str] = "normalise LOOP [body|innermost]   (LOOP* for every loop of that name)"

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
        return tuple(o for s in sites for o in (*whole_loop(s), *_countable(s.loop)))

    def rewrite(self, fn: Function) -> Function:
        return rewrite_loops(fn, self.loop, self._normal)

    def _normal(self, loop: For) -> For:
        value = simplify(Bin("+", loop.lo, Bin("*", Var(loop.var), loop.step)))
        count, cuts = _count(loop)
        compare = "<" if _ascends(loop) else ">"
        conditions: list[Expr] = [Bin(compare, value, cut) for cut in cuts]
        body = replace_iterator(loop.body, loop.var, value)
        body = _sink(conditions, body) if self.guard == "innermost" else guarded(conditions, body)
        origin = loop.origin.then(str(self))
        return replace(loop, lo=Const(0), hi=count, step=Const(1), body=body, origin=origin)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same iterations, numbered from 0"


def _ascends(loop: For) -> bool:
    return (value_of(loop.step) or 1) > 0


def _count(loop: For) -> tuple[Expr, list[Expr]]:
    """The new trip count and the bounds that become guards."""
    fixed = fixed_trips(loop)
    if fixed is not None:
        return to_expr(fixed[0]), fixed[1]
    counts = [trips_to(loop, end) for end in operands(loop.hi)]
    return least([to_expr(c) for c in counts if c is not None]), []


def _countable(loop: For) -> tuple[Obstacle, ...]:
    if all(trips_to(loop, end) is not None for end in operands(loop.hi)):
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
    """The guard goes inside loops that fill the body and whose bounds stay the same."""
    if conditions and len(body) == 1 and isinstance(body[0], For):
        return (replace(body[0], body=_sink(conditions, body[0].body)),)
    return guarded(conditions, body)
