"""Whether tile sizes fit a device, and sizes that do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

from loopxform.errors import LimitError
from loopxform.model.choice import Choice
from loopxform.model.resources import Demand
from loopxform.schedule.params import (
    ALONE,
    IN_A_ROW,
    KINDS,
    MOST_ROWS,
    ON_CPU,
    ROWS,
    WINDOWS,
    Tiles,
)
from loopxform.targets.target import Limits

Sizes = Mapping[str, int]
HALVED = ("Rx", "Ry", "Tk", "Ty", "Tx", "Tz")
"""Of sizes that are equal, the first is halved."""


def require(sizes: Sizes, names: tuple[str, ...], demand: Demand, limits: Limits) -> None:
    """Raises LimitError with each formula and the nearest sizes that fit."""
    broken = demand.broken(sizes, limits)
    if not broken:
        return
    near = nearest(sizes, names, lambda other: not demand.broken(other, limits))
    choices = "; ".join(_flags(n, sizes) for n in near)
    raise LimitError(
        f"the tile does not fit {limits.name}",
        notes=broken,
        help=f"nearest sizes that fit: {choices}" if choices else None,
    )


def nearest(
    sizes: Sizes, names: tuple[str, ...], fits: Callable[[Sizes], bool], most: int = 3
) -> list[dict[str, int]]:
    """Sizes that fit with the fewest and smallest changes (each parameter kept or reduced)."""
    choices = product(*(_smaller(sizes[n]) for n in names))
    candidates = ({**sizes, **dict(zip(names, c))} for c in choices)
    found = [c for c in candidates if fits(c)]

    def distance(new: Sizes) -> tuple[float, int]:
        lost = 1.0
        for n in names:
            lost *= sizes[n] / new[n]
        return lost, sum(new[n] != sizes[n] for n in names)

    return sorted(found, key=distance)[:most]


def _smaller(n: int) -> list[int]:
    """n, and the powers of two below it."""
    return [n] + [1 << b for b in range(n.bit_length()) if 1 << b < n]


def _flags(new: Sizes, old: Sizes) -> str:
    """Only what changes, as options."""
    return " ".join(f"--{name} {value}" for name, value in new.items() if value != old[name])


def defaults(choice: Choice, demand: Demand, limits: Limits, given: Sizes) -> dict[str, int]:
    """The sizes of `fitted`."""
    return fitted(choice, demand, limits, given)[0]


def fitted(
    choice: Choice, demand: Demand, limits: Limits, given: Sizes
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The default sizes of the recipe, with a register tile of 8 x 4 below 128 registers. Of those
    that a formula names which does not fit, the largest is halved, until everything fits around
    what the user gave; and why."""
    best = _on_cpu(choice, demand, limits) if limits.vector else dict(_best(choice).numbers)
    notes = []
    if not limits.vector and choice.has("register tile") and limits.registers < 128:
        best["Rx"] = 4
        if "Rx" not in given:
            notes.append(f"Rx 8 -> 4: there are {limits.registers} < 128 registers")
    words = all(s.item_bytes == 4 for s in demand.stages)
    if demand.buffers > 1 and words and best["Tk"] > 1:
        half = best["Tk"] // 2
        if "Tk" not in given:
            notes.append(f"Tk {best['Tk']} -> {half}: a tile has {demand.buffers} buffers")
        best["Tk"] = half
    best |= given
    # Of two buffers, fewer work-items that fill long tiles pay better than short ones.
    order = ("Rx", "Ry", "Ty", "Tx", "Tk", "Tz") if demand.buffers > 1 else HALVED
    free = [name for name in order if name not in given]
    sizes = dict(best)
    while exceeded := [u for u in demand.uses(sizes, limits) if u.total > u.most]:
        large = [name for name in free if sizes[name] > 1 and name in choice.names]
        helping = [name for name in large if re.search(rf"\b{name}\b", exceeded[0].formula)]
        if not helping:
            return best, ()
        name = max(helping, key=lambda n: sizes[n])
        notes.append(f"{name} {sizes[name]} -> {sizes[name] // 2}: {exceeded[0].exceeded}")
        sizes[name] //= 2
    return sizes, tuple(notes)


def _on_cpu(choice: Choice, demand: Demand, limits: Limits) -> dict[str, int]:
    """Two vectors of results along the lanes, in as many rows as registers hold."""
    best = dict(ON_CPU.get(choice.recipe, _best(choice)).numbers)
    if choice.has("register tile"):
        best["Rx"] = max(1, limits.vector // 2 // demand.operand)
        best["Ry"] = 1
        while best["Ry"] < MOST_ROWS and not demand.spills({**best, "Ry": best["Ry"] + 1}, limits):
            best["Ry"] += 1
    return best


def _best(choice: Choice) -> Tiles:
    """The sizes of a recipe where the device has room for everything."""
    if choice.tiles is not None:
        return choice.tiles
    if choice.recipe == "stencil" and len(choice.dims) == 1:
        return ALONE
    if choice.recipe == "group" and len(choice.group) == 1:
        return IN_A_ROW
    if choice.recipe == "1-d" and choice.read_once:
        bytes = max(4, *(s.item_bytes for s in choice.read_once))
        return replace(ROWS, Tk=ROWS.Tk * 4 // bytes)
    window = any(isinstance(f, int) for s in choice.stages for u in s.uses for f in u)
    return WINDOWS if choice.has("register tile") and window else KINDS[choice.recipe].tiles
