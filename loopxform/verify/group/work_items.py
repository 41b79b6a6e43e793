"""The work-items of a launch, advanced from barrier to barrier in a shuffled order.

Groups run one after the other, and of a group each work-item up to the next barrier. What depends
on the order is found by comparing accesses (`memory`), in whatever order they come.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from loopxform.ir.tensor_tiles import INSTRUCTIONS, MATRIX
from loopxform.ir.warp_groups import GROUP_INSTRUCTIONS, shape_of
from loopxform.records import record
from loopxform.verify import memory as trees_memory
from loopxform.verify.group.fault import ExecutionError, GroupFault, Item, Kind, Place
from loopxform.verify.group.function_writer import FENCES
from loopxform.verify.group.kernel_code import KernelCode
from loopxform.verify.group.memory import EPOCHS, KERNELS, Now, Private, Shared
from loopxform.verify.group.tile_products import (
    WARP,
    lines_of,
    own_products,
    own_sums,
    own_words,
)

_LOCAL, _GLOBAL = FENCES["CLK_LOCAL_MEM_FENCE"], FENCES["CLK_GLOBAL_MEM_FENCE"]
_PIECES = (4, 8, 16)
"""Bytes that the hardware copies at once."""


@record
class _Copy:
    """Data on their way: from where they were read, to which cells."""

    to: Shared
    cells: range
    values: tuple[Any, ...]


class WorkItem:
    """What a work-item knows of itself, and the asynchronous copies that it has started."""

    def __init__(self, number: int, local_id: Item, shape: Item, groups: Item) -> None:
        self.number = number
        self.local_id = local_id
        self.group_id: Item = (0, 0, 0)
        self.local_size = shape
        self.num_groups = groups
        self._started: list[_Copy] = []
        self._committed: list[list[_Copy]] = []
        self.group: Sequence[WorkItem] = ()
        self._shown: dict[int, tuple[Any, ...]] = {}
        self._turn = 0

    def start(self, to: Private, cell: int, source: Private, at: int, size: int) -> None:
        """Copies `size` bytes, which are read now and arrive some time before they are waited
        for."""
        count = size // to.bytes
        if not isinstance(to, Shared) or size not in _PIECES or count * to.bytes != size:
            raise GroupFault("copy", f"{size} bytes cannot be copied to {to.element(cell)}")
        to.require_vector(cell, count, aligned=True)
        source.require_vector(at, count, aligned=True)
        values = tuple(source.load(at + n) for n in range(count))
        cells = range(cell, cell + count)
        to.expect(cells)
        self._started.append(_Copy(to, cells, values))

    def commit(self) -> None:
        self._committed.append(self._started)
        self._started = []

    def wait(self, last: int) -> None:
        """All that was committed has arrived, but the last so many."""
        while len(self._committed) > last:
            for c in self._committed.pop(0):
                c.to.arrive(c.cells, c.values)

    def show(self, *words: Any) -> None:
        """Words of a few rows of the left operand of a product of tiles, and of a column of the
        right one."""
        self._turn = 1 - self._turn
        self._shown[self._turn] = words

    def show_row(self, of: Private, cell: int) -> None:
        """A row of a matrix, which begins at a cell."""
        count = MATRIX // of.bytes
        if not isinstance(of, Shared) or of.bytes != 2:
            raise GroupFault("copy", f"{of.element(cell)} begins no row of 16 bits each")
        of.require_vector(cell, count, aligned=True)
        self.show(*(of.load(cell + n) for n in range(count)))

    def matrices(self, turned: bool) -> tuple[Any, ...]:
        """Its words of the matrices whose rows the work-items of its warp have shown."""
        number, rows = self._in_warp(WARP)
        return own_words(number, rows, turned=turned)

    def products(self, macro: str, *results: Any) -> tuple[Any, ...]:
        """Its elements of the result, of what the work-items of its warp have shown."""
        tile = INSTRUCTIONS[macro].tile
        place, shown = self._in_warp(tile.high * tile.wide)
        return own_products(INSTRUCTIONS[macro], place, shown, results)

    def products_of_warps(
        self, macro: str, operands: Sequence[tuple[Private, int, int]], *results: Any
    ) -> tuple[Any, ...]:
        """Its elements of the result of four warps: each operand begins at a cell of local memory,
        and lies there as its shape says."""
        product = GROUP_INSTRUCTIONS[macro]
        together = product.tile.warps * WARP
        lines = lines_of(product, self.place % together)
        terms = list[list[list[Any]]]()
        for (of, cell, bits), own, panels in zip(operands, lines, (False, product.panels)):
            if not isinstance(of, Shared) or of.bytes != product.type.bytes:
                raise GroupFault("copy", f"{of.element(cell)} begins no operand")
            places = (
                shape_of(bits).cells(of.bytes * cell, line, product.tile.depth, panels=panels)
                for line in own
            )
            terms.append([[of.load(at // of.bytes) for at in line] for line in places])
        return own_sums(product, terms[0], terms[1], results)

    @property
    def place(self) -> int:
        """Its number in its group."""
        x, y, z = self.local_id
        return (z * self.local_size[1] + y) * self.local_size[0] + x

    def _in_warp(self, size: int) -> tuple[int, list[tuple[Any, ...]]]:
        """Its place in its warp, and what the work-items of that have shown."""
        number = self.place
        first = number - number % size
        shown = [item._shown[self._turn] for item in self.group[first : first + size]]
        return number % size, shown


class Launch:
    """One launch of a kernel; `lines` are those of the text of its program, `origins` lead from
    the Python that runs to them."""

    def __init__(
        self,
        code: KernelCode,
        groups: Item,
        shape: Item,
        outside: Now,
        lines: Sequence[str],
        origins: Sequence[int],
    ) -> None:
        self.code = code
        self.groups = groups
        self.shape = shape
        self.inside, self.outside = Now(), outside
        self.inside.name = self.outside.name = self._name
        self.lines = lines
        self.origins = origins

    def run(self, arguments: Sequence[Any], rng: random.Random) -> None:
        """Raises ExecutionError."""
        every = list(_places(self.groups))
        for group in rng.sample(every, len(every)):
            _Group(self, group, arguments, rng).run()

    def number(self, group: Item) -> int:
        return (group[2] * self.groups[1] + group[1]) * self.groups[0] + group[0]

    @property
    def items(self) -> int:
        """In a group."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    def _name(self, item: int) -> str:
        """`(1, 0, 0) of group (0, 2, 0)`"""
        group, local = divmod(item, self.items)
        return f"{_place(local, self.shape)} of group {_place(group, self.groups)}"

    def error(self, what: str, kind: Kind, item: int, python: int) -> ExecutionError:
        """Of a work-item by its number, in a line of the Python."""
        line = self.origins[python - 1] if python else 0
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        group, local = divmod(item, self.items)
        place = Place(
            self.code.name, line, text, _place(local, self.shape), _place(group, self.groups)
        )
        return ExecutionError(what, kind, place)


