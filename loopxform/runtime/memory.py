"""Where the elements of an array argument are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """The elements of an array argument: how many, in which shape (None: a plain buffer), and the
    bytes from `start` to `end` of the memory `owner`."""

    elements: int
    shape: tuple[int, ...] | None
    owner: Hashable
    start: int
    end: int

    def meets(self, other: Memory) -> bool:
        """Whether the two have a byte in common."""
        inside = max(self.start, other.start) < min(self.end, other.end)
        return self.owner == other.owner and inside
