"""Array arguments: what a kernel may be given, and where in memory it lies.

A kernel sees the elements from the address of the argument on, in the order of C. What does not
look like that is refused: another element type or byte order, Fortran order, strides, a view that
does not start its buffer, memory of another context, or memory that may not be written.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from loopxform.errors import ArgumentError
from loopxform.runtime.device import pyopencl


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


HOST = "host"


def memory_of(
    name: str, value: Any, dtype: str, *, read: bool, written: bool, queue: Any
) -> Memory:
    """The memory of an argument that fits a pointer to `dtype`, which the kernel reads or writes
    in `queue`. Raises ArgumentError."""
    if isinstance(value, np.ndarray):
        return _numpy(name, value, np.dtype(dtype), written=written)
    cl = pyopencl()
    try:
        if is_device_array(value):
            return _array(name, value, np.dtype(dtype), read=read, written=written, queue=queue)
        if isinstance(value, cl.MemoryObjectHolder) and not isinstance(value, cl.Image):
            _usable(name, value, read=read, written=written, queue=queue)
            owner, start, end = _extent(value)
            return Memory((end - start) // np.dtype(dtype).itemsize, None, owner, start, end)
    except cl.Error as e:
        raise ArgumentError(f"{name} is not usable: {e}") from e
    kind = type(value).__name__
    raise ArgumentError(
        f"{name} must be an array or a buffer of {dtype}, not {kind}",
        help="pass a numpy array, a pyopencl.array.Array or a pyopencl.Buffer",
    )


def is_device_array(value: Any) -> bool:
    """Whether it is a `pyopencl.array.Array`. Who has one has imported the module."""
    module = sys.modules.get("pyopencl.array")
    return module is not None and isinstance(value, module.Array)


def _numpy(
    name: str, array: np.ndarray[Any, Any], dtype: np.dtype[Any], *, written: bool
) -> Memory:
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is masked: a kernel sees no masks", help=f"{name}.filled(...)")
    _elements_fit(name, array, dtype)
    if not array.flags.aligned:
        raise ArgumentError(f"{name} is not aligned", help=f"pass {name}.copy()")
    if written and not array.flags.writeable:
        raise ArgumentError(f"{name} is read-only, the program writes it")
    start = array.ctypes.data
    return Memory(array.size, array.shape, HOST, start, start + array.nbytes)


def _elements_fit(name: str, array: Any, dtype: np.dtype[Any]) -> None:
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


# ---------------------------------------------------------------- memory of a device


def _array(
    name: str, array: Any, dtype: np.dtype[Any], *, read: bool, written: bool, queue: Any
) -> Memory:
    _elements_fit(name, array, dtype)
    shape = tuple(int(n) for n in array.shape)
    if array.base_data is None:
        return Memory(0, shape, None, 0, 0)
    if not isinstance(array.base_data, pyopencl().MemoryObjectHolder):
        raise ArgumentError(f"{name} is not in a buffer (shared virtual memory is not supported)")
    if array.offset:
        raise ArgumentError(
            f"{name} is a view that does not start its buffer",
            help=f"pass {name}.copy(); the program then works on a copy",
        )
    _usable(name, array.base_data, read=read, written=written, queue=queue)
    owner, start, end = _extent(array.base_data)
    elements = prod(shape)
    if elements * dtype.itemsize > end - start:
        raise ArgumentError(f"{name} has {elements} elements, more than its buffer")
    return Memory(elements, shape, owner, start, start + elements * dtype.itemsize)


def _usable(name: str, buffer: Any, *, read: bool, written: bool, queue: Any) -> None:
    """Whether kernels of the queue may use the buffer in this way."""
    cl = pyopencl()
    if buffer.get_info(cl.mem_info.CONTEXT) != queue.context:
        raise ArgumentError(
            f"{name} is in another OpenCL context than the kernel",
            help="compile with queue=..., the queue of your arrays",
        )
    flags = buffer.get_info(cl.mem_info.FLAGS)
    if written and flags & cl.mem_flags.READ_ONLY:
        raise ArgumentError(f"{name} is read-only for kernels, the program writes it")
    if read and flags & cl.mem_flags.WRITE_ONLY:
        raise ArgumentError(f"{name} is write-only for kernels, the program reads it")


def _extent(buffer: Any) -> tuple[Hashable, int, int]:
    """The memory a buffer lies in, and from where to where: sub-buffers lie in their parent, and
    a buffer may use memory of the host."""
    cl = pyopencl()
    size = int(buffer.get_info(cl.mem_info.SIZE))
    parent = buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
    start = 0 if parent is None else int(buffer.get_info(cl.mem_info.OFFSET))
    root = buffer if parent is None else parent
    if root.get_info(cl.mem_info.FLAGS) & cl.mem_flags.USE_HOST_PTR:
        whole = (int(root.get_info(cl.mem_info.SIZE)),)
        start += root.get_host_array(whole, np.uint8).ctypes.data
        return HOST, start, start + size
    return root.int_ptr, start, start + size


def settle(value: Any, queue: Any) -> None:
    """Waits for what other queues still do to a device array."""
    if not is_device_array(value):
        return
    for event in value.events:
        event.wait()
    if value.queue is not None and value.queue != queue:
        value.queue.finish()


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
