"""Skewing: for i: for j in [lo, hi): S(i, j)
        -> for i: for j in [lo + f*i, hi + f*i): S(i, j - f*i).

Legal wherever the bounds do not change: the same iterations in the same order, under other numbers.
It turns a dependence of distance (1, -1) into (1, f - 1), so that the loops can be interchanged;
where every dependence is then carried by j, the loops that come to stand inside it are parallel: j
counts wave fronts. (Wolfe, "Loop skewing: the wavefront method revisited", 1986.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Function, Var
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, loops_around, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import replace_iterator
from loopxform.transforms.sites import (
    fixed_header,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)

LARGEST_FACTOR = 64
"""Sums of a few loop variables times factors stay far from the range of int where these do."""


@record
class Skew(Step):
    """Adds `factor` times the variable of a loop around it to the variable of `loop`."""

    loop: str
    over: str
    factor: str = "1"

    verb: ClassVar[str] = "skew"
    usage: ClassVar[str] = "skew LOOP OVER [FACTOR]   (OVER is a loop around it)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        return (
            *self._factor_obstacles(site),
            *whole_loop(site),
            *unmapped(site, "skew"),
            *fixed_header(site),
            *self._outer_obstacles(fn, site),
            *_unsigned(fn, site),
        )

    def _factor_obstacles(self, site: LoopSite) -> tuple[Obstacle, ...]:
        digits = self.factor.removeprefix("-")
        number = int(digits) if digits.isdecimal() and digits.isascii() else 0
        if 0 < number <= LARGEST_FACTOR:
            return ()
        text = f"'{self.factor}' is not a factor between -{LARGEST_FACTOR} and {LARGEST_FACTOR}"
        remedy = "a factor is an integer other than 0"
        return (Obstacle("LX023", text, site.loop.origin.loc, remedy=remedy),)

    def _outer_obstacles(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        """The variable of the loop around it must mean the same throughout."""
        around = [x for x in loops_around(fn, site.path) if x.var == self.over]
        if not around:
            text = f"'{site.loop.var}' is not inside a loop over '{self.over}'"
            return (Obstacle("LX110", text, site.loop.origin.loc, remedy="name a loop around it"),)
        if self.over in writes(site.loop.body):
            text = f"'{self.over}' changes in the loop over '{site.loop.var}'"
            return (Obstacle("LX112", text, site.loop.origin.loc, remedy="name another loop"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, wide = site.loop, promote(site.loop.type)
        shift = simplify(Bin("*", Const(int(self.factor)), Var(self.over)))
        value = simplify(Bin("-", Var(loop.var), shift))
        types = {**symbols(fn), loop.var: wide}
        value = value if type_of(value, types) == wide else Cast(wide, value)
        header = replace(
            loop,
            lo=_each(loop.lo, lambda e: simplify(Bin("+", e, shift))),
            hi=_each(loop.hi, lambda e: simplify(Bin("+", e, shift))),
            type=wide,
        )
        body = replace_iterator(loop.body, loop.var, value)
        new = replace(header, body=body, origin=loop.origin.then(str(self)))
        return replace_at(fn, site.path, (new,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same iterations in the same order, numbered differently"


def _each(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`change` of the operands of min and max, where `e` is one."""
    if isinstance(e, Bin) and e.op in ("min", "max"):
        return Bin(e.op, _each(e.left, change), _each(e.right, change))
    return change(e)


def _unsigned(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Differences of unsigned numbers would wrap around."""
    loop, types = site.loop, symbols(fn)
    around = {x.var: x.type for x in loops_around(fn, site.path)}
    header = [type_of(e, {**types, **around}) for e in (loop.lo, loop.hi)]
    if not any(promote(t).is_unsigned for t in (loop.type, *around.values(), *header)):
        return ()
    return (
        Obstacle(
            "LX136",
            f"the numbers of iterations of '{loop.var}' are unsigned and would wrap around",
            loop.origin.loc,
            remedy="use signed variables and bounds",
        ),
    )
