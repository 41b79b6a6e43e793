"""Memory of a launch: every access checked, and compared with those of other work-items.

A cell holds a Python number, None (nothing has set it), or what was computed from such (`Unset`).
Two accesses of one cell race where they are of two work-items, one of them writes, and no barrier
stands between: none can between work-items of two groups. Two that write the same value do not, as
Oclgrind has it, nor do two atomic updates by one operator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from loopxform.verify.group.fault import GroupFault, Kind
from loopxform.verify.group.unset import Unset

Cell = Any
"""A number, a tuple of them, an `Unset`, or None."""

Access = tuple[int, int]
"""Number of the work-item, and of the stretch between barriers of its group."""

MANY = -1
"""Several work-items, or stretches of several groups."""

KERNELS = "<kernels>"
"""The file name of the Python that kernels are run as."""

EPOCHS = 1 << 20
"""More than a group has barriers: stretch // EPOCHS is the group."""


class Now:
    """The work-item that runs, as memory of one space sees it; `name` spells a work-item."""

    __slots__ = ("access", "name")

    def __init__(self) -> None:
        self.access: Access = (0, 0)
        self.name: Callable[[int], str] = str


class Private:
    """Memory of one work-item, and what is common to all memory."""

    __slots__ = ("bytes", "data", "extents", "name", "per_element", "size")

    def __init__(
        self,
        name: str,
        extents: tuple[int, ...],
        data: list[Cell],
        element_bytes: int = 1,
        per_element: int = 1,
    ) -> None:
        self.name = name
        self.extents = extents
        self.data = data
        self.size = len(data)
        self.bytes = element_bytes
        self.per_element = per_element

    def load(self, cell: int) -> Cell:
        if not 0 <= cell < self.size:
            raise self.outside(cell)
        value = self.data[cell]
        return Unset(self.element(cell)) if value is None else value

    def store(self, cell: int, value: Cell) -> None:
        if not 0 <= cell < self.size:
            raise self.outside(cell)
        self.data[cell] = value

    def load_vector(self, cell: int, width: int, *, aligned: bool) -> Cell:
        self.require_vector(cell, width, aligned=aligned)
        return tuple(self.load(cell + n) for n in range(width))

    def store_vector(self, cell: int, values: Sequence[Cell], *, aligned: bool) -> None:
        self.require_vector(cell, len(values), aligned=aligned)
        for n, value in enumerate(values):
            self.store(cell + n, value)

    def require_vector(self, cell: int, width: int, *, aligned: bool) -> None:
        """That a vector lies in a row, and at a multiple of its size if it has to."""
        if not 0 <= cell <= self.size - width:
            raise self.outside(cell + width - 1 if cell >= 0 else cell)
        if len(self.extents) > 1 and cell % self.extents[-1] + width > self.extents[-1]:
            raise self.fault("bounds", cell, f"begins a vector of {width} that leaves its row")
        if aligned and cell % width:
            raise self.fault("alignment", cell, f"is no place for an aligned vector of {width}")

    # ------------------------------------------------------------ what is reported

    def element(self, cell: int) -> str:
        """`A[2][3]`"""
        if self.per_element > 1:
            return f"{self.name}[{cell // self.per_element}], number {cell % self.per_element}"
        index = []
        for n in reversed(self.extents[1:]):
            index.append(cell % n)
            cell //= n
        return self.name + "".join(f"[{i}]" for i in (cell, *reversed(index)))

    def fault(self, kind: Kind, cell: int, what: str) -> GroupFault:
        return GroupFault(kind, f"{self.element(cell)} {what}")

    def outside(self, cell: int) -> GroupFault:
        extents = "".join(f"[{n}]" for n in self.extents)
        if not extents:
            extents = f"[{self.size // self.per_element}]"
        return self.fault("bounds", cell, f"is outside of {self.name}{extents}")


class Constant(Private):
    """Memory that a launch only reads."""

    __slots__ = ()

    def store(self, cell: int, value: Cell) -> None:  # noqa: ARG002
        raise self.fault("bounds", cell, "is written, and its memory is constant")


