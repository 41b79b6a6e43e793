"""Reduction factoring: for k: s += e(k)
  -> part[C]; forall kk: { own = 0; for k in chunk kk: own += e(k); part[kk/T] = own; }
     for c: s += part[c];

With `strided`, partial result c takes every C-th iteration from iteration c on, so that neighbours
among the parts read neighbouring elements:
    for k: s += e(k)  -> part[C]; forall k_t < C: { own = 0;
                           for (k = lo + k_t; k < hi; k += C) own += e(k); part[k_t] = own; } ...

A chunk of one iteration is the iteration itself:
    for i: for j: s += e  -> part[I]; forall i: { own = 0; for j: own += e; part[i] = own; } ...

Every chunk of T iterations reduces into a partial result of its own, which begins with the neutral
element of the operator; the partial results are combined in order. Legal where the loop carries
nothing but recognised reductions (+ * & | ^ && || min max) of scalars; sums and products of real
numbers need `reassociate` (`factoring` says more). Updates that are atomic already stay in the
chunks. An extremum is found in order, so that even
zeros keep their signs, and so is its place, of equal values the one that the loop finds: where the
last one counts (`<=`), and a chunk may find none (under another condition, or among NaNs), each
chunk says whether it did. In strided parts, whose operators must be commutative
too, an extremum that is found by comparison needs `reassociate`. Chunks begin with an infinity, or
with NaN for fmin and fmax, which is what they ignore. (Cholewa-Madsen and Holst, section 7.3.1;
"rfactor" of Halide and TVM.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, at
from loopxform.records import record
from loopxform.transforms.reductions.factoring import Factoring
from loopxform.transforms.reductions.strided import obstacles, strided
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.sites import no_wrap, parse_size


@record
class Rfactor(Factoring):
    """Reduces chunks of `size` iterations of `loop` at the same time, or `size` parts of it where
    that is to be `strided` (the word). `reassociate` (the word) allows floating-point sums and
    products to round differently, and strided ones zeros to change their signs."""

    strided: str = ""

    verb: ClassVar[str] = "rfactor"
    usage: ClassVar[str] = "rfactor LOOP SIZE [reassociate] [strided]"
    merged: ClassVar[Mapping[str, Mapping[str, str]]] = {"interleave": {"strided": "strided"}}
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate", "strided": "strided"}

    @property
    def in_order(self) -> bool:
        return not self.strided

    def unfit(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        if self.strided not in ("", "strided"):
            text = f"'{self.strided}' says nothing about the parts"
            return (Obstacle("LX025", text, site.loop.origin.loc, remedy=self.usage),)
        if self.strided:
            return obstacles(fn, site, self.size)
        return (*Stripmine(self.loop, self.size).check(fn), *no_wrap(fn, site))

    def parts(self, fn: Function, site: LoopSite) -> For:
        if self.strided:
            return strided(fn, site, self.size, site.loop.origin.then(str(self)))
        size = parse_size(fn, self.size)
        if not isinstance(size, Obstacle) and value_of(size) == 1:
            return site.loop
        chunk = outer_name(fn, site.loop.var)
        outer = at(Stripmine(self.loop, self.size, chunk).rewrite(fn), site.path)
        assert isinstance(outer, For)
        return outer
