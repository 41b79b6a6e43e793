"""What recipes that stage tiles in local memory have in common: which boxes are staged, and why a
nest has none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import combinations
from typing import ClassVar

from loopxform.analysis.invariance import Read
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, Load
from loopxform.ir.visit import loads, stmt_exprs, walk
from loopxform.model.choice import Choice
from loopxform.model.footprint import linear
from loopxform.model.reuse import Dim, Facts, Stage
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import NO_REUSE, RARE, Mapped, Question, Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.tile_steps import mapped_tiles
from loopxform.schedule.params import KINDS, Options, Recipe
from loopxform.targets.target import Limits


class StagedTiles(ABC):
    """A recipe that stages boxes in local memory for the work-items along its tiled loops."""

    name: ClassVar[Recipe]
    unstaged: ClassVar[bool] = False
    """Whether it pays without a box, too."""
    windows: ClassVar[bool] = False
    """Whether a box has to move with the tiled loops."""
    in_block: ClassVar[bool] = False
    """Whether boxes of strips may move with the tiled loops."""
    rows: ClassVar[bool] = False
    """Whether a group stages the rows that each of its work-items walks along."""

    @abstractmethod
    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        """The tiled loops, outermost first, or why there are none."""

    def match(self, question: Question) -> Choice | str:
        dims = self.dims(question)
        return dims if isinstance(dims, str) else self._choice(question, dims)

    def _choice(self, question: Question, dims: tuple[Dim, ...]) -> Choice | str:
        """The choice that tiles these loops, or why there is none."""
        facts = question.facts
        stages = tuple(s for s in facts.stages(dims) if self._pays(s, dims, question))
        if not stages and not self.unstaged:
            return _nothing_staged(facts, dims)
        if self.windows and not any(_moves(s, dims) for s in stages):
            return RARE
        along = neighbours(facts, [d.loop for d in dims if d.items])
        return Choice(self.name, dims, along, stages, facts.reduced)

    def map(
        self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
    ) -> Mapped | Uncopied:
        return mapped_tiles(w, nest, choice, options, limits)

    def _pays(self, s: Stage, dims: tuple[Dim, ...], question: Question) -> bool:
        """Whether a group reads a box more than once, or in another order than it lies in
        memory."""
        asked, costs = question.asked, question.costs
        in_sum = any(r.loops for r in s.reads)
        if not s.box.widths or not (in_sum or len(s.uses) > 1):
            return False
        again = not asked and self.rows and _copied_again(s)
        if in_sum and s.shared:
            return not again
        worth = 1.5 if asked else costs.strip_reads if in_sum else costs.window_reads
        if _moves(s, dims) and s.reuse(KINDS[self.name].tiles.numbers) >= worth:
            return not s.tiled or self.in_block or asked
        x = next(d.loop for d in reversed(dims) if d.items)
        once = all(v in s.reads[0].varies for v in s.around)
        together = question.limits.warp > 1 and strided(s.reads, x)
        return s.tiled and once and not again and self.rows and together


def _moves(s: Stage, dims: tuple[Dim, ...]) -> bool:
    return any(d.loop in r.varies for d in dims for r in s.reads)


def _nothing_staged(facts: Facts, dims: tuple[Dim, ...]) -> str:
    """Why nothing is staged, of the first array that would be used again."""
    for r in facts.reduced:
        why = facts.obstacle(r, dims)
        if why and any(d.loop not in r.varies for d in dims):
            line = f" (line {r.load.origin.loc.line})" if r.load.origin.loc else ""
            return f"'{r.array}' cannot be staged{line}: {why}"
    return RARE if facts.stages(dims) else NO_REUSE


def _copied_again(s: Stage) -> bool:
    """Whether a loop around the tiled one moves the box: the inner one may be as short as it is
    long, and each of its tiles is waited for (k-means, windows of a size known at run time)."""
    index = [poly(i) for i in s.reads[0].index]
    return any(p.mentions(v) for p in index for v in s.around[:-1])


def neighbours(facts: Facts, among: list[str]) -> str:
    """The loop that the most accesses to global memory walk along, the innermost of equals."""
    score = dict.fromkeys(among, 0)
    for _, s in walk(facts.nest.innermost.body):
        found = [x for e in stmt_exprs(s) for x in loads(e)]
        if isinstance(s, Assign) and isinstance(s.target, Load):
            found.append(s.target)
        for x in found:
            for p in among:
                score[p] += linear(poly(x.index[-1]), p) in (1, -1)
    return max(among, key=lambda p: (score[p], among.index(p)))


def strided(reads: tuple[Read, ...], x: str) -> bool:
    """Whether neighbours along x read far apart what each of them reads in a row: `A[x, k]`."""
    return any(
        x in r.varies
        and not poly(r.index[-1]).mentions(x)
        and any(linear(poly(r.index[-1]), s.var) in (1, -1) for s in r.loops)
        for r in reads
        if len(r.index) > 1
    )


def pair(facts: Facts, *, asked: bool) -> tuple[str, ...]:
    """The innermost two parallel loops with reuse along both; the innermost two of all where the
    user asks for a pair."""
    loops = facts.nest.parallel
    found = next(((y, x) for y, x in _pairs(loops) if facts.mutual(y, x)), ())
    return found or (loops[-2:] if asked else ())


def pair_of_terms(facts: Facts) -> tuple[tuple[str, str], int] | None:
    """The innermost two parallel loops with reuse along both in sums over loops of few iterations,
    and how many terms these have."""
    found = ((p, facts.mutual_terms(*p)) for p in _pairs(facts.nest.parallel))
    return next((x for x in found if x[1]), None)


def _pairs(loops: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every two loops, outer and inner, the innermost first."""
    order = sorted(combinations(range(len(loops)), 2), key=lambda p: (p[1], p[0]), reverse=True)
    return [(loops[a], loops[b]) for a, b in order]


def one_parallel(question: Question) -> str:
    """Why there is no block of two loops, where only one is parallel; nothing where more are."""
    parallel = question.facts.nest.parallel
    if len(parallel) > 1:
        return ""
    return f"only the loop over '{parallel[0]}' is parallel: there is no block of two"


def block(question: Question) -> tuple[str, str] | str:
    """The two loops that a block is tiled along, or why there are none."""
    if reason := one_parallel(question):
        return reason
    if loops := pair(question.facts, asked=question.asked):
        return loops[0], loops[1]
    found = pair_of_terms(question.facts)
    return found[0] if found and found[1] >= question.costs.block_terms else NO_REUSE
