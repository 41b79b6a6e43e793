"""Perfectly nested parallel loops as one, where their iterations have arrays that only fit the
device for as many groups as run at the same time:

    forall b < m: forall i < n: { t[k]; ... }  ->  forall bi < m*n: { t[k]; ... }

One loop can be dealt out to these groups. (Polychronopoulos, "Loop coalescing", 1987.)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import LoopSite, perfect_nest
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.transforms import Assume, Coalesce, Derivation


def is_open(d: Decl) -> bool:
    """Whether an array's extents are not all numbers."""
    return bool(d.shape) and any(value_of(e) is None for e in d.shape)


def countable(fn: Function, site: LoopSite) -> tuple[Assume, ...]:
    """What must be assumed so that the outermost loop at `site`, and those perfectly nested in it,
    can become one; nothing where iterations have no arrays without fixed sizes."""
    inner = perfect_nest(site.loop)[-1]
    if inner is site.loop or not any(isinstance(s, Decl) and is_open(s) for s in inner.body):
        return ()
    w, asked = Work(Derivation(fn), {}), list[Assume]()
    for step in _steps(perfect_nest(site.loop)):
        for e in step.open_questions(w.fn):
            assume = Assume(condition_text(e))
            asked += [assume] if w.attempt(assume) else []
        if not w.attempt(step):
            return ()
    return tuple(asked)


def coalesced(nest: Nest) -> Nest | None:
    """A nest with one loop in place of its parallel ones, where that is legal, and these are
    several."""
    w = Work(nest.derivation.titled("One loop of several"), {})
    steps = _steps(perfect_nest(nest.outermost)[: len(nest.parallel)])
    if not steps or not w.attempt(*steps):
        return None
    return replace(nest, parallel=(steps[-1].name,)).of(w.derivation)


def _steps(chain: tuple[For, ...]) -> tuple[Coalesce, ...]:
    """Each makes one of the outermost loop and the next one."""
    loops = [x.var for x in chain]
    whole = ["_".join(loops[: n + 1]) for n in range(len(loops))]
    return tuple(Coalesce(whole[n], loops[n + 1], whole[n + 1]) for n in range(len(loops) - 1))
