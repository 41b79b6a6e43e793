"""How much parallelism fills a device: the defaults of thresholds.

A compute unit takes at least one group of the largest size. Where the number of units is not known,
it is `Costs.units`: 32 units of 1024 work-items are the 2^15 of Rotendahl and Larsen (section 4).
"""

from __future__ import annotations

from loopxform.targets.target import Limits


def filling_items(limits: Limits) -> int:
    """The work-items that a device runs at the same time."""
    return (limits.compute_units or limits.costs.units) * limits.group_size


def busy_items(limits: Limits) -> int:
    """The work-items that keep the arithmetic of a device busy."""
    units = limits.compute_units or limits.costs.units
    return min(filling_items(limits), units * limits.costs.busy_warps * limits.warp)


def filling_groups(limits: Limits, items: int) -> int:
    """The groups of so many work-items that a device runs at the same time."""
    return max(1, filling_items(limits) // items)


def busy_rows(limits: Limits) -> int:
    """From how many rows on they keep a device busy that has a work-item for each."""
    return (limits.compute_units or limits.costs.units) * limits.costs.unit_rows


def in_turn(limits: Limits, items: int) -> int:
    """The work-items, in groups of so many, that keep each unit busy of a device that runs those of
    a group in turn, while another unit ends its last group."""
    return (limits.compute_units or limits.costs.units) * 2 * items
