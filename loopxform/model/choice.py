"""Which loops are tiled and how: decided from invariance, never from the name of a pattern.

    reuse along two parallel loops           register   a tile of both in a group, and in an item
    reuse along one, coalesced on the other  one-sided  rows in registers, a column per work-item
    reuse along one                          1-d        the items of a group share what they read
    overlapping footprints                   stencil    a box with its halo (register: in a sum)
    none                                     naive      an iteration is a work-item
    few results, many terms, when asked for  reduce     a result is a group

(Seed 000, section 2.4; seed 003; seed 004.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from loopxform.analysis.invariance import Read
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, For, Load
from loopxform.ir.visit import loads, stmt_exprs, walk
from loopxform.model.footprint import linear
from loopxform.model.reuse import Dim, Facts, Stage
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.records import record
from loopxform.schedule.params import KINDS, NAMES, Recipe
from loopxform.targets.target import Costs

AUTOMATIC: tuple[Recipe, ...] = ("register", "one-sided", "stencil", "1-d")
"""What is tried, in this order, where the user names no recipe."""

ON_CPU: tuple[Recipe, ...] = ("register", "1-d")
"""The same where tiled C runs on a CPU: what a stencil or a strip reads again is in its caches."""

RARE = "the data is reused too rarely to be worth staging: caches serve it as well"
NO_REUSE = "no array is invariant to one of the parallel loops: tiling would reuse nothing"


@record
class Choice:
    """How a nest is tiled: `dims` are the tiled loops, outermost first; the work-items along
    `neighbours` touch neighbouring addresses."""

    recipe: Recipe
    dims: tuple[Dim, ...]
    neighbours: str
    stages: tuple[Stage, ...] = ()
    reads: tuple[Read, ...] = ()

    @property
    def unstaged(self) -> tuple[Read, ...]:
        """Reads of reductions from global memory that several elements of a work-item share."""
        staged = [r for s in self.stages for r in s.reads]
        kept = [d.loop for d in self.dims if d.kept]
        rest = (r for r in self.reads if not any(r is x for x in staged))
        return tuple(r for r in rest if any(v not in r.varies for v in kept))

    @property
    def strips(self) -> tuple[str, ...]:
        """The sequential loops that are tiled."""
        return tuple(dict.fromkeys(s.loop for s in self.stages if s.tiled))

    @property
    def opened(self) -> tuple[str, ...]:
        """The sequential loops that a group runs in step: down to those that are tiled."""
        chains = [s.around for s in self.stages]
        return tuple(dict.fromkeys(v for chain in chains for v in chain))

    def without(self, stage: Stage) -> Choice:
        """The choice with one box less staged."""
        return replace(self, stages=tuple(s for s in self.stages if s is not stage))

    def hardware(self, sizes: Mapping[str, int]) -> tuple[Dim, ...]:
        """The tiled loops along x, y and z of the hardware: x where neighbours touch neighbouring
        addresses. Some implementations (PoCL 3) run a work-item twice where only the first
        dimension is empty: a loop with one work-item is not x."""
        wide = [d for d in self.dims if d.items and sizes[d.items] > 1] or [*self.dims]
        first = next((d for d in wide if d.loop == self.neighbours), wide[-1])
        return (first, *(d for d in reversed(self.dims) if d is not first))

    @property
    def names(self) -> tuple[str, ...]:
        """The tile sizes in use, in the order of the command line."""
        if self.recipe == "naive":
            return ("Ty", "Tx")
        if self.recipe == "reduce":
            return ("Tx",)
        used = {f for d in self.dims for f in d.factors} | ({"Tk"} if self.strips else set())
        return tuple(n for n in NAMES if n in used)


def choices(
    nest: Nest,
    recipe: Recipe | None,
    costs: Costs,
    *,
    kept: bool,
    few: bool = False,
    automatic: tuple[Recipe, ...] = AUTOMATIC,
) -> tuple[list[Choice], str]:
    """What fits a nest, best first, and why the rest does not; of one recipe where the user names
    it, else of those in `automatic`. `kept` asks for several elements per work-item where that is a
    question (1-d), `few` says that a group may compute a single result, `costs` from how many reads
    on a window is staged."""
    facts = Facts(nest)
    found, reason = [], ""
    for name in (recipe,) if recipe else (*(("reduce",) if few else ()), *automatic):
        made = _choice(facts, name, costs, asked=recipe is not None, kept=kept)
        if isinstance(made, Choice):
            found.append(made)
        else:
            reason = RARE if RARE in (made, reason) else made
    return found, reason


def naive(nest: Nest, near: str = "") -> Choice:
    """One work-item for each iteration of the parallel loops, neighbours along `near` (the
    innermost where none is named)."""
    x = near or nest.parallel[-1]
    rows = [v for v in nest.parallel if v != x][-1:]
    return Choice("naive", tuple(Dim(v) for v in (*rows, x)), x)


def _choice(facts: Facts, recipe: Recipe, costs: Costs, *, asked: bool, kept: bool) -> Choice | str:
    """The choice of a recipe, or why it does not fit."""
    if recipe == "naive":
        return naive(facts.nest)
    if recipe == "reduce":
        return _reduce(facts, asked=asked)
    dims = _dims(facts, recipe, asked=asked, kept=kept)
    if isinstance(dims, str):
        return dims
    stages = tuple(s for s in facts.stages(dims) if _pays(recipe, s, dims, costs, asked=asked))
    if not stages and recipe != "one-sided":
        return _unstaged(facts, dims)
    if recipe == "stencil" and not any(_moves(s, dims) for s in stages):
        return RARE
    neighbours = _neighbours(facts, [d.loop for d in dims if d.items])
    return Choice(recipe, dims, neighbours, stages, facts.reduced)


def _moves(s: Stage, dims: tuple[Dim, ...]) -> bool:
    return any(d.loop in r.varies for d in dims for r in s.reads)


def _unstaged(facts: Facts, dims: tuple[Dim, ...]) -> str:
    """Why nothing is staged, of the first array that would be used again."""
    for r in facts.reduced:
        why = facts.obstacle(r, dims)
        if why and any(d.loop not in r.varies for d in dims):
            line = f" (line {r.load.origin.loc.line})" if r.load.origin.loc else ""
            return f"'{r.array}' cannot be staged{line}: {why}"
    return RARE if facts.stages(dims) else NO_REUSE


def _reduce(facts: Facts, *, asked: bool) -> Choice | str:
    """A group for each result: where there is one loop that reduces, and its neighbouring
    iterations read neighbours in memory, which the parallel loops' do not."""
    found = sequential(facts.nest.innermost.body)
    if len(found) != 1:
        return f"{len(found)} sequential loops inside the parallel ones, not one"
    if not asked and (_pair(facts, asked=False) or not _along(facts, found[0].var)):
        return "work-items along the parallel loops read neighbours, or the same"
    return Choice("reduce", (), found[0].var)


