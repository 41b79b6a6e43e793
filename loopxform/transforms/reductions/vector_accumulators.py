"""Partial results in the lanes of vectors: for k: s += e(k)
  -> part[L];  for l < L: part[l] = 0
     for k_v < trips/L: for l < L: part[l] += e(lo + L*k_v + l)
     for (k = lo + trips/L*L; k < hi; k++) part[0] += e(k)
     for c < L: s += part[c]

Lane l takes every L-th iteration from iteration l on, as far as there are L at a time. The loop
over lanes is innermost: a compiler for a CPU has the lanes in vectors, whose additions do not wait
for one another. The first lane takes what is left over, one after the other. Legal where
`rfactor LOOP L strided` is, but for places of extrema, where the number of iterations can be
computed. (Cholewa-Madsen and Holst, section 7.3.1; vector accumulators as in Allen and Kennedy,
"Optimizing compilers for modern architectures", section 5.3.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import constant, poly, simplify
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.edges.bounds import iteration_value, replace_iterator, trip_count
from loopxform.transforms.reductions.factoring import (
    Factoring,
    Part,
    combining,
    left_reductions,
    part_of,
)
from loopxform.transforms.reductions.partial import PLACES
from loopxform.transforms.reductions.strided import not_dealt_out, strided
from loopxform.transforms.sites import one_loop, parse_size, trusted


@record
class VectorAccumulators(Factoring):
    """Reduces `loop` in `size` lanes. `reassociate` (the word) allows floating-point sums and
    products to round differently, and zeros to change their signs."""

    verb: ClassVar[str] = "vector-accumulators"
    usage: ClassVar[str] = "vector-accumulators LOOP LANES [reassociate]"

    @property
    def in_order(self) -> bool:
        return False

    def unfit(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        return (
            *not_dealt_out(fn, site, self.size, "reduce"),
            *_counted(fn, site),
            *_places(fn, site),
        )

    def parts(self, fn: Function, site: LoopSite) -> For:
        return strided(fn, site, self.size, site.loop.origin.then(str(self)))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        lanes = parse_size(fn, self.size)
        assert not isinstance(lanes, Obstacle)
        lane, kind = fresh(fn, f"{loop.var}_l"), promote(loop.type)
        every = For(lane, Const(0), lanes, Const(1), (), type=kind, origin=origin)
        parts = [part_of(fn, r, every, {}) for r in left_reductions(fn, site.path)]
        whole = simplify(Bin("/", trip_count(_not_backwards(fn, site)), lanes))
        steps = fresh(fn, f"{loop.var}_v")
        number = simplify(Bin("+", Bin("*", Var(steps), lanes), Var(lane)))
        types = {**symbols(fn), steps: kind, lane: kind}
        body = replace_iterator(loop.body, loop.var, iteration_value(loop, number, types))
        body = _of_lane(parts, Var(lane), rename(body, _own(parts)))
        inner = replace(every, body=body)
        main = For(steps, Const(0), whole, Const(1), (inner,), type=kind, origin=origin)
        begins = (Assign(p.part(Var(lane)), p.begin, label=f"begin_{p.array}") for p in parts)
        taken = Bin("*", Bin("*", whole, lanes), loop.step)
        begin = simplify(Bin("+", loop.lo, taken))
        first = [replace(p, own=fresh(fn, f"{p.name}_rest")) for p in parts]
        rest = replace(loop, lo=begin, body=rename(loop.body, _own(first)), origin=origin)
        made: tuple[Stmt, ...] = (
            *(Decl(p.array, p.type, (lanes,), origin=origin) for p in parts),
            replace(every, body=tuple(begins)),
            main,
            *_of_lane(first, Const(0), (rest,)),
            *combining(fn, loop, every, parts, {}, {}),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:
        return f"{super().reason(fn)}; lanes take what comes {self.size} at a time"


def _own(parts: Sequence[Part]) -> dict[str, str]:
    """The names of partial results by those of the scalars that are reduced."""
    return {p.name: p.own for p in parts}


def _of_lane(parts: Sequence[Part], lane: Expr, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """What updates the partial results of a lane."""
    declared = (Decl(p.own, p.type) for p in parts)
    taken = (Assign(Var(p.own), p.part(lane), label=f"take_{p.own}") for p in parts)
    stored = (Assign(p.part(lane), Var(p.own), label=f"store_{p.own}") for p in parts)
    return (*declared, *taken, *body, *stored)


def _not_backwards(fn: Function, site: LoopSite) -> For:
    """The loop to an end that does not lie before its beginning: the difference may overflow
    else."""
    loop = site.loop
    if poly(loop.lo) == constant(0) or always(fn, site.path, Bin("<=", loop.lo, loop.hi)):
        return loop
    return replace(loop, hi=Bin("max", loop.hi, loop.lo))


def _counted(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """The number of iterations must be a value of the loop variable's type."""
    loop, zero = site.loop, Const(0)
    from_zero = always(fn, site.path, Bin("<=", zero, loop.lo))
    if promote(loop.type).is_unsigned:
        from_zero = always(fn, site.path, Bin("<=", loop.lo, loop.hi))
    if poly(loop.lo) == constant(0) or from_zero:
        return ()
    text = f"the number of iterations of '{loop.var}' may be beyond its type"
    return (Obstacle("LX137", text, loop.origin.loc, remedy="start the loop at 0"),)


def _places(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Places of extrema would need the order of the lanes."""
    for r in left_reductions(fn, site.path):
        if r.op in PLACES:
            text = f"'{r.var}' is the place of an extremum"
            return (Obstacle("LX192", text, r.loc, remedy="rfactor LOOP SIZE"),)
    return ()
