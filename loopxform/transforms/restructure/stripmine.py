"""Stripmine: for (i = lo; i < hi; i += s) S
          -> for (ii = lo; ii < hi; ii += T*s) for (i = ii; i < min(hi, ii + T*s); i += s) S.

Legal where the body does not change the bounds: the iterations and their order stay the same. Both
loops of a forall are foralls. An operand of the inner bound that is proven never to be the least is
left out, so that a second stripmining by a divisor of the first needs no further bound.
(Cholewa-Madsen and Holst, step 1, listing 3.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import Bin, Expr, For, Function, Var
from loopxform.ir.types import promote
from loopxform.ir.visit import replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import least, operands
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    new_name,
    one_loop,
    parse_size,
    trusted,
    unmapped,
    whole_loop,
)


@record
class Stripmine(Step):
    """Splits a loop into tiles of `size` iterations; `outer` names the loop over tiles
    (default: i becomes ii)."""

    loop: str
    size: str
    outer: str = ""

    verb: ClassVar[str] = "stripmine"
    usage: ClassVar[str] = "stripmine LOOP SIZE [OUTER-NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        size = parse_size(fn, self.size)
        if isinstance(size, Obstacle):
            return (replace(size, loc=site.loop.origin.loc),)
        return (
            *whole_loop(site),
            *ascending(site),
            *fixed_header(site),
            *new_name(fn, self.outer, site),
            *unmapped(site, "stripmine"),
            *_in_range(site.loop, size),
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        size = parse_size(fn, self.size)
        assert not isinstance(size, Obstacle)
        outer_var = self.outer or outer_name(fn, loop.var)
        stride = simplify(Bin("*", size, loop.step))
        end = simplify(Bin("+", Var(outer_var), stride))
        origin = loop.origin.then(str(self))
        inner = replace(loop, lo=Var(outer_var), hi=end, origin=origin)
        outer = replace(
            loop, var=outer_var, step=stride, body=(inner,), type=promote(loop.type), origin=origin
        )
        tiled = replace_at(fn, site.path, (outer,))
        inside = (*site.path, 0)
        needed = [o for o in operands(loop.hi) if not always(tiled, inside, Bin("<=", end, o))]
        bound = least([*needed, end])
        return replace_at(tiled, inside, (replace(inner, hi=bound),))

    def reason(self, fn: Function) -> str:
        kind = "parallel" if trusted(one_loop(fn, self.loop)).loop.parallel else "sequential"
        return f"the same iterations in the same order, in tiles; both loops stay {kind}"


def _in_range(loop: For, size: Expr) -> tuple[Obstacle, ...]:
    """The end of a tile must be a value of the loop variable's type, where the bound is known."""
    end, wide = value_of(loop.hi), promote(loop.type)
    bits = 8 * wide.bytes - (0 if wide.is_unsigned else 1)
    stride = value_of(Bin("*", size, loop.step)) or 0
    if end is None or end + stride < 1 << bits:
        return ()
    return (
        Obstacle(
            "LX137",
            f"the last tile of '{loop.var}' would end beyond the largest {wide}",
            loop.origin.loc,
            remedy="use a wider type for the loop variable",
        ),
    )
