"""Which neighbouring stages become one kernel, in which form, and its tile.

The nests are cut into runs that take the least time together: each run one kernel, that streams
rows or computes blocks, or every nest of it as it is (dynamic programming over the cuts; Jangda and
Guha, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from loopxform.ir.affine import simplify
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Const
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path
from loopxform.model.blocks import BlockModel, BlockTile, block_tiles, elements, untiled
from loopxform.model.cost import start_work
from loopxform.model.predicted import NOTHING, Predicted
from loopxform.model.streams import IMAGE, StreamModel, Tile, pipeline_tiles
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.fuse_stages import Group
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import Nests, Template, arrays_read
from loopxform.transforms.overlapped.tile_stages import BlockGroup

LONGEST = 16
"""Nests of a kernel: its text has each of them twice."""


@record
class Cut:
    """Nests from `first` on that become one kernel, and the tiles that it may have, the one that
    takes the least time first; what the kernel takes with that one, by the model."""

    first: int
    count: int
    tiles: tuple[Tile | BlockTile, ...]
    predicted: Predicted | None = None

    @property
    def tile(self) -> Tile | BlockTile:
        return self.tiles[0]


@record
class Times:
    """What nests take each on its own, and as one kernel with each tile that is worth it, the best
    first; whether any tile `fits`."""

    untiled: Predicted
    timed: Sequence[tuple[Predicted, Tile | BlockTile]]
    fits: bool


Known = Mapping[tuple[int, int], Times | None]
"""What is known of runs of nests, by the first one and how many there are; None: they are no stages
of one kernel."""


@record
class Grouping:
    """Which neighbouring nests become one kernel, and what each takes on its own, by the model
    (None: it has nothing to say)."""

    cuts: tuple[Cut, ...]
    alone: tuple[Predicted | None, ...]
    windows: Known

    @property
    def time(self) -> float:
        """What all nests take, as far as is known."""
        return sum(x.time for x in self._kernels)

    @property
    def bytes(self) -> float:
        """What they move, as far as is known."""
        return sum(x.bytes for x in self._kernels)

    @property
    def _kernels(self) -> list[Predicted]:
        fused = {n for c in self.cuts for n in range(c.first, c.first + c.count)}
        every = [*(x for n, x in enumerate(self.alone) if n not in fused)]
        return [x for x in (*every, *(c.predicted for c in self.cuts)) if x is not None]

    def with_one_more(self, place: int, changed: Collection[int]) -> Known:
        """The windows that hold none of the nests that have `changed`, where another one is new at
        a `place`."""
        kept: dict[tuple[int, int], Times | None] = {}
        for (first, count), found in self.windows.items():
            within = range(first, first + count)
            if not any(n in within for n in changed) and not first < place < first + count:
                kept[first + (first >= place), count] = found
        return kept


@record
class Forms:
    """The tiles that may be taken of each form: None where the model chooses, () for none."""

    streams: tuple[Tile, ...] | None = None
    blocks: tuple[BlockTile, ...] | None = None

    @property
    def is_asked(self) -> bool:
        """Whether tiles are asked for."""
        return bool(self.tiles)

    @property
    def tiles(self) -> tuple[Tile | BlockTile, ...]:
        """Those that are asked for."""
        return (*(self.streams or ()), *(self.blocks or ()))


Windows = dict[tuple[int, int], Times | None]


@record
class Run:
    """Neighbouring nests of a function."""

    nests: Nests
    paths: tuple[Path, ...]
    limits: Limits

    @property
    def types(self) -> dict[str, Scalar]:
        """Of all names of the function."""
        return symbols(self.nests.fn)


def grouping(
    nests: Nests,
    paths: Sequence[Path],
    limits: Limits,
    forms: Forms,
    known: Known = MappingProxyType({}),
) -> Grouping:
    """The runs of neighbouring nests at `paths` that are fused: in blocks where rows cannot be
    streamed, with the tile that is asked for or the one that takes the least time; as many as there
    can be where blocks are asked for, none where a device runs work-items one by one. What is
    `known` of runs is not asked again."""
    if limits.warp == 1 and not forms.is_asked:
        return Grouping((), (None,) * len(paths), {})
    times = _all_times(nests, paths, limits, forms, known)
    own = (times.get((n, 1)) for n in range(len(paths)))
    alone = tuple(None if x is None else x.untiled for x in own)
    found = _standing(nests, paths, limits, times, forced=bool(forms.blocks))
    return Grouping(tuple(found), alone, times)


def whole(nests: Nests, paths: Sequence[Path], limits: Limits, tile: Tile | BlockTile) -> Grouping:
    """All nests as one kernel with a tile, as it is asked for."""
    run = Run(nests, tuple(paths), limits)
    in_blocks = isinstance(tile, BlockTile)
    times = _in_blocks(run, (tile,)) if isinstance(tile, BlockTile) else _streamed(run, (tile,))
    predicted = times.timed[0][0] if times is not None and times.timed else None
    each = (Run(nests, (path,), limits) for path in paths)
    own = (_in_blocks(x, ()) if in_blocks else _streamed(x, ()) for x in each)
    alone = tuple(None if x is None else x.untiled for x in own)
    return Grouping((Cut(0, len(paths), (tile,), predicted),), alone, {})


def _standing(
    nests: Nests, paths: Sequence[Path], limits: Limits, times: Windows, *, forced: bool
) -> list[Cut]:
    """The best cuts whose kernels may stand for the nests."""
    while True:
        found = _best(times, len(paths), forced=forced)
        runs = ((x, Run(nests, tuple(paths[x.first : x.first + x.count]), limits)) for x in found)
        wrong = [x for x, r in runs if isinstance(x.tile, BlockTile) and not _may_stand(r)]
        if not wrong:
            return found
        for x in wrong:
            known = times[x.first, x.count]
            assert known is not None
            times[x.first, x.count] = replace(known, timed=())


def _all_times(
    nests: Nests, paths: Sequence[Path], limits: Limits, forms: Forms, known: Known
) -> Windows:
    out: Windows = {}
    for end in range(1, len(paths) + 1):
        fits = forms.blocks != ()
        for count in range(1, min(end, LONGEST) + 1):
            if (end - count, count) in known:
                out[end - count, count] = known[end - count, count]
                continue
            run = Run(nests, tuple(paths[end - count : end]), limits)
            in_blocks = _in_blocks(run, forms.blocks) if fits or count == 1 else None
            streamed = _streamed(run, forms.streams)
            fits = fits and (in_blocks is None or in_blocks.fits or count == 1)
            form = _quicker(streamed, in_blocks)
            own = None if form is None else replace(form, untiled=(in_blocks or form).untiled)
            out[end - count, count] = own
    return out


def _quicker(streamed: Times | None, in_blocks: Times | None) -> Times | None:
    """The form whose best tile takes less time."""
    known = [x for x in (streamed, in_blocks) if x is not None]
    timed = [x for x in known if x.timed]
    return min(timed, key=lambda x: x.timed[0][0].time) if timed else next(iter(known[::-1]), None)


def _best(times: Windows, nests: int, *, forced: bool) -> list[Cut]:
    """The cuts that take the least time; where tiles are asked for, that leave the fewest nests."""
    best: list[tuple[int, float, list[Cut]]] = [(0, 0.0, [])]
    for end in range(1, nests + 1):
        left, before, known = best[end - 1]
        alone = times.get((end - 1, 1))
        options = [(left + forced, before + (alone.untiled.time if alone else 0.0), known)]
        for count in range(1, min(end, LONGEST) + 1):
            found = times.get((end - count, count))
            if found is not None and found.timed:
                left, before, known = best[end - count]
                least = found.timed[0][0]
                cut = Cut(end - count, count, tuple(tile for _, tile in found.timed), least)
                options.append((left, before + least.time, [*known, cut]))
        best.append(min(options, key=lambda x: x[:2]))
    return best[-1][2]


def _streamed(run: Run, asked: tuple[Tile, ...] | None) -> Times | None:
    """Of a stream; None where they are none."""
    try:
        group = Group.of(run.nests, run.paths)
    except NotStages:
        return None
    model = StreamModel(group.flow, group.templates, group.stored, run.types, run.limits)
    of_all = max(map(elements, group.templates))
    again = any((*group.stream.low, *group.stream.high))
    fewer = model.exceeds_cache(of_all)
    tried = pipeline_tiles(group.stream.rank, fewer_rows=fewer) if asked is None else asked
    worth = tried if again or len(run.paths) > 1 else ()
    if asked is None:
        least = least_tiles(len(run.paths), run.limits)
        worth = (x for x in worth if model.tiles(x, of_all) >= least)
    image = of_all if asked is None else float(IMAGE)
    known = ((model.in_pipeline(x, image), x) for x in worth)
    timed = [(p.times(of_all) + _starts(run), x) for p, x in known if p is not None]
    quickest = sorted(timed, key=lambda x: x[0].time)
    alone = model.untiled().times(of_all) + _starts(run, len(run.paths))
    return Times(alone, tuple(quickest), bool(timed))


def _in_blocks(run: Run, asked: tuple[BlockTile, ...] | None) -> Times | None:
    """Of blocks, which several nests alone are worth; None where they are none. Where no tile fits,
    none does with more nests in front of these."""
    try:
        templates = run.nests.templates(run.paths, unroll=False)
        start = _starts(run, len(run.paths))
        alone = sum((_untiled(t, run.nests, run.limits) for t in templates), start=start)
        if len(run.paths) == 1:
            return Times(alone, (), fits=True) if templates else None
        if not _connected(templates):
            return None
        group = BlockGroup.of(run.nests, run.paths)
    except NotStages:
        return None
    extents = (simplify(Bin("+", Bin("-", b, a), Const(1))) for a, b in group.reference.ends)
    model = BlockModel(group, run.types, run.limits)
    tried = block_tiles(tuple(extents)) if asked is None else asked
    known = ((model.predicted(x), x) for x in tried)
    timed = [(p + _starts(run), x) for p, x in known if p is not None]
    quicker = (x for x in timed if asked or x[0].time < alone.time)
    worth = sorted(quicker, key=lambda x: x[0].time)
    return Times(alone, tuple(worth), bool(timed))


def least_tiles(nests: int, limits: Limits) -> int:
    """With fewer tiles than this, nests that could be one kernel run as they are."""
    units = limits.compute_units or limits.costs.units
    return units * (limits.costs.stream_groups if nests == 1 else 1)


def _starts(run: Run, kernels: int = 1) -> Predicted:
    """What so many kernels take besides what they do."""
    return replace(NOTHING, time=kernels * start_work(run.limits))


@remembered(1024)
def _untiled(t: Template, nests: Nests, limits: Limits) -> Predicted:
    return untiled(t, symbols(nests.fn), limits)


def _connected(found: Sequence[Template]) -> bool:
    """Whether each stage reads what another writes, or the other way round, and so on."""
    written = {t.target.array for t in found}
    groups = [written & {t.target.array, *arrays_read(t)} for t in found]
    whole = groups[0] if groups else set[str]()
    for _ in groups:
        whole = whole.union(*(g for g in groups if g & whole))
    return whole == written


def _may_stand(run: Run) -> bool:
    """Whether there are sizes for which a kernel of blocks stands for the nests."""
    try:
        BlockGroup.of(run.nests, run.paths).asked(run.nests.fn)
    except NotStages:
        return False
    return True
