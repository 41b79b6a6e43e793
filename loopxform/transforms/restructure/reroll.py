"""Reroll: for (i = lo; i < hi; i += 4) { S(i); S(i+1); S(i+2); S(i+3); }
       -> for (i = lo; i < lo + 4*ceil((hi-lo)/4); i++) S(i).

The inverse of `unroll`, for loops that were unrolled by hand. Legal where the statements of the
body are those of consecutive iterations, one iteration after the other, and the body does not
change the bounds: the same statements run in the same order, and the variable ends with the same
value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, Function, Stmt, Var
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import (
    counted_without_overflow,
    least,
    operands,
    replace_iterator,
    trips_to,
)
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    one_loop,
    trusted,
    unmapped,
)


@record
class Reroll(Step):
    """Makes an iteration of `loop` of each repetition of the statements in its body."""

    loop: str

    verb: ClassVar[str] = "reroll"
    usage: ClassVar[str] = "reroll LOOP"
    keeps_order: ClassVar[bool] = True
    restores: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*unmapped(site, "reroll"), *ascending(site), *fixed_header(site))
        return structure or _repeated(site) or _countable(site) or no_wrap(fn, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, times = site.loop, repetitions(site.loop)
        stride = value_of(loop.step)
        assert stride is not None
        rolled = replace(
            loop,
            hi=least([_end(loop, end) for end in operands(loop.hi)]),
            step=Const(stride // times),
            body=_at(loop.body[: len(loop.body) // times], loop.var, 0),
            parallel=False,
            origin=loop.origin.then(str(self)),
        )
        return replace_at(fn, site.path, (rolled,))

    def reason(self, fn: Function) -> str:
        times = repetitions(trusted(one_loop(fn, self.loop)).loop)
        return f"the same statements in the same order: its body is {times} iterations"


def repetitions(loop: For) -> int:
    """Of how many consecutive iterations, one step apart, the body of a loop is; 1 where it is of
    one."""
    stride, length = value_of(loop.step) or 0, len(loop.body)
    if stride < 2 or any(isinstance(s, Decl) for s in loop.body):
        return 1
    for times in range(length, 1, -1):
        if length % times or stride % times:
            continue
        size, step = length // times, stride // times
        groups = (loop.body[n : n + size] for n in range(size, length, size))
        wanted = (_at(loop.body[:size], loop.var, n * step) for n in range(1, times))
        if all(_at(g, loop.var, 0) == w for g, w in zip(groups, wanted, strict=True)):
            return times
    return 1


def _at(body: tuple[Stmt, ...], var: str, later: int) -> tuple[Stmt, ...]:
    """The statements so much later, with subscripts in a form that compares."""
    return replace_iterator(body, var, simplify(Bin("+", Var(var), Const(later))))


def _end(loop: For, end: Expr) -> Expr:
    """Where the last iteration before `end` ends."""
    count = trips_to(loop, end)
    assert count is not None  # the step is a number
    return to_expr(poly(loop.lo) + poly(loop.step) * count)


def _repeated(site: LoopSite) -> tuple[Obstacle, ...]:
    if repetitions(site.loop) > 1:
        return ()
    text = f"the body of the loop over '{site.loop.var}' is not that of several iterations in order"
    remedy = "write the statements of one iteration after those of the iteration before"
    return (Obstacle("LX125", text, site.loop.origin.loc, remedy=remedy),)


def _countable(site: LoopSite) -> tuple[Obstacle, ...]:
    loop = site.loop
    if all(counted_without_overflow(loop, end) for end in operands(loop.hi)):
        return ()
    text = f"the number of iterations of '{loop.var}' might overflow"
    remedy = "begin the loop at 0"
    return (Obstacle("LX133", text, loop.origin.loc, remedy=remedy),)
