"""Arrays as the interpreter sees them: every access checked, unset elements known.

Elements are Python numbers in row-major order; None is an element that was never set, or whose
copy lay beyond the limit of its source (poison).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Number = int | float
Element = Number | None


class Fault(Exception):
    """Something the program must not do, raised while it runs; the place is added above."""


class Memory:
    """One array. `dims` are its extents; `size` counts the elements that exist, which for a flat
    array need not be a multiple of the inner extents.

    `get` and `set` take any number of subscripts; `get1`, `set1` to `get5`, `set5` (MAX_RANK) are
    the same for so many, in one expression: programs spend most of their time there."""

    __slots__ = ("data", "dims", "name", "size")

    def __init__(self, name: str, dims: tuple[int, ...], data: list[Any]) -> None:
        self.name = name
        self.dims = dims
        self.data = data
        self.size = len(data)

    def get1(self, i: int) -> Number:
        if not 0 <= i < self.size:
            raise self._outside((i,))
        value: Element = self.data[i]
        if value is None:
            raise self._unset((i,))
        return value

    def set1(self, i: int, value: Number) -> None:
        if not 0 <= i < self.size:
            raise self._outside((i,))
        self.data[i] = value

    def get(self, *index: int) -> Number:
        value = self.data[self.offset(index)]
        if value is None:
            raise self._unset(index)
        return value  # type: ignore[no-any-return]

    def set(self, *index_and_value: Any) -> None:
        self.data[self.offset(index_and_value[:-1])] = index_and_value[-1]

    def offset(self, index: Sequence[int]) -> int:
        """Row-major position; raises Fault where an index is outside of its extent."""
        at = 0
        for i, n in zip(index, self.dims):
            if not 0 <= i < n:
                raise self._outside(index)
            at = at * n + i
        if at >= self.size:
            raise self._outside(index)
        return at

    def offsets(self, rows: Sequence[Sequence[int | None]]) -> list[int | None]:
        """The positions of all elements with a subscript of each row, in row-major order; None
        where one of them is None. Raises Fault where an element is outside."""
        inside = all(i is None or 0 <= i < n for row, n in zip(rows, self.dims) for i in row)
        every: list[int | None] = [0]
        for row, n in zip(rows, self.dims):
            every = [None if at is None or i is None else at * n + i for at in every for i in row]
        if inside and all(at is None or at < self.size for at in every):
            return every
        return [self._offset_of(index) for index in itertools.product(*rows)]

    def _offset_of(self, index: Sequence[int | None]) -> int | None:
        known = [i for i in index if i is not None]
        return self.offset(known) if len(known) == len(index) else None

    def _outside(self, index: Sequence[int]) -> Fault:
        extents = "".join(f"[{n}]" for n in self.dims)
        return Fault(f"{self._element(index)} is outside of {self.name}{extents}")

    def _unset(self, index: Sequence[int]) -> Fault:
        return Fault(f"{self._element(index)} is read before it is set")

    def _element(self, index: Sequence[int]) -> str:
        return self.name + "".join(f"[{i}]" for i in index)


MAX_RANK = 5
"""The largest number of subscripts that `Memory` has methods for of their own."""

_ACCESS = """
def get{rank}(self, {index}):
    {extents} = self.dims
    at = {place}
    if not ({inside} and at < self.size):
        raise self._outside(({index},))
    value = self.data[at]
    if value is None:
        raise self._unset(({index},))
    return value

def set{rank}(self, {index}, value):
    {extents} = self.dims
    at = {place}
    if not ({inside} and at < self.size):
        raise self._outside(({index},))
    self.data[at] = value
"""


def _access(rank: int) -> str:
    place = "i0"
    for k in range(1, rank):
        place = f"({place}) * n{k} + i{k}"
    return _ACCESS.format(
        rank=rank,
        index=", ".join(f"i{k}" for k in range(rank)),
        extents=", ".join(f"n{k}" for k in range(rank)),
        inside=" and ".join(f"0 <= i{k} < n{k}" for k in range(rank)),
        place=place,
    )


for _rank in range(2, MAX_RANK + 1):
    _methods: dict[str, Any] = {}
    exec(_access(_rank), _methods)
    for _name in (f"get{_rank}", f"set{_rank}"):
        setattr(Memory, _name, _methods[_name])


def allocate(name: str, dims: tuple[int, ...]) -> Memory:
    """A local array: nothing in it is set yet."""
    if any(n < 0 for n in dims):
        raise Fault(f"{name} is declared with a negative extent")
    return Memory(name, dims, [None] * math.prod(dims))


SliceSpec = tuple[int, int | None, int | None, bool, int | None]
"""lo, size, limit, clamp and floor of `ir.nodes.Slice`, as numbers."""


def copy(
    target: Memory,
    source: Memory,
    slices: Sequence[SliceSpec],
    convert: Callable[[Any], Number] | None,
    pad: Element,
) -> None:
    """`target = source[slices]`. Elements beyond a limit become `pad` (or the last valid element
    where clamped); poison in the source is copied as poison."""
    rows = [[_clamped(s[0] + n, s) for n in range(1 if s[1] is None else s[1])] for s in slices]
    places = target.offsets([range(s[1]) for s in slices if s[1] is not None])
    for at, place in zip(source.offsets(rows), places):
        assert place is not None
        value = pad if at is None else source.data[at]
        if at is not None and value is not None and convert is not None:
            value = convert(value)
        target.data[place] = value


def _clamped(i: int, s: SliceSpec) -> int | None:
    limit, floor = s[2], s[4]
    i = i if floor is None else max(i, floor)
    if limit is None or i < limit:
        return i
    return limit - 1 if s[3] else None