class Shared(Private):
    """Memory that several work-items read and write."""

    __slots__ = ("now", "pending", "readers", "updaters", "writers")

    def __init__(
        self,
        name: str,
        extents: tuple[int, ...],
        data: list[Cell],
        element_bytes: int,
        per_element: int,
        now: Now,
    ) -> None:
        super().__init__(name, extents, data, element_bytes, per_element)
        self.now = now
        self.writers: dict[int, Access] = {}
        self.readers: dict[int, Access] = {}
        self.updaters: dict[str, dict[int, Access]] = {}
        self.pending: dict[int, int] = {}
        """The work-items whose asynchronous copies have not arrived, by cell."""

    def load(self, cell: int) -> Cell:
        if not 0 <= cell < self.size:
            raise self.outside(cell)
        own = self.now.access
        other = self.writers.get(cell)
        if other is not None and other[0] != own[0] and _unordered(other, own):
            raise self._race(cell, "written", other, "read")
        for others in self.updaters.values():
            self._require_ordered(others, cell, "updated", "read")
        known = self.readers.get(cell)
        if known is not own:
            self.readers[cell] = own if known is None else _both(known, own)
        if self.pending:
            self._require_arrived(cell)
        value = self.data[cell]
        return Unset(self.element(cell)) if value is None else value

    def store(self, cell: int, value: Cell) -> None:
        if not 0 <= cell < self.size:
            raise self.outside(cell)
        if self.pending:
            self._require_arrived(cell)
        self._write(cell, value)

    def _write(self, cell: int, value: Cell) -> None:
        own = self.now.access
        other = self.writers.get(cell)
        apart = other is not None and other[0] != own[0]
        if other is not None and apart and _unordered(other, own) and self._changes(cell, value):
            raise self._race(cell, "written", other, "written")
        known = self.readers.get(cell)
        if known is not None:
            if known[0] != own[0] and _unordered(known, own):
                raise self._race(cell, "read", known, "written")
            del self.readers[cell]
        for others in self.updaters.values():
            self._require_ordered(others, cell, "updated", "written")
        self.writers[cell] = own
        self.data[cell] = value

    def exchange(self, cell: int, new: Callable[[Cell], Cell]) -> Cell:
        """An atomic update that gives the value before. It is ordered with others of its kind."""
        before = self.data[cell] if 0 <= cell < self.size else None
        self.update(cell, "exchange", new)
        return Unset(self.element(cell)) if before is None else before

    def update(self, cell: int, op: str, new: Callable[[Cell], Cell]) -> None:
        """An atomic update by an operator: nothing else may happen at the same time."""
        if not 0 <= cell < self.size:
            raise self.outside(cell)
        self._require_ordered(self.writers, cell, "written", "updated")
        self._require_ordered(self.readers, cell, "read", "updated")
        for other, others in self.updaters.items():
            if other != op:
                self._require_ordered(others, cell, f"updated ({other})", f"updated ({op})")
        if self.pending:
            self._require_arrived(cell)
        known = self.updaters.setdefault(op, {})
        own = self.now.access
        known[cell] = own if cell not in known else _both(known[cell], own)
        old = self.data[cell]
        self.data[cell] = new(Unset(self.element(cell)) if old is None else old)

    def _require_ordered(
        self, others: dict[int, Access], cell: int, first: str, second: str
    ) -> None:
        """That a barrier stands between an access and those of another kind."""
        own, other = self.now.access, others.get(cell)
        if other is not None and other[0] != own[0] and _unordered(other, own):
            raise self._race(cell, first, other, second)

    def _changes(self, cell: int, value: Cell) -> bool:
        return repr(self.data[cell]) != repr(value)

    # ------------------------------------------------------------ asynchronous copies

    def expect(self, cells: range) -> None:
        """Data are on their way to these cells: they may be written from now on."""
        for cell in cells:
            if not 0 <= cell < self.size:
                raise self.outside(cell)
            self._require_arrived(cell)
            self._write(cell, None)
            self.pending[cell] = self.now.access[0]

    def arrive(self, cells: range, values: Sequence[Cell]) -> None:
        """They are there; others see them behind the next barrier."""
        for cell, value in zip(cells, values):
            del self.pending[cell]
            self._write(cell, value)

    def _require_arrived(self, cell: int) -> None:
        if cell in self.pending:
            item = self.now.name(self.pending[cell])
            what = f"is touched before the asynchronous copy of work-item {item} has arrived"
            raise self.fault("copy", cell, what)

    def _race(self, cell: int, first: str, other: Access, second: str) -> GroupFault:
        name = self.now.name
        items = "several work-items" if other[0] == MANY else f"work-item {name(other[0])}"
        own = f"by work-item {name(self.now.access[0])}"
        what = f"is {first} by {items} and {second} {own} with no barrier between"
        return self.fault("race", cell, what)


class Output(Shared):
    """Global memory. A value that was never set is a fault there once it goes back to the caller:
    `unset` says for each cell whose fault, in which line of the Python."""

    __slots__ = ("unset",)

    def __init__(
        self, name: str, data: list[Cell], element_bytes: int, per_element: int, now: Now
    ) -> None:
        super().__init__(name, (), data, element_bytes, per_element, now)
        self.unset: dict[int, tuple[GroupFault, int, int]] = {}

    def _write(self, cell: int, value: Cell) -> None:
        if value.__class__ is Unset:
            what = f"is computed from {value!r}, which was never set"
            self.unset[cell] = self.fault("unset", cell, what), self.now.access[0], _line()
            value = None
        super()._write(cell, value)


def _line() -> int:
    """Of the kernel that is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != KERNELS:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def _unordered(other: Access, own: Access) -> bool:
    """Of two work-items."""
    stretch = other[1]
    return stretch in (own[1], MANY) or stretch // EPOCHS != own[1] // EPOCHS


def _both(known: Access, own: Access) -> Access:
    """Who has read, as far as it matters to who writes next: of one group, those behind its last
    barrier; of two groups, all."""
    if known[1] == own[1]:
        return known if known[0] in (own[0], MANY) else (MANY, own[1])
    same = known[1] != MANY and known[1] // EPOCHS == own[1] // EPOCHS
    return own if same else (MANY, MANY)
