"""Attention in one kernel: which tile a device has room for, and whether it pays.

Three kernels write all scores, read them for the softmax of each row, write the weights and read
these: `PASSES` times an element of each. One kernel instead scales what it has summed up so far
whenever it has another tile of keys, and asks all work-items of a row for its largest score.
"""

from __future__ import annotations

from loopxform.records import record
from loopxform.targets.target import Limits

PASSES = 5
"""How often three kernels move an element of the scores: the softmax reads it twice."""

ADDRESSES = 32
"""Registers of a work-item besides those of the tile."""


DEPTH = 16
"""Terms of a sum in local memory at a time."""


@record
class AttentionTile:
    """Work-items along rows and keys, rows and keys of each of them, the most components of a
    value, and how many terms of a sum are in local memory at a time."""

    items: tuple[int, int]
    elements: tuple[int, int]
    width: int
    depth: int

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...], str, str]:
        """As the step has them."""
        items, elements = (tuple(map(str, x)) for x in (self.items, self.elements))
        return items, elements, str(self.width), str(self.depth)

    @property
    def text(self) -> str:
        y, x = self.items
        rows, keys = self.elements
        return f"{y * rows} rows, {x * keys} keys"

    def registers(self, bytes: int) -> int:
        """Words of a work-item for elements of so many bytes."""
        rows, keys = self.elements
        each = rows * (keys + self.width // self.items[1] + 3) + keys
        return each * bytes // 4 + ADDRESSES

    def local_bytes(self, bytes: int) -> int:
        """What a group has in local memory."""
        y, x = self.items
        wide = y * self.elements[0] + 4
        return bytes * (self.depth * (2 * wide + x * self.elements[1] + self.width) + x * wide)


def tiles(limits: Limits, bytes: int) -> tuple[AttentionTile, ...]:
    """The tile for values of at most so many components, for each of the widths that the profile
    names: the first of its shapes that fits; none where one kernel does not pay."""
    out = list[AttentionTile]()
    for width in limits.attention_widths:
        every = (_tile(text, width) for text in limits.attention_tiles)
        found = next(
            (t for t in every if _fits(t, limits, bytes) and _pays(t, limits, bytes)), None
        )
        out += [] if found is None else [found]
    return tuple(out)


def _tile(text: str, width: int) -> AttentionTile:
    """`16x8 8x8`: work-items, and elements of each."""
    items, elements = (tuple(map(int, x.split("x"))) for x in text.split())
    depth = min(DEPTH, items[1] * elements[1])
    return AttentionTile((items[0], items[1]), (elements[0], elements[1]), width, depth)


def _fits(t: AttentionTile, limits: Limits, bytes: int) -> bool:
    count = t.items[0] * t.items[1]
    enough = t.registers(bytes) <= limits.registers and count <= limits.group_size
    return enough and t.local_bytes(bytes) <= limits.local_bytes


def _pays(t: AttentionTile, limits: Limits, bytes: int) -> bool:
    """Whether moving scores takes longer than what one kernel computes in its place, in operations
    for each score."""
    if limits.vector or limits.warp < 2:
        return False
    rate = (
        limits.peak / limits.bandwidth if limits.peak and limits.bandwidth else limits.costs.balance
    )
    components, x, keys = t.width // t.items[1], t.items[1], t.elements[1]
    scaled = (components + limits.costs.function + x * limits.costs.local_read + 8) / keys
    return PASSES * bytes * rate > scaled
