"""Rounds of groups: a device runs so many groups at once. Where the last round is nearly empty, or
the only one is, smaller tiles give it more to do."""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.recipes.choice import Choice
from loopxform.recipes.demand import Demand
from loopxform.recipes.extents import amount
from loopxform.recipes.limits import Limits

Sizes = Mapping[str, int]
WARPS = 4
"""Warps of a group that a smaller tile has at least."""

FEWEST = 4
"""Elements of a work-item along a loop that are not halved to make more groups."""


def at_once(demand: Demand, sizes: Sizes, limits: Limits) -> int:
    """The groups that a device runs at the same time, as far as registers tell; 0: not known."""
    group = amount(tuple(f for d in demand.items for f in d), sizes)
    needed = next((u.total for u in demand.uses(sizes, limits) if u.what == "registers"), 1)
    return limits.compute_units * max(1, limits.register_file // max(1, group * needed))


def few(groups: int, at_once: int) -> bool:
    """Whether the rounds are less than 4/5 full (the step `few` asks the same)."""
    return groups * 5 < -(-groups // max(1, at_once)) * at_once * 4


def smaller(choice: Choice, demand: Demand, sizes: Sizes, limits: Limits) -> dict[str, int] | None:
    """Sizes of smaller tiles: half as many work-items, with half the elements each, which leaves
    room for longer tiles of the sequential loop; None where the recipe has no such tiles."""
    if choice.recipe != "register" or not {"Ty", "Tx", "Tk", "Rx"} <= set(sizes):
        return None
    if sizes["Ty"] * sizes["Tx"] // 2 < WARPS * limits.warp or sizes["Rx"] <= FEWEST:
        return None
    halved = {name: sizes[name] // 2 for name in ("Ty", "Rx")}
    longer = {**sizes, **halved, "Tk": sizes["Tk"] * demand.buffers}
    return {**sizes, **halved} if demand.broken(longer, limits) else longer


def filled(
    choice: Choice,
    demand: Demand,
    sizes: Sizes,
    given: Sizes,
    limits: Limits,
    trips: Mapping[str, int | None],
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Smaller tiles where the iterations of the parallel loops (`trips`, by loop) make too few
    groups for the device, if both are known; and why."""
    out, notes = dict(sizes), list[str]()
    if choice.recipe != "register" or not limits.compute_units:
        return out, ()
    groups, most = _groups(choice, out, trips), at_once(demand, sizes, limits)
    less = smaller(choice, demand, sizes, limits)
    if (
        groups is not None
        and few(groups, most)
        and less
        and all(less[n] == given.get(n, less[n]) for n in less)
    ):
        changed = ", ".join(f"{n} {out[n]} -> {less[n]}" for n in less if less[n] != out[n])
        notes.append(f"{changed}: {groups} groups, where {most} run at once")
        out = less
    kept = [d.kept for d in choice.dims if d.kept and d.kept not in given]
    while True:
        groups = _groups(choice, out, trips)
        large = [k for k in kept if out[k] > FEWEST]
        if groups is None or 4 * groups >= 3 * limits.compute_units or not large:
            return out, tuple(notes)
        name = max(reversed(large), key=lambda n: out[n])
        units = f"{groups} groups for {limits.compute_units} compute units"
        notes.append(f"{name} {out[name]} -> {out[name] // 2}: {units}")
        out[name] //= 2


def _groups(choice: Choice, sizes: Sizes, trips: Mapping[str, int | None]) -> int | None:
    tiles = {d.loop: amount(d.factors, sizes) for d in choice.dims}
    total = 1
    for loop, count in trips.items():
        if count is None:
            return None
        total *= -(-count // tiles.get(loop, 1))
    return total