class _Group:
    def __init__(
        self, launch: Launch, group: Item, arguments: Sequence[Any], rng: random.Random
    ) -> None:
        self.launch = launch
        self.rng = rng
        self.first = launch.number(group) * EPOCHS
        self.epochs = {_LOCAL: 0, _GLOBAL: 0}
        shared = [
            Shared(a.name, a.extents, [None] * a.cells, a.bytes, 1, launch.inside)
            for a in launch.code.locals
        ]
        self.arguments = [*arguments, *shared]
        base = launch.number(group) * launch.items
        self.items = [
            WorkItem(base + n, place, launch.shape, launch.groups)
            for n, place in enumerate(_places(launch.shape))
        ]
        for item in self.items:
            item.group_id = group
            item.group = self.items

    def run(self) -> None:
        if not self.launch.code.barriers:
            for item in self.rng.sample(self.items, len(self.items)):
                self._advance(item, None)
            return
        runs = {item: self.launch.code.run(item, *self.arguments) for item in self.items}
        while True:
            order = self.rng.sample(self.items, len(self.items))
            meetings = [(item, self._advance(item, runs[item])) for item in order]
            fences = self._met(meetings)
            if fences is None:
                return
            for space in self.epochs:
                self.epochs[space] += bool(fences & space)

    def _advance(self, item: WorkItem, run: Iterator[Any] | None) -> Any:
        """The barrier that a work-item gets to; None where it ends."""
        launch = self.launch
        launch.inside.access = (item.number, self.first + self.epochs[_LOCAL])
        launch.outside.access = (item.number, self.first + self.epochs[_GLOBAL])
        try:
            if run is None:
                launch.code.run(item, *self.arguments)
                return None
            return next(run, None)
        except GroupFault as e:
            raise launch.error(str(e), e.kind, item.number, _line(e)) from e
        except trees_memory.Fault as e:
            raise launch.error(str(e), "arithmetic", item.number, _line(e)) from e

    def _met(self, meetings: Sequence[tuple[WorkItem, Any]]) -> int | None:
        """The fences of the barrier where all work-items are; None where all have ended."""
        item, first = meetings[0]
        for other, where in meetings:
            if where != first:
                lines = [None if m is None else m[2] for m in (first, where)]
                texts = f"{item.local_id} {_at(lines[0])}, {other.local_id} {_at(lines[1])}"
                what, python = f"work-items do not meet: {texts}", (first or where)[3]
                raise self.launch.error(what, "barrier", item.number, python)
        return None if first is None else int(first[1])


def _at(line: int | None) -> str:
    return "ends" if line is None else f"waits at the barrier of line {line}"


def _line(e: BaseException) -> int:
    """The line of the Python that raised an error."""
    line, trace = 0, e.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == KERNELS:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _places(shape: Item) -> Iterator[Item]:
    for z, y, x in product(*(range(n) for n in reversed(shape))):
        yield x, y, z


def _place(number: int, shape: Item) -> Item:
    number, x = divmod(number, shape[0])
    z, y = divmod(number, shape[1])
    return x, y, z