def _along(facts: Facts, k: str) -> bool:
    """Whether more reads of the reduction walk along k than along any parallel loop, or none does
    along one of these."""
    last = [poly(r.load.index[-1]) for r in facts.reduced]
    score = {v: sum(linear(p, v) in (1, -1) for p in last) for v in (k, *facts.nest.parallel)}
    mine, others = score.pop(k), max(score.values())
    return mine > others or not others


def _dims(facts: Facts, recipe: Recipe, *, asked: bool, kept: bool) -> tuple[Dim, ...] | str:
    """The tiled loops of a recipe, or why it does not fit."""
    parallel = facts.nest.parallel
    if recipe in ("register", "block", "one-sided") and len(parallel) < 2:
        return f"only the loop over '{parallel[0]}' is parallel: there is no block of two"
    if recipe in ("register", "block"):
        pair = _pair(facts, asked=asked)
        if not pair:
            return NO_REUSE
        y, x = pair
        return (Dim(y, "Ty"), Dim(x, "Tx")) if recipe == "block" else _register(y, x)
    x = _neighbours(facts, list(parallel))
    if recipe == "one-sided":
        rows = [p for p in parallel if p != x and (asked or _varied(facts, p, x))]
        return (Dim(rows[-1], "", "Ry"), Dim(x, "Tx")) if rows else NO_REUSE
    if recipe == "stencil":
        windows = _windows(facts, 3) or (parallel[-2:] if asked else ())
        return _halos(facts, windows) if windows else "no footprints overlap"
    along = [p for p in parallel if _shared_along(facts, p)]
    if not along and not asked:
        return NO_REUSE
    best = x if x in along or not along else along[-1]
    return (Dim(best, "Tx", "Rx" if kept else ""),)


