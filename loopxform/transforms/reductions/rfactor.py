"""Reduction factoring: for k: s += e(k)
  -> part[C]; forall kk: { own = 0; for k in chunk kk: own += e(k); part[kk/T] = own; }
     for c: s += part[c];

A chunk of one iteration is the iteration itself:
    for i: for j: s += e  -> part[I]; forall i: { own = 0; for j: own += e; part[i] = own; } ...

Every chunk of T iterations reduces into a partial result of its own, which begins with the neutral
element of the operator; the partial results are combined in order. Legal where the loop carries
nothing but recognised reductions (+ * & | ^ && || min max) of scalars; sums and products of real
numbers need `reassociate` (`factoring` says more). An extremum is found in order, so that even
zeros keep their signs; chunks begin with an infinity, or with NaN for fmin and fmax, which is what
they ignore. (Seed 000, section 7.3.1; "rfactor" of Halide and TVM.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, at
from loopxform.records import record
from loopxform.transforms.reductions.factoring import Factoring
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.sites import no_wrap, parse_size


@record
class Rfactor(Factoring):
    """Reduces chunks of `size` iterations of `loop` at the same time. `reassociate` (the word)
    allows floating-point sums and products to round differently."""

    verb: ClassVar[str] = "rfactor"
    usage: ClassVar[str] = "rfactor LOOP SIZE [reassociate]"
    in_order: ClassVar[bool] = True

    def unfit(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        return (*Stripmine(self.loop, self.size).check(fn), *no_wrap(fn, site))

    def parts(self, fn: Function, site: LoopSite) -> For:
        size = parse_size(fn, self.size)
        if not isinstance(size, Obstacle) and value_of(size) == 1:
            return site.loop
        chunk = outer_name(fn, site.loop.var)
        outer = at(Stripmine(self.loop, self.size, chunk).rewrite(fn), site.path)
        assert isinstance(outer, For)
        return outer
