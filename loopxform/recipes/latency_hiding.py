"""Tiles fetched ahead, and which work-items are neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil, gcd

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Copy, For, Load, Stmt
from loopxform.ir.tensor_tiles import TENSOR_TILES, TensorTile
from loopxform.ir.visit import LoopSite, Path, at, loads, loops, resolve
from loopxform.model.choice import Choice
from loopxform.model.cost import packing
from loopxform.recipes.deriving import Loops, Work
from loopxform.recipes.tensor_units import tensor_tile
from loopxform.schedule.params import KINDS, Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    BlockCyclic,
    Pipeline,
    RegisterPipeline,
    Serpentine,
    SwizzleGroups,
    Tensorise,
    WarpTile,
)
from loopxform.transforms.latency.register_pipeline import MOST_AHEAD
from loopxform.transforms.latency.vectors import Found, copies, widest
from loopxform.transforms.mapping.tile_product import TileProduct, tile_product


def wanted(options: Options, limits: Limits, choice: Choice) -> Options:
    """The options, what they leave open as the device has it for tiles of registers."""
    if options.async_copies and options.stages is None:
        options = replace(options, stages=2)
    if limits.async_copies and choice.read_once and KINDS[choice.recipe].buffers:
        options = _copied_ahead(options, limits, choice)
    if choice.has("moves") or choice.has("register tile"):
        index = 32 if limits.index32 else 64
        options = replace(options, index=index if options.index is None else options.index)
    if not choice.has("register tile"):
        return options
    tile = tensor_tile(choice, limits, options) if options.tensor_units else None
    if tile is not None:
        options = replace(options, warp_tile=(tile.high, tile.wide), block_cyclic=tile.own_columns)
        if not tile.alone:
            ahead, pad = options.register_pipeline or False, options.pad is not False
            options = replace(options, register_pipeline=ahead, pad=pad)
    return replace(
        options,
        vector=limits.vector_width if options.vector is None else options.vector,
        stages=limits.stages if options.stages is None else options.stages,
        warp_tile=_lockstep(options, limits) if options.warp_tile is None else options.warp_tile,
        pack=packing(limits) if options.pack is None else options.pack,
    )


def _lockstep(options: Options, limits: Limits) -> tuple[int, int]:
    """Which work-items run in lockstep: rows of them where each stores single columns, so that they
    store as many neighbours as there can be."""
    return (0, 0) if options.single_columns else limits.warp_tile


def of_single_columns(options: Options, sizes: Mapping[str, int], limits: Limits) -> Options:
    """The options for tiles of such sizes of which each work-item stores single columns. Which ones
    run in lockstep is said as a rectangle: tiles were timed so."""
    wide = min(sizes["Tx"], limits.warp)
    return replace(options, single_columns=True, warp_tile=(limits.warp // wide, wide))


def _copied_ahead(options: Options, limits: Limits, choice: Choice) -> Options:
    """The options, with as many tiles as the recipe has where copies pass the registers, filled in
    vectors where they lie as their arrays do. Of several arrays that are turned, tiles would be
    short: they have one each."""
    turned = any(s.pad for s in choice.read_once)
    if turned and len(choice.read_once) > 1:
        return options
    width = None if turned else limits.vector_width
    return replace(
        options,
        stages=KINDS[choice.recipe].buffers if options.stages is None else options.stages,
        vector=width if options.vector is None else options.vector,
    )


def in_registers(
    options: Options, limits: Limits, choice: Choice, sizes: Mapping[str, int], *, guarded: bool
) -> Options:
    """The options, with what they leave open as register tiles of these sizes have it best: how
    many rows they are walked in (none where terms are `guarded`: the bounds that follow from that
    take the registers), whether they are read ahead, and whether partial tiles are padded: in small
    groups, of words of 4 bytes at most, the registers of an epilogue would leave room for fewer
    groups (docs/experiments.md)."""
    if not choice.has("register tile"):
        return options
    elements = sizes.get("Ry", 1) * sizes.get("Rx", 1)
    few = sizes["Ty"] * sizes["Tx"] < limits.costs.many_warps * limits.warp
    words = all(s.item_bytes <= 4 for s in choice.stages)
    ahead = few and words and elements > limits.costs.few_elements
    columns = sizes.get("Ry", 1) >= limits.serpentine and (ahead or not few)
    rows = limits.serpentine if columns else min(2, limits.serpentine)
    rows = 0 if guarded else rows
    padded = few and words and (options.stages or 1) > 1
    return replace(
        options,
        serpentine=rows if options.serpentine is None else options.serpentine,
        register_pipeline=limits.register_pipeline and ahead
        if options.register_pipeline is None
        else options.register_pipeline,
        pad=padded if options.pad is None else options.pad,
    )


def faster(w: Work, group: str, dims: list[Loops], options: Options, limits: Limits) -> None:
    """With several `options.stages` tiles are fetched ahead, with more than two, or
    `options.async_copies`, past the registers; with `options.register_pipeline` they are read ahead
    too, as many iterations as a read takes; registers are walked there and back in
    `options.serpentine` rows, groups in `options.swizzle_groups`; work-items stand in rectangles of
    `options.warp_tile` and get their elements `options.block_cyclic` at a time, those of a vector
    where nothing is asked, of a row one at a time with `options.single_columns`. With
    `options.tensor_units`, these compute what is a product of tiles."""
    width = options.vector or 1
    nest = resolve(w.fn, group)[0].path
    buffers = options.stages or 1
    if buffers > 1:
        w.stage("Tiles fetched ahead")
        for path in [s.path for s in _loops(w, nest) if any(map(_is_tile, s.loop.body))]:
            late, number = options.async_copies or buffers > 2, str(buffers) if buffers > 2 else ""
            w.attempt(Pipeline(w.ref(path), number, "async" if late else ""))
    if options.register_pipeline:
        w.stage("Tiles read ahead")
        ahead = 1 if options.tensor_units else _iterations_ahead(w, limits)
        for path in [s.path for s in _loops(w, nest) if any(map(_is_read, s.loop.body))]:
            _read_ahead(w, w.ref(path), ahead, between=bool(options.interleave_copies))
    if options.serpentine:
        w.stage("Registers there and back")
        for path in [s.path for s in _loops(w, nest) if _is_product(s)]:
            w.attempt(Serpentine(w.ref(path), str(_rows(w, path, options.serpentine))))
    apart = _at_once(w, nest, width) if options.block_cyclic is None else options.block_cyclic
    single = dims[-1:] if options.single_columns else []
    one_by_one = options.tensor_units and options.block_cyclic == 1
    if apart > 1 or single or one_by_one:
        w.stage("Elements dealt out in turns")
        for d in (d for d in dims if d.thread and d.item):
            own = apart if options.block_cyclic else gcd(apart, w.sizes[d.dim.kept])
            own = 1 if d in single else own
            if own > 1 or d in single or one_by_one:
                w.attempt(BlockCyclic(f"{d.thread}*", d.item, str(own)))
    if options.swizzle_groups:
        w.stage("Groups in bands")
        w.attempt(SwizzleGroups(group, str(options.swizzle_groups)))
    rows, columns = options.warp_tile or (0, 0)
    if rows:
        w.stage("Neighbours in a rectangle")
        paired = limits.paired_lanes and rows % 2 == 0 and _read_for_long(w, options, apart, limits)
        w.attempt(WarpTile(group, str(rows), str(columns), "paired" if paired else ""))
    if options.tensor_units:
        w.stage("Products by tensor units")
        for site in _loops(w, nest):
            product = tile_product(site.loop)
            tiles = () if product is None else _tiles(product, options)
            any(w.attempt(Tensorise(w.ref(site.path), t.name)) for t in tiles)


def _read_for_long(w: Work, options: Options, apart: int, limits: Limits) -> bool:
    """Whether work-items wait for reads of local memory, not for arithmetic, unless neighbours read
    the same vectors: an access for each word of the columns, one or two for a vector of the rows.
    Tensor units read otherwise, single columns in single words, and where the device fills tiles
    on its own, pairs take longer (docs/experiments.md)."""
    if options.tensor_units or options.single_columns or options.async_copies:
        return False
    rows, columns = w.sizes.get("Ry", 1), w.sizes.get("Rx", 1)
    width = gcd(apart, rows)
    accesses = columns + rows // width * max(1, width // 2)
    return accesses * limits.costs.local_access >= rows * columns


def _iterations_ahead(w: Work, limits: Limits) -> int:
    """How many iterations have as many multiply-adds as a read of local memory takes; one where
    their registers would be too many."""
    rows, columns, costs = w.sizes.get("Ry", 1), w.sizes.get("Rx", 1), limits.costs
    wanted = min(MOST_AHEAD, ceil(costs.read_latency / (rows * columns)))
    held = rows * columns + (wanted + 1) * (rows + columns)
    return max(1, wanted) if held <= costs.ahead_registers else 1


def _read_ahead(w: Work, loop: str, ahead: int, *, between: bool) -> None:
    """So many iterations, or as many as can be."""
    ways = [(n, word) for word in ["interleaved"] * between + [""] for n in range(ahead, 0, -1)]
    any(w.attempt(RegisterPipeline(loop, str(n) if n > 1 else "", word)) for n, word in ways)


def _tiles(product: TileProduct, options: Options) -> Iterator[TensorTile]:
    """The tiles for work-items that stand so, whose results may be what they are."""
    several = any(len(s.terms) > 1 for s in product.sums)
    in_order = product.in_order or options.fp.reassociate
    for t in TENSOR_TILES.values():
        stand = (t.high, t.wide) == options.warp_tile
        if stand and t.permitted(options.fp) and in_order and (t.terms > 1) == several:
            yield t


def _at_once(w: Work, nest: Path, width: int) -> int:
    """The elements that work-items can read at once into registers."""
    sources = (f.copy.source for f in _copies(w, nest) if not f.copy.collective)
    return max((widest(w.fn, s, width) for s in sources), default=1)


def _is_tile(s: Stmt) -> bool:
    return isinstance(s, Copy) and s.collective


def _is_read(s: Stmt) -> bool:
    return isinstance(s, Copy) and not s.collective


def _is_product(s: LoopSite) -> bool:
    """Whether two unrolled loops add to each of their elements."""
    inner = s.loop.body[0]
    if len(s.loop.body) > 1 or not (isinstance(inner, For) and s.loop.unroll and inner.unroll):
        return False
    return all(isinstance(x, Assign) and _accumulates(x) for x in inner.body)


def _accumulates(s: Assign) -> bool:
    return isinstance(s.target, Load) and (bool(s.op) or s.target in loads(s.value))


def _rows(w: Work, path: Path, most: int) -> int:
    loop = at(w.fn, path)
    assert isinstance(loop, For)
    return gcd(most, value_of(loop.hi) or 1)


def _copies(w: Work, nest: Path) -> list[Found]:
    """Those of the nest at a path."""
    return [f for f in copies(w.fn) if f.path[: len(nest)] == nest]


def _loops(w: Work, nest: Path) -> list[LoopSite]:
    return [s for s in loops(w.fn) if s.path[: len(nest)] == nest]