def _halos(facts: Facts, loops: tuple[str, ...]) -> tuple[Dim, ...]:
    """Work-items along each loop; in sums over windows each of them takes a strip of rows."""
    names = ("Tz", "Ty", "Tx")[-len(loops) :]
    dims = tuple(map(Dim, loops, names))
    if len(dims) == 2 and any(isinstance(s, For) for s in facts.nest.innermost.body):
        return (replace(dims[0], kept="Ry"), dims[1])
    return dims


def _shared_along(facts: Facts, p: str) -> bool:
    """Whether work-items along a loop have use for what they stage together."""
    return bool(facts.invariant(p) or strided(facts.reduced, p))


def _register(y: str, x: str) -> tuple[Dim, ...]:
    return (Dim(y, "Ty", "Ry"), Dim(x, "Tx", "Rx"))


def _pair(facts: Facts, *, asked: bool) -> tuple[str, ...]:
    """The innermost two parallel loops with reuse along both; the innermost two of all where the
    user asks for a pair."""
    loops = facts.nest.parallel
    order = sorted(combinations(range(len(loops)), 2), key=lambda p: (p[1], p[0]), reverse=True)
    for a, b in order:
        if facts.mutual(loops[a], loops[b]):
            return loops[a], loops[b]
    return loops[-2:] if asked else ()


def _windows(facts: Facts, most: int) -> tuple[str, ...]:
    """The innermost parallel loops along which footprints overlap; the innermost of all goes with
    them."""
    parallel = facts.nest.parallel
    found = [p for p in parallel if facts.window(p)]
    if found and parallel[-1] not in found:
        found.append(parallel[-1])
    return tuple(found[-most:])


def _varied(facts: Facts, y: str, x: str) -> bool:
    """Whether a read of a reduction is invariant to y and varies with x."""
    return any(x in r.varies for r in facts.invariant(y))


def _neighbours(facts: Facts, among: list[str]) -> str:
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
        and not poly(r.load.index[-1]).mentions(x)
        and any(linear(poly(r.load.index[-1]), s.var) in (1, -1) for s in r.loops)
        for r in reads
        if len(r.load.index) > 1
    )


def _pays(recipe: Recipe, s: Stage, dims: tuple[Dim, ...], costs: Costs, *, asked: bool) -> bool:
    """Whether a group reads a box more than once, or in another order than it lies in memory."""
    in_sum = any(r.loops for r in s.reads)
    if not s.box.widths or not (in_sum or len(s.uses) > 1):
        return False
    again = not asked and recipe == "1-d" and _copied_again(s)
    if in_sum and s.shared:
        return not again
    worth = 1.5 if asked else costs.strip_reads if in_sum else costs.window_reads
    if _moves(s, dims) and s.reuse(KINDS[recipe].tiles.numbers) >= worth:
        return not s.tiled or recipe in ("register", "block") or asked
    x = next(d.loop for d in reversed(dims) if d.items)
    once = all(v in s.reads[0].varies for v in s.around)
    return s.tiled and once and not again and strided(s.reads, x) and recipe == "1-d"


def _copied_again(s: Stage) -> bool:
    """Whether a loop around the tiled one moves the box: the inner one may be as short as it is
    long, and each of its tiles is waited for (k-means, windows of a size known at run time)."""
    index = [poly(i) for i in s.reads[0].load.index]
    return any(p.mentions(v) for p in index for v in s.around[:-1])
