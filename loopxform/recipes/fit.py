"""Whether tile sizes fit a device: group size, local memory, registers (seed 000, section 2.2.4).

Ty * Tx                          <= work-items of a group
Tk * (sA*Ty*Ry + sB*Tx*Rx + ...) <= local memory of a group, one term per staged array
Ry + Rx + Ry*Rx + margin         <= registers of a work-item (64-bit elements count twice)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from loopxform.errors import LimitError
from loopxform.recipes.limits import Limits
from loopxform.recipes.sizes import MARGIN, NAMES, Demand, Tiles, Variant


def violations(t: Tiles, demand: Demand, limits: Limits, variant: Variant) -> tuple[str, ...]:
    """Each limit that is broken, as a formula with numbers."""
    return tuple(text for ok, text in _checks(t, demand, limits, variant) if not ok)


def _checks(
    t: Tiles, demand: Demand, limits: Limits, variant: Variant
) -> Iterator[tuple[bool, str]]:
    items = t.Ty * t.Tx
    yield (
        items <= limits.group_size,
        f"group size: Ty*Tx = {t.Ty}*{t.Tx} = {items} > {limits.group_size} work-items",
    )
    for name, size, most in (
        ("Tx", t.Tx, limits.item_sizes[0]),
        ("Ty", t.Ty, limits.item_sizes[1]),
    ):
        yield size <= most, f"group size: {name} = {size} > {most} work-items in one dimension"
    if variant == "naive":
        return
    local = demand.local_bytes(t)
    row, column = "+".join(map(str, demand.rows)), "+".join(map(str, demand.columns))
    yield (
        local <= limits.local_bytes,
        f"local memory: Tk*(sA*Ty*Ry + sB*Tx*Rx) = {t.Tk}*({row}*{t.Ty}*{t.Ry} + "
        f"{column}*{t.Tx}*{t.Rx}) = {local} > {limits.local_bytes} bytes",
    )
    if variant == "register":
        words = f"{demand.words}*" if demand.words > 1 else ""
        needed = demand.registers(t)
        yield (
            needed <= limits.registers,
            f"registers: {words}(Ry + Rx + Ry*Rx) + {MARGIN} = {words}({t.Ry} + {t.Rx} + "
            f"{t.Ry}*{t.Rx}) + {MARGIN} = {needed} > {limits.registers}",
        )


def require(t: Tiles, demand: Demand, limits: Limits, variant: Variant) -> None:
    """Raises LimitError with each formula and the nearest sizes that fit."""
    broken = violations(t, demand, limits, variant)
    if not broken:
        return
    near = nearest(t, lambda other: not violations(other, demand, limits, variant))
    choices = "; ".join(_flags(n, t) for n in near)
    raise LimitError(
        f"the tile does not fit {limits.name}",
        notes=broken,
        help=f"nearest sizes that fit: {choices}" if choices else None,
    )


def nearest(t: Tiles, fits: Callable[[Tiles], bool], most: int = 3) -> list[Tiles]:
    """Sizes that fit with the fewest and smallest changes (each parameter kept or reduced)."""
    found = []
    for sizes in product(*(_smaller(n) for n in (t.Ty, t.Tx, t.Tk, t.Ry, t.Rx))):
        candidate = Tiles(*sizes)
        if fits(candidate):
            found.append(candidate)
    original = (t.Ty, t.Tx, t.Tk, t.Ry, t.Rx)

    def distance(c: Tiles) -> tuple[float, int]:
        new = (c.Ty, c.Tx, c.Tk, c.Ry, c.Rx)
        lost = 1.0
        for a, b in zip(original, new):
            lost *= a / b
        return lost, sum(a != b for a, b in zip(original, new))

    return sorted(found, key=distance)[:most]


def _smaller(n: int) -> list[int]:
    """n, and the powers of two below it."""
    return [n] + [1 << b for b in range(n.bit_length()) if 1 << b < n]


def _flags(new: Tiles, old: Tiles) -> str:
    """Only what changes, as options."""
    pairs = [(name, getattr(new, name)) for name in NAMES]
    return " ".join(f"--{name} {value}" for name, value in pairs if value != getattr(old, name))


def defaults(limits: Limits, given: Mapping[str, int], demand: Demand, variant: Variant) -> Tiles:
    """16x16 work-items, Tk 16, an 8x8 register tile where the device has the registers (8x4
    below 128), each reduced until everything fits around what the user gave."""
    best = Tiles(Rx=8 if limits.registers >= 128 else 4)
    start = replace(best, **given)
    free = [name for name in ("Rx", "Ry", "Tk", "Ty", "Tx") if name not in given]
    while violations(start, demand, limits, variant):
        large = [name for name in free if getattr(start, name) > 1]
        if not large:
            return replace(best, **given)
        name = max(large, key=lambda n: getattr(start, n))
        start = replace(start, **{name: getattr(start, name) // 2})
    return start
