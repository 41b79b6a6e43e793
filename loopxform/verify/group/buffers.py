"""Buffers of the device: bytes, and which of them were set; as memory that a kernel sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopxform.ir.types import Scalar
from loopxform.verify.group.fault import ExecutionError
from loopxform.verify.group.memory import Constant, Now, Output, Private
from loopxform.verify.group.types import Type, cells, numbers, size

_Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Buffer:
    """Memory of the device, in which nothing is set at first."""

    def __init__(self, nbytes: int) -> None:
        self.bytes: _Bytes = np.zeros(nbytes, np.uint8)
        self.is_set: np.ndarray[Any, np.dtype[np.bool_]] = np.zeros(nbytes, np.bool_)
        self.faults: dict[int, ExecutionError] = {}
        """Why a byte is not set that a kernel has written."""

    def memory(self, name: str, element: Type, now: Now | None) -> Private:
        """The buffer as elements of a type; without `now` it is only read."""
        width, count = cells(element), len(self.bytes) // size(element)
        data: list[Any] = [None] * (width * count)
        for n, (at, kind) in enumerate(numbers(element)):
            data[n::width] = self._column(element, count, at, kind)
        wide = element.bytes if isinstance(element, Scalar) else 1
        if now is None:
            return Constant(name, (), data, wide, width)
        return Output(name, data, wide, width, now)

    def take(self, data: list[Any], element: Type) -> None:
        """What a kernel has left in the elements."""
        width = cells(element)
        for n, (at, kind) in enumerate(numbers(element)):
            column = data[n::width]
            known = np.array([x is not None for x in column], np.bool_)
            values = np.array([0 if x is None else x for x in column], kind.numpy)
            self._place(self.bytes, element, at, kind)[...] = _as_bytes(values, kind)
            self._place(self.is_set, element, at, kind)[...] = known[:, None]

    def place_of(self, cell: int, element: Type) -> int:
        """The byte where a cell begins."""
        n, number = divmod(cell, cells(element))
        return n * size(element) + [at for at, _ in numbers(element)][number]

    def _column(self, element: Type, count: int, at: int, kind: Scalar) -> list[Any]:
        """One number of each element."""
        raw = np.ascontiguousarray(self._place(self.bytes, element, at, kind))
        values = raw.view(kind.numpy).reshape(count).tolist()
        known = self._place(self.is_set, element, at, kind).all(axis=1)
        return values if known.all() else [x if k else None for x, k in zip(values, known)]

    def _place(self, array: Any, element: Type, at: int, kind: Scalar) -> Any:
        rows = array[: len(array) // size(element) * size(element)].reshape(-1, size(element))
        return rows[:, at : at + kind.bytes]


def _as_bytes(values: Any, kind: Scalar) -> Any:
    return values.view(np.uint8).reshape(-1, kind.bytes)
