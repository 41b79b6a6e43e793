"""Structs as C lays them out in memory: each member at the next multiple of its alignment.

Those are the rules of the ABIs of 64-bit hosts and of OpenCL C (6.1.5) alike; who writes C asserts
them there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, TypeAlias

from loopxform.ir.types import Scalar
from loopxform.records import slotted

POINTER_BYTES = 8


@slotted
class Member:
    """`type` is None for a pointer: the struct holds its address only."""

    name: str
    type: Scalar | Record | None
    shape: tuple[int, ...]
    offset: int


@slotted
class Record:
    """A struct type. `spelling` is what C calls it: `struct body`, or the name of a typedef."""

    spelling: str
    members: tuple[Member, ...]
    bytes: int
    alignment: int

    @property
    def c(self) -> str:
        return self.spelling

    @property
    def numpy(self) -> Any:
        """What `numpy.dtype` makes a dtype of this layout from; pointers are numbers."""
        return {
            "names": [m.name for m in self.members],
            "formats": [
                (_numpy(m.type), m.shape) if m.shape else _numpy(m.type) for m in self.members
            ],
            "offsets": [m.offset for m in self.members],
            "itemsize": self.bytes,
        }

    def path(self, names: Sequence[str]) -> tuple[Member, ...] | None:
        """The members that `in.x` goes through, or None where there is no such member."""
        found = next((m for m in self.members if m.name == names[0]), None)
        if found is None or len(names) == 1:
            return None if found is None else (found,)
        rest = found.type.path(names[1:]) if isinstance(found.type, Record) else None
        return None if rest is None else (found, *rest)


Field: TypeAlias = tuple[str, Scalar | Record | None, tuple[int, ...]]


def record(spelling: str, fields: Iterable[Field]) -> Record:
    """The layout of the members in their order."""
    members: list[Member] = []
    end, alignment = 0, 1
    for name, t, shape in fields:
        own = _alignment(t)
        start = -(-end // own) * own
        members.append(Member(name, t, shape, start))
        end, alignment = start + size(t) * prod(shape), max(alignment, own)
    return Record(spelling, tuple(members), -(-end // alignment) * alignment, alignment)


def size(t: Scalar | Record | None) -> int:
    return POINTER_BYTES if t is None else t.bytes


def _alignment(t: Scalar | Record | None) -> int:
    return t.alignment if isinstance(t, Record) else size(t)


def _numpy(t: Scalar | Record | None) -> Any:
    return "uint64" if t is None else t.numpy
