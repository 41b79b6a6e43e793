"""Versions of a nest with parallelism inside parallelism: of its results, and of the terms that
each of them sums up.

    forall i < n: { s = 0; for k < m: s += e; y[i] = s; }
      n >= suff_outer_par_0         items    a work-item computes a result, in order
      m < suff_intra_par_1          items
        n >= suff_group_par_2       groups   a group computes a result, its work-items parts of it
          m >= suff_inner_par_3     chunks   several groups compute a result, a second kernel
                                             combines what they found
          else                      groups

The guards of the versions are these comparisons, each version's with all above it, so that they are
a tree. Thresholds say how much parallelism is enough; their defaults are what fills the device
(`model.saturation`). (Seed 001, sections 2.4 and 2.5: `items` is V0 of incremental flattening,
`groups` V1, `chunks` what is flattened further.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import count

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If, Select, Tile
from loopxform.ir.types import INT_MAX
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, names, perfect_nest, stmt_exprs, walk, walk_expr, writes
from loopxform.model.coalescing import Estimate
from loopxform.model.cost import Cost, cost, microseconds
from loopxform.model.saturation import busy_items, filling_groups, filling_items
from loopxform.prepare.parallel_band import Nest, sequential, with_guards_inside
from loopxform.recipes.chunks import in_chunks
from loopxform.recipes.registry import choices
from loopxform.recipes.tile_nest import Tiled, one_nest
from loopxform.records import record
from loopxform.schedule.params import KINDS, Options
from loopxform.targets.target import Limits
from loopxform.transforms import Dispatch, Rfactor, Variant, possible, thresholds_of
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.sites import ascending

LAZY = ("&&", "||")
REFUSALS = (TransformError, LimitError, UnsupportedC)


@record
class Version:
    """A way to map the nest, and when it is taken: all of the comparisons hold. `cost` is what the
    model says of it, for sizes of 1024 where they are not known."""

    label: str
    about: str
    tiled: Tiled
    guard: tuple[Bin, ...] = ()
    cost: str = ""


@record
class Parallelism:
    """How many results a nest has, and how many terms each of them sums up (None: the host cannot
    tell)."""

    results: Expr
    terms: Expr | None


def in_versions(
    nest: Nest, plain: Tiled, given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """The nest as it is tiled (`plain`, with the sizes that are `given`), or a choice between that
    and versions with more parallelism. Raises TransformError."""
    found = parallelism(nest)
    split = options.Rk is not None or plain.choice.has("register tile")
    if limits.vector or split or found is None:
        return plain
    named = _Names(nest, dict(options.threshold))
    versions = _possible(_versions(nest, found, plain, given, limits, options, named))
    versions = [replace(v, cost=_cost(v, limits)) for v in versions]
    if len(versions) == 1:
        only = versions[0].tiled
        if _is_like(only, plain):
            return plain
        return replace(only, derivation=nest.derivation.extended(only.derivation), nest=nest)
    used = {x.name for v in versions for e in v.guard for x in _thresholds(e)}
    thresholds = tuple((name, value) for name, value in named.values.items() if name in used)
    step = Dispatch(nest.parallel[0], tuple(x for v in versions for x in _variants(v)), thresholds)
    derivation = nest.derivation.titled("Versions").then(step)
    shown = next((v.tiled for v in versions if _is_like(v.tiled, plain)), versions[-1].tiled)
    return replace(shown, derivation=derivation, nest=nest)


def _is_like(done: Tiled, plain: Tiled) -> bool:
    """Whether a nest is mapped in the same way."""
    return done.recipe == plain.recipe and done.sizes.keys() == plain.sizes.keys()


# ---------------------------------------------------------------- how much parallelism there is


def parallelism(nest: Nest) -> Parallelism | None:
    """None where there is not one sequential loop inside the parallel ones, or the host cannot
    count the results."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    inside = sequential(nest.innermost.body)
    if len(inside) != 1 or not all(is_counted(nest.function, x) for x in chain):
        return None
    results = reduce(_times, map(trip_count, chain))
    return Parallelism(
        results, trip_count(inside[0]) if is_counted(nest.function, inside[0]) else None
    )


def is_counted(fn: Function, loop: For) -> bool:
    """Whether the iterations of a loop are a number that the caller's integers say."""
    if ascending(LoopSite((), loop)) or value_of(loop.step) is None:
        return False
    types, used = symbols(fn), names(trip_count(loop))
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    return used <= fixed and all(types[n].is_integer for n in used)


def _times(a: Expr, b: Expr) -> Expr:
    """A product that 64 bits hold, of factors that an int holds: no threshold is larger, and
    loops that run backwards have no iterations."""
    if isinstance(a, Bin) and a.op == "*":
        a = Bin("max", Bin("min", a, Const(INT_MAX)), Const(0))
    return Bin("*", a, b)


# ---------------------------------------------------------------- the versions


def _versions(
    nest: Nest,
    found: Parallelism,
    plain: Tiled,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    named: _Names,
) -> list[Version]:
    """Those that are legal; `plain` alone where there is no other."""
    alone = nest.alone()
    groups = _by_groups(alone, limits, options)
    chunks = None if found.terms is None else _by_chunks(alone, limits, options, groups)
    if groups is None and chunks is None:
        return [Version("", "", plain)]
    items = one_nest(alone, given, None, limits, options, strict=False)
    outer = named("suff_outer_par", _filling(items, groups, limits))
    guard, versions = [Bin("<", found.results, outer)], list[Version]()
    if groups is not None:
        if found.terms is not None:
            intra = named("suff_intra_par", limits.costs.short_loop)
            guard.append(Bin(">=", found.terms, intra))
        versions.append(Version("groups", "a group for each result", groups, tuple(guard)))
    if chunks is not None and found.terms is not None:
        if groups is not None:
            enough = named("suff_group_par", filling_groups(limits, groups.sizes["Tx"]))
            guard.append(Bin("<", found.results, enough))
        least = limits.costs.several_chunks * chunks.sizes["Tk"] * chunks.sizes["Rk"]
        guard.append(Bin(">=", found.terms, named("suff_inner_par", least)))
        about = "several groups for each result, and a kernel that combines their parts"
        versions.insert(0, Version("chunks", about, chunks, tuple(guard)))
    about = "a work-item for each result, in order"
    return [*versions, Version("items", about, items)]


