"""Rounds of tiles (waves): a device works on so many at once. Where the last round is nearly empty,
or the only one is, smaller tiles give it more to do.

Which of them is the quickest follows from the time of a tile: measured where the profile of the
device has it (`tile_times`), else modelled by its arithmetic and its reads of local memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from loopxform.model.choice import Choice
from loopxform.model.cost import epilogue_work, tile_work
from loopxform.model.footprint import amount
from loopxform.model.resources import Demand
from loopxform.model.tile_shapes import (
    ITERATIONS,
    MOST_CHUNK_TIME,
    MOST_TIME,
    Shape,
    quickest,
)
from loopxform.records import record
from loopxform.targets.target import Limits

Sizes = Mapping[str, int]
SCALE = 890
"""The modelled time of the largest tile: others are in proportion to it. The host compares whole
numbers, times so many waves, that an int holds (`tile_shapes`)."""


VECTORS = "vectors"
"""How profiles call tiles that are filled from rows of vectors."""

SINGLE = "single columns"
"""How profiles call tiles of which work-items get the columns one at a time: where rows are no
vectors, neighbours store neighbours."""


@record
class Tiling:
    """Sizes, the shape of tiles that they make, the buffers of a tile where it is copied by the
    device on its own, by which product of tiles `tensor` units compute it, if any, and whether
    work-items get `single` columns."""

    sizes: dict[str, int]
    shape: Shape
    buffers: int = 1
    tensor: str = ""
    single: bool = False

    @property
    def chunk(self) -> int:
        """Iterations of the sequential loop that a tile reduces where the sum is split; 0 where it
        is not."""
        return self.sizes["Tk"] * self.sizes["Rk"] if "Rk" in self.sizes else 0

    @property
    def name(self) -> str:
        """`16x16 8x8`, as the profiles of devices have it: work-items and their elements."""
        group, kept = (f"{self.sizes[y]}x{self.sizes[x]}" for y, x in (("Ty", "Tx"), ("Ry", "Rx")))
        more = f" async {self.buffers}" if self.buffers > 1 else ""
        more += f" tensor {self.tensor}" if self.tensor else ""
        more += f" {SINGLE}" if self.single else ""
        return f"{group} {kept}{more}" + (f" chunk {self.chunk}" if self.chunk else "")

    @property
    def label(self) -> str:
        """`128x64`: iterations of the parallel loops that a tile has."""
        return "x".join(map(str, self.shape.sizes)) + (f", {SINGLE}" if self.single else "")


def shapes(
    choice: Choice,
    demand: Demand,
    sizes: Sizes,
    given: Sizes,
    limits: Limits,
    loops: tuple[str, ...],
    *,
    single: bool = False,
) -> list[Tiling]:
    """The shapes of tiles along `loops` that a nest may have, the one of `sizes` first; it alone
    where the recipe has no others, or the user says what tiles are. Those of `single` columns are
    the last, where they are asked for and all were measured: no model knows them apart."""
    found = [Tiling(dict(sizes), _shape(choice, sizes, loops))]
    has_all = {"Ty", "Tx", "Tk", "Ry", "Rx"} <= set(sizes)
    if not choice.has("register tile") or not limits.compute_units or given or not has_all:
        return found
    if sizes["Ty"] * sizes["Tx"] // 2 < limits.costs.least_warps * limits.warp:
        return found
    for changes in limits.smaller_tiles:
        alone = changes.endswith(SINGLE)
        less = _changed(sizes, factors(changes.removesuffix(SINGLE)), limits)
        if less is not None and demand.broken(less, limits):
            less = {**less, "Tk": sizes["Tk"]}
        if less is None or demand.broken(less, limits):
            continue
        if not any((t.sizes, t.single) == (less, alone) for t in found):
            found.append(Tiling(less, _shape(choice, less, loops), single=alone))
    rows = [t for t in found if not t.single]
    others = [t for t in found if t.single]
    known = single and _measured_scale([*rows, *others], limits) is not None
    return timed([*rows, *others] if known else rows, limits)


def packed_shapes(
    choice: Choice, demand: Demand, sizes: Sizes, limits: Limits, loops: tuple[str, ...]
) -> list[Tiling]:
    """The shapes of tiles that the device copies on its own, the largest first: they can be as long
    as two buffers are where others have one. Those that do not fit are left out."""
    items = sizes["Ty"] * sizes["Tx"] // 2
    costs, elements = limits.costs, sizes["Ry"] * sizes["Rx"]
    few = items < costs.least_warps * limits.warp or elements < costs.packed_elements
    if not limits.compute_units or few:
        return []
    found = []
    for changes in limits.packed_tiles:
        by = factors(changes)
        buffers = int(by.pop("buffers", Fraction(1)))
        less = _changed(sizes, by, limits)
        if less is not None and not replace(demand, buffers=buffers).broken(less, limits):
            found.append(Tiling(less, _shape(choice, less, loops), buffers))
    return timed(found, limits)


def tensor_shapes(
    choice: Choice,
    demand: Demand,
    limits: Limits,
    loops: tuple[str, ...],
    product: str,
    *,
    rows: bool,
) -> list[Tiling]:
    """The shapes of tiles that tensor units compute by a product of tiles, those for `rows` of
    vectors or for any, the largest first; none where the device is not known to have such units.
    Those that do not fit are left out."""
    found, shapes = list[Tiling](), dict(limits.tensor_tiles).get(product, ())
    for text in (x for x in shapes if limits.compute_units and rows == x.endswith(VECTORS)):
        numbers = text.removesuffix(VECTORS).split()
        items, elements, terms = (tuple(map(int, x.split("x"))) for x in numbers)
        sizes = dict(zip(("Ty", "Tx", "Ry", "Rx", "Tk"), (*items, *elements, terms[0])))
        if not replace(demand, buffers=terms[1]).broken(sizes, limits):
            found.append(Tiling(sizes, _shape(choice, sizes, loops), terms[1], product))
    return timed(found, limits)


def split_shapes(
    choice: Choice,
    demand: Demand,
    sizes: Sizes,
    limits: Limits,
    loops: tuple[str, ...],
    whole: list[Tiling],
) -> list[Tiling]:
    """The shapes of tiles whose sums are split into chunks, long ones first; none where nothing
    says what a chunk takes. `whole` are those of sums that are not split, the largest first: times
    are in their unit."""
    found = []
    for changes in limits.split_tiles if limits.compute_units else ():
        less = _changed({**sizes, "Rk": 1}, factors(changes), limits)
        if less is not None and not demand.broken(less, limits):
            found.append(Tiling(less, _shape(choice, less, loops)))
    scale = _measured_scale(whole, limits)
    times = _modelled_chunks(found, sizes, limits) if scale is None else _measured_times(limits)
    chunked = list[Tiling]()
    for t in (t for t in found if t.name in times):
        time, start, *_ = (max(1, round((scale or 1) * x)) for x in times[t.name])
        if max(time, start) <= MOST_CHUNK_TIME:
            chunked.append(replace(t, shape=Shape(t.shape.sizes, time, start, chunk=t.chunk)))
    return chunked


def _modelled_chunks(
    found: list[Tiling], sizes: Sizes, limits: Limits
) -> dict[str, tuple[float, ...]]:
    """The time of each tile of a chunk, and to start, by its name, where the profile knows what a
    launch takes. Partial results are written, read and written again. The unit is the time of the
    largest tile, that of `sizes`."""
    largest = tile_work(sizes, limits)
    if not (limits.costs.launch and limits.peak):
        return {}
    microseconds = 2 * ITERATIONS * largest * limits.compute_units / (1e3 * limits.peak)
    launch = SCALE * limits.costs.launch / microseconds
    times = dict[str, tuple[float, ...]]()
    for t in found:
        work = tile_work(t.sizes, limits) * t.chunk + 3 * epilogue_work(t.sizes, limits)
        start = SCALE * limits.costs.fill * t.chunk / ITERATIONS + launch
        times[t.name] = SCALE * work / largest / ITERATIONS, start
    return times


def _measured_times(limits: Limits) -> dict[str, tuple[float, ...]]:
    """Those of the profile, by the names of the tiles."""
    return {name: tuple(times) for name, *times in limits.tile_times}


def _measured_scale(found: list[Tiling], limits: Limits) -> float | None:
    """What measured times are multiplied by, so that the host can compare them; None where not all
    of the tiles were measured."""
    return _scale([t.name for t in found], limits)


def _scale(names: Iterable[str], limits: Limits) -> float | None:
    """The same for tiles by their names in the profile."""
    measured = [_measured_times(limits).get(name) for name in names]
    times = [max(x[:3]) for x in measured if x is not None]
    return min(1.0, MOST_TIME / max(times)) if len(times) == len(measured) else None


def timed(found: list[Tiling], limits: Limits) -> list[Tiling]:
    """The shapes with the times of their tiles: as measured on the device where all of them were,
    else as modelled."""
    if not found:
        return []
    scale = _measured_scale(found, limits)
    if scale is not None:
        return [_with_times(t, t.name, scale, limits) for t in found]
    work = [tile_work(t.sizes, limits) for t in found]
    start = round(SCALE * limits.costs.fill)
    unit = SCALE / max(work)
    ends = [round(unit * epilogue_work(t.sizes, limits) / ITERATIONS) for t in found]
    times = [[round(unit * x), start, end] for x, end in zip(work, ends)]
    return [
        replace(t, shape=replace(t.shape, time=time, start=start, epilogue=end))
        for t, (time, start, end) in zip(found, times)
    ]


def of_vectors(found: list[Tiling], limits: Limits) -> list[Tiling]:
    """The shapes with the times of their tiles where rows are vectors, if all of these were
    measured; else as they are."""
    names = [f"{t.name} {VECTORS}" for t in found]
    scale = _scale(names, limits)
    if scale is None:
        return found
    return [_with_times(t, name, scale, limits) for t, name in zip(found, names)]


def _with_times(t: Tiling, name: str, scale: float, limits: Limits) -> Tiling:
    """A shape with the times that were measured for a kind of tiles, `scale` times as long."""
    *measured, resident = _measured_times(limits)[name]
    time, start, end = (max(int(x > 0), round(scale * x)) for x in measured)
    shape = replace(t.shape, time=time, start=start, epilogue=end, resident=int(resident))
    return replace(t, shape=shape)


def filled(
    choice: Choice,
    demand: Demand,
    sizes: Sizes,
    given: Sizes,
    limits: Limits,
    trips: Mapping[str, int | None],
    iterations: int = ITERATIONS,
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Smaller tiles where the iterations of the parallel loops (`trips`, by loop) make too few
    groups for the device, if both are known; and why. `iterations` are those of the sequential
    loop."""
    out, notes = dict(sizes), list[str]()
    counts = [n for n in trips.values() if n is not None]
    if not choice.has("register tile") or not limits.compute_units or len(counts) < len(trips):
        return out, ()
    found = shapes(choice, demand, sizes, given, limits, tuple(trips))
    if len(found) > 1:
        best = quickest([t.shape for t in found], counts, limits.compute_units, iterations)
        new = found[best].sizes
        changed = ", ".join(f"{n} {out[n]} -> {new[n]}" for n in new if new[n] != out[n])
        large = f"{found[0].shape.tiles(counts)} groups for {limits.compute_units} compute units"
        return new, (f"{changed}: {large}",) if changed else ()
    kept = [d.kept for d in choice.dims if d.kept and d.kept not in given]
    while True:
        groups = _shape(choice, out, tuple(trips)).tiles(counts)
        large_ones = [k for k in kept if out[k] > limits.costs.least_elements]
        if 4 * groups >= 3 * limits.compute_units or not large_ones:
            return out, tuple(notes)
        name = max(reversed(large_ones), key=lambda n: out[n])
        units = f"{groups} groups for {limits.compute_units} compute units"
        notes.append(f"{name} {out[name]} -> {out[name] // 2}: {units}")
        out[name] //= 2


def factors(changes: str) -> dict[str, Fraction]:
    """`Ty*1/2 Tk*2`, as profiles have it: what sizes are multiplied by."""
    return {name: Fraction(by) for name, _, by in (x.partition("*") for x in changes.split())}


def _changed(
    sizes: Sizes, changes: Mapping[str, Fraction], limits: Limits
) -> dict[str, int] | None:
    """Sizes of a smaller tile, if they are whole, and work-items have elements enough."""
    new = {n: sizes[n] * by for n, by in changes.items()}
    least = limits.costs.least_elements
    if any(x.denominator > 1 or (n[0] == "R" and x < least) for n, x in new.items()):
        return None
    return {**sizes, **{n: int(x) for n, x in new.items()}}


def _shape(choice: Choice, sizes: Sizes, loops: tuple[str, ...]) -> Shape:
    tiles = {d.loop: amount(d.factors, sizes) for d in choice.dims}
    return Shape(tuple(tiles.get(v, 1) for v in loops), SCALE)
