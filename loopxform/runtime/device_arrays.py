"""Arrays and buffers of pyopencl as arguments: where in memory they lie."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from math import prod
from typing import Any

import numpy as np

from loopxform.errors import ArgumentError
from loopxform.runtime.arrays import HOST, elements_fit
from loopxform.runtime.device import pyopencl
from loopxform.runtime.memory import Memory


def memory(
    name: str, value: Any, dtype: np.dtype[Any], *, read: bool, written: bool, queue: Any
) -> Memory | None:
    """The memory of a `pyopencl.array.Array` or a `pyopencl.Buffer`, which kernels of a
    `pyopencl.CommandQueue` read or write; None for what is neither. Raises ArgumentError."""
    cl = pyopencl()
    try:
        if is_device_array(value):
            return _array(name, value, dtype, read=read, written=written, queue=queue)
        if isinstance(value, cl.MemoryObjectHolder) and not isinstance(value, cl.Image):
            _usable(name, value, read=read, written=written, queue=queue)
            owner, start, end = _extent(value)
            return Memory((end - start) // dtype.itemsize, None, owner, start, end)
    except cl.Error as e:
        raise ArgumentError(f"{name} is not usable: {e}") from e
    return None


def is_device_array(value: Any) -> bool:
    """Whether it is a `pyopencl.array.Array`. Who has one has imported the module."""
    module = sys.modules.get("pyopencl.array")
    return module is not None and isinstance(value, module.Array)


def _array(
    name: str, array: Any, dtype: np.dtype[Any], *, read: bool, written: bool, queue: Any
) -> Memory:
    elements_fit(name, array, dtype)
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
