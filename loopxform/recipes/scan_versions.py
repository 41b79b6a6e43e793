"""Versions of a nest whose sequential loop has running values.

    forall r < m: { s = 0; for j < n: { s += a[r, j]; y[r, j] = s; } }       along the rows
      m < suff_group_par_0 && n >= suff_inner_par_1   chunks   groups compute chunks of a row, twice
      n >= suff_intra_par_2                           groups   a group computes a row, chunk after
                                                               chunk
      n >= suff_intra_par_3                           lanes    the same, by the work-items that run
                                                               in lockstep
      else                                            items    a work-item computes a row, in order

    forall j < n: { s = 0; for i < m: { s += a[i, j]; y[i, j] = s; } }       across the rows
      n < suff_outer_par_0 && m >= suff_inner_par_1   chunks   work-items compute chunks of a column
      else                                            items    a work-item computes a column

On devices that run the work-items of a group in turn, rows have these two versions as well.
Neighbouring work-items of the latter read neighbours in memory, so that columns need no groups.
(`reduce-then-scan`; `recipes.scan`, `recipes.scan_rows`. Rotendahl and Larsen, sections 2.4 and
2.5.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

from loopxform.errors import LoopxformError, TransformError
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Expr, For, Tile
from loopxform.ir.visit import loads, names, resolve, stmt_exprs, walk
from loopxform.model.footprint import linear
from loopxform.model.saturation import filling_groups, filling_items, in_turn
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes import versions
from loopxform.recipes.nested_versions import WITHOUT_REUSE
from loopxform.recipes.running_loop import converted_loop
from loopxform.recipes.scan_rows import stays_in_order
from loopxform.recipes.split_scan import in_chunks
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import Thresholds, Version, choice, taken_at_all
from loopxform.recipes.versions import REFUSALS, all_terms, parallelism
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import possible, thresholds_of

TILES: tuple[Mapping[str, int], ...] = ({}, {"Tk": 32}, {"Tx": 32, "Tk": 32})
"""Sizes of tiles of rows, those that need most local memory first."""


def in_versions(
    nest: Nest, plain: Tiled, given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """The nest as it is tiled (`plain`, with the sizes that are `given`), or a choice between that
    and versions with more parallelism: those of running values, or of `versions`. Chunks are what
    they are. Raises TransformError."""
    is_open = plain.recipe in WITHOUT_REUSE and not options.Rk and not limits.vector
    found = _scanned(nest) if is_open else None
    if found is None:
        return versions.in_versions(nest, plain, given, limits, options)
    items = possible(partial(_items, found, given, limits, options), *REFUSALS)
    if isinstance(items, LoopxformError):
        return plain
    named = Thresholds(len(thresholds_of(nest.derivation)), nest.taken, dict(options.threshold))
    made = partial(_Versions, found, items, limits, options, named)
    rows = made().along() if found.is_along else made().across()
    taken = taken_at_all([v for v, _ in rows])
    mapped = {v.label: tiled for v, tiled in rows}
    if len(taken) == 1:
        only = mapped[taken[0].label]
        if only is items and not found.nest.derivation.records:
            return plain
        return replace(only, derivation=nest.derivation.extended(only.derivation), nest=nest)
    step = choice(nest.parallel[0], taken, named)
    derivation = nest.derivation.titled("Versions").tried(step)
    if isinstance(derivation, TransformError):
        return plain
    return replace(items, derivation=derivation, nest=nest)


def has_running_values(nest: Nest) -> bool:
    """Whether there are versions of running values of a nest."""
    return _scanned(nest) is not None


@record
class _Scanned:
    """A nest with running values in its sequential loop, which counts upwards: how many rows it
    has, how long they are, where the host can tell, how long all of them are together, where data
    tell the former and a size the latter, and whether more of what an iteration touches lies along
    that loop than along any parallel one."""

    nest: Nest
    loop: For
    rows: Expr
    length: Expr | None
    total: Expr | None
    is_along: bool

    def is_long(self, least: Tile) -> Expr:
        """Whether rows have so many elements, on average where data tell their lengths."""
        if self.length is not None:
            return Bin(">=", self.length, least)
        assert self.total is not None
        return Bin(">=", self.total, Bin("*", self.rows, least))


def _scanned(nest: Nest) -> _Scanned | None:
    """None where the host cannot count the rows, or nothing tells how long they are, or nothing
    runs through them."""
    inside = sequential(nest.innermost.body)
    if len(inside) != 1 or len([s for s in nest.innermost.body if isinstance(s, For)]) != 1:
        return None
    (loop,) = inside
    titled = nest.alone().derivation.titled("Running values of the rows")
    running = converted_loop(titled, loop.var)
    if running is None:
        return None
    scanned = nest.alone().of(running.derivation)
    found, (site,) = parallelism(scanned), resolve(scanned.function, loop.var)
    total = None if found is None or found.terms is not None else all_terms(nest)
    if found is None or (found.terms is None and total is None):
        return None
    along = _is_along(scanned, site.loop)
    return _Scanned(scanned, site.loop, found.results, found.terms, total, along)


def _is_along(nest: Nest, loop: For) -> bool:
    """Of what the loop touches anew in each iteration."""
    counts = dict.fromkeys((loop.var, *nest.parallel), 0)
    every = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
    for x in (x for x in every if loop.var in names(x)):
        for v in counts:
            counts[v] += linear(poly(x.index[-1]), v) in (1, -1)
    return counts.pop(loop.var) > max(counts.values())


def _items(found: _Scanned, given: Mapping[str, int], limits: Limits, options: Options) -> Tiled:
    """A work-item for each row, in order."""
    return one_nest(found.nest, given, None, limits, options, strict=False)


@record
class _Versions:
    """The versions, in the order in which they are asked for."""

    found: _Scanned
    items: Tiled
    limits: Limits
    options: Options
    named: Thresholds

    def along(self) -> list[tuple[Version, Tiled]]:
        if self.limits.warp == 1:  # a group is no quicker than a work-item
            return self.across()
        costs, found = self.limits.costs, self.found
        if self._are_short(self.limits.warp):
            return [self._last()]
        order = "reassociate" if self.options.reassociate else ""
        if stays_in_order(found.nest.function, found.loop.var, order):
            lanes = "a group for each row, whose chunks run in order"
            return [*self._tiles(), *self._lanes(lanes), self._last()]
        groups = self._groups({})
        if groups is None:
            return [self._last()]
        made = []
        chunks = None
        if found.length is not None and not self._are_short(costs.scan_terms):
            chunks = self._chunks((costs.scan_terms,), rows=True)
        if chunks is not None and found.length is not None:
            few = self.named("suff_group_par", filling_groups(self.limits, groups.sizes["Tx"]))
            long = self.named("suff_inner_par", costs.several_chunks * costs.scan_terms)
            about = "several groups for each row, chunks of which are run twice"
            asked = Bin("<", found.rows, few), Bin(">=", found.length, long)
            made.append(self._version("chunks", about, chunks, *asked))
        wide = self.named("suff_intra_par", groups.sizes["Tx"])
        about = "a group for each row, chunk after chunk"
        made.append(self._version("groups", about, groups, found.is_long(wide)))
        lanes = "a group for each row, of the work-items that run in lockstep"
        return [*made, *self._tiles(), *self._lanes(lanes), self._last()]

    def _are_short(self, least: int) -> bool:
        """Whether rows have fewer elements than that, as can be told in advance."""
        number = None if self.found.length is None else value_of(self.found.length)
        return number is not None and number < least

    def _tiles(self) -> list[tuple[Version, Tiled]]:
        """A work-item for each of many rows, in tiles that go through local memory."""
        derive = partial(one_nest, self.found.nest, recipe="scan-tiles")
        for given in TILES:
            tried = partial(derive, given, limits=self.limits, options=self.options, strict=True)
            done = possible(tried, *REFUSALS)
            if not isinstance(done, LoopxformError):
                break
        else:
            return []
        many = filling_groups(self.limits, done.sizes["Tx"]) * done.sizes["Tx"]
        asked = Bin(">=", self.found.rows, self.named("suff_outer_par", many))
        wide = self.found.is_long(self.named("suff_intra_par", self.limits.warp))
        about = "a work-item for each row, tiles of which go through local memory"
        return [self._version("tiles", about, done, asked, wide)]

    def _lanes(self, about: str) -> list[tuple[Version, Tiled]]:
        lanes = self._groups({"Tx": self.limits.warp}) if self.limits.warp > 1 else None
        if lanes is None:
            return []
        wide = self.named("suff_intra_par", self.limits.warp)
        return [self._version("lanes", about, lanes, self.found.is_long(wide))]

    def across(self) -> list[tuple[Version, Tiled]]:
        costs = self.limits.costs
        if self._are_short(costs.scan_item_terms):
            return [self._last()]
        sizes = (costs.scan_item_terms, costs.combined_alone)
        chunks = self._chunks(sizes, rows=False)
        if chunks is None or self.found.length is None:
            return [self._last()]
        few = self.named("suff_outer_par", self._filling())
        long = self.named("suff_inner_par", costs.several_chunks * costs.scan_item_terms)
        about = "several work-items for each row, chunks of which are run twice"
        asked = Bin("<", self.found.rows, few), Bin(">=", self.found.length, long)
        return [self._version("chunks", about, chunks, *asked), self._last()]

    def _filling(self) -> int:
        """The rows that fill the device with a work-item for each."""
        if self.limits.warp > 1:
            return filling_items(self.limits)
        sizes = self.items.sizes
        return in_turn(self.limits, prod(sizes.get(name, 1) for name in ("Ty", "Tx", "Rx")))

    def _last(self) -> tuple[Version, Tiled]:
        return self._version("items", "a work-item for each row, in order", self.items)

    def _version(self, label: str, about: str, done: Tiled, *guard: Expr) -> tuple[Version, Tiled]:
        return Version(label, about, done.derivation, guard), done

    def _groups(self, given: Mapping[str, int]) -> Tiled | None:
        """A group for each row, where that is legal."""
        derive = partial(one_nest, self.found.nest, given, "scan", self.limits, self.options)
        done = possible(partial(derive, strict=True), *REFUSALS)
        return None if isinstance(done, LoopxformError) else done

    def _chunks(self, sizes: tuple[int, ...], *, rows: bool) -> Tiled | None:
        """Chunks that run at the same time, where that is legal."""
        nest, var = self.found.nest, self.found.loop.var
        derive = partial(in_chunks, nest, var, sizes, self.limits, self.options, rows=rows)
        done = possible(derive, *REFUSALS)
        return None if isinstance(done, LoopxformError) else done