def _filling(items: Tiled, groups: Tiled | None, limits: Limits) -> int:
    """The results from which on a work-item for each takes no longer than a group for each: those
    that fill the device where both ask as much of it, in proportion where they do not. Fewer are
    enough for arithmetic without branches, of which several iterations overlap."""
    total = filling_items(limits)
    if groups is None or limits.warp < 2:
        return total
    one, other = _terms(items, limits), _terms(groups, limits).work
    memory = one["global memory"] + one["copies"]
    busy = busy_items(limits) if _is_straight(items.nest) else total
    filling = memory * total + (one.work - memory) * busy
    return max(1, min(INT_MAX, round(filling / other))) if other else total


def _is_straight(nest: Nest) -> bool:
    """Whether iterations of the sequential loop have no branches."""
    (loop,) = sequential(nest.innermost.body)
    parts = (e for _, s in walk(loop.body) for x in stmt_exprs(s) for e in walk_expr(x))
    choosing = any(
        isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||")) for e in parts
    )
    return not choosing and not any(isinstance(s, If) for _, s in walk(loop.body))


def _by_groups(nest: Nest, limits: Limits, options: Options) -> Tiled | None:
    """A group for each result, where that is legal, and neighbours in the group read neighbours in
    memory."""
    if _refused(nest, str(KINDS["reduce"].tiles.Tx), options, "strided"):
        return None
    inside = with_guards_inside(nest)
    if not choices(inside, None, limits.costs, kept=False, few=True, automatic=())[0]:
        return None
    derive = partial(one_nest, nest, {}, "reduce", limits, options, strict=True)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _by_chunks(nest: Nest, limits: Limits, options: Options, groups: Tiled | None) -> Tiled | None:
    """A nest of chunks, and one that combines their results: by groups where these compute a
    result each, else by work-items."""
    costs, terms = limits.costs, KINDS["reduce" if groups else "1-d"].tiles.Tk
    if _refused(nest, str(costs.item_terms), options):
        return None
    split = replace(options, Rk=costs.chunk_tiles if groups else -(-costs.item_terms // terms))
    derive = partial(in_chunks, nest, {}, None, limits, split, strict=False)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _refused(nest: Nest, size: str, options: Options, strided: str = "") -> bool:
    """Whether the sequential loop cannot be reduced in parts."""
    allowed = "reassociate" if options.reassociate else ""
    (loop,) = sequential(nest.innermost.body)
    return bool(Rfactor(loop.var, size, allowed, strided).check(nest.function))


@dataclass
class _Names:
    """Thresholds of a nest: numbered in the order of the function, with the values that are `asked`
    for. `values` are those so far."""

    nest: Nest
    asked: Mapping[str, int]
    values: dict[str, int] = field(default_factory=dict)

    def __call__(self, kind: str, default: int) -> Tile:
        number = len(thresholds_of(self.nest.derivation)) + len(self.values)
        taken = self.nest.taken
        name = next(n for k in count() if (n := f"{kind}_{number}{'_' * k}") not in taken)
        self.values[name] = self.asked.get(name, default)
        return Tile(name, self.values[name])


def _possible(versions: list[Version]) -> list[Version]:
    """Without comparisons that hold for all calls, and versions that are never taken."""
    taken = []
    for v in versions:
        open_ones = tuple(e for e in v.guard if _decided(e) is None)
        if any(_decided(e) is False for e in v.guard):
            continue
        taken.append(replace(v, guard=open_ones))
        if not open_ones:
            break
    return taken


def _decided(e: Bin) -> bool | None:
    """Whether a comparison holds, where that is known."""
    amount = value_of(e.left)
    if amount is None or not isinstance(e.right, Tile):
        return None
    return amount < e.right.value if e.op == "<" else amount >= e.right.value


def _thresholds(e: Bin) -> Iterator[Tile]:
    return (x for x in walk_expr(e) if isinstance(x, Tile))


def _cost(version: Version, limits: Limits) -> str:
    """In microseconds, or in segments that caches serve; nothing is known where a reduction is
    split."""
    if "Rk" in version.tiled.sizes or limits.warp < 2:
        return ""
    time, scale = _terms(version.tiled, limits).time, microseconds(limits)
    return f"{float(time):.4g} segments" if scale is None else f"{float(time) * scale:.4g} us"


def _terms(done: Tiled, limits: Limits) -> Cost:
    """What the model says of the nest."""
    sizes = {**KINDS[done.recipe].tiles.numbers, **done.sizes}
    return cost(Estimate(done.nest, done.choice, sizes, limits, done.staged))


def _variants(version: Version) -> Iterator[Variant]:
    """Those of a version: under its guard, which of them is taken is its own matter."""
    guard, derivation = tuple(map(condition_text, version.guard)), version.tiled.derivation
    steps = tuple(r.step for r in derivation.records)
    if len(steps) == 1 and isinstance(steps[0], Dispatch):
        for v in steps[0].variants:
            label = ", ".join(x for x in (version.label, v.label) if x)
            yield replace(v, label=label, guard=(*guard, *v.guard))
        return
    tiles = derivation.start.tiles
    yield Variant(version.label, version.about, version.cost, guard, tiles, steps, derivation)
