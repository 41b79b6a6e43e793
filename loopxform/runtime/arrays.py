"""Array arguments: what a kernel may be given, and where in memory it lies.

A kernel sees the elements from the address of the argument on, in the order of C. What does not
look like that is refused: another element type or byte order, Fortran order, strides, a view that
does not start its buffer, memory of another context, or memory that may not be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from loopxform.errors import ArgumentError
from loopxform.runtime.memory import Memory
from loopxform.runtime.queue import Queue

HOST = "host"


def memory_of(
    name: str, value: Any, dtype: str, *, read: bool, written: bool, queue: Queue
) -> Memory:
    """The memory of an argument that fits a pointer to `dtype`, which the kernel reads or writes
    in `queue`. Raises ArgumentError."""
    if isinstance(value, np.ndarray):
        return _numpy(name, value, np.dtype(dtype), written=written)
    there = queue.memory(name, value, np.dtype(dtype), read=read, written=written)
    if there is not None:
        return there
    kind = type(value).__name__
    raise ArgumentError(
        f"{name} must be an array or a buffer of {dtype}, not {kind}",
        help=f"pass a numpy array{queue.takes}",
    )


def _numpy(
    name: str, array: np.ndarray[Any, Any], dtype: np.dtype[Any], *, written: bool
) -> Memory:
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is masked: a kernel sees no masks", help=f"{name}.filled(...)")
    elements_fit(name, array, dtype)
    if not array.flags.aligned:
        raise ArgumentError(f"{name} is not aligned", help=f"pass {name}.copy()")
    if written and not array.flags.writeable:
        raise ArgumentError(f"{name} is read-only, the program writes it")
    start = array.ctypes.data
    return Memory(array.size, array.shape, HOST, start, start + array.nbytes)


def elements_fit(name: str, array: Any, dtype: np.dtype[Any]) -> None:
    """What numpy and pyopencl arrays must have in common."""
    given = np.dtype(array.dtype)
    if given != dtype:
        swapped = " (in the byte order of this machine)" if given.newbyteorder() == dtype else ""
        raise ArgumentError(
            f"{name} must be an array of {dtype}{swapped}, not {given}",
            help=f"pass {name}.astype('{dtype}'); the program then works on a copy",
        )
    if not array.flags.c_contiguous:
        raise ArgumentError(
            f"{name} must be a C-contiguous array of {dtype}: its elements are not in order, or "
            "not side by side",
            help=f"pass {name}.copy(order='C'); the program then works on a copy",
        )


# ---------------------------------------------------------------- shapes


def rows_fit(shape: Sequence[int], inner: Sequence[int], *, flat: bool) -> bool:
    """Whether an array of this shape has its elements where C has those of an array with the
    extents `inner` after the first. One dimension is memory, in any case. A plain pointer (`flat`)
    has rows only in how the loops use it: there the length of a row must be the same."""
    if len(shape) < 2:
        return True
    if not flat:
        return tuple(shape[1:]) == tuple(inner)
    return not inner or any(prod(shape[n:]) == prod(inner) for n in range(1, len(shape)))
