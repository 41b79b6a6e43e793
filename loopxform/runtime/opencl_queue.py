"""A queue of OpenCL: the user's `pyopencl.CommandQueue`, or one of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime import busy, device_arrays
from loopxform.runtime.build import build
from loopxform.runtime.device import DeviceInfo, describe, profiled_queue, pyopencl
from loopxform.runtime.memory import Memory


class OpenCLQueue:
    """`raw` is the `pyopencl.CommandQueue`; `device` is its device."""

    takes = ", a pyopencl.array.Array or a pyopencl.Buffer"

    def __init__(self, raw: Any, device: DeviceInfo | None = None) -> None:
        self.raw = raw
        self.device = device or describe(raw.device)

    @classmethod
    def on(cls, device: DeviceInfo) -> OpenCLQueue:
        """A queue whose events tell times. Raises DeviceError."""
        return cls(profiled_queue(device), device)

    @cached_property
    def profiled(self) -> bool:
        return bool(self.raw.properties & pyopencl().command_queue_properties.PROFILING_ENABLE)

    @cached_property
    def in_order(self) -> bool:
        mode = pyopencl().command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        return not self.raw.properties & mode

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        cl = pyopencl()
        try:
            yield
        except cl.Error as e:
            raise DeviceError(f"{what}: {e}") from e

    # ------------------------------------------------------------ kernels

    def kernel(self, source: str, name: str, options: tuple[str, ...]) -> Any:
        built = build(self.device, source, options, ctx=self.raw.context)
        if name not in built.kernels:
            raise DeviceError(f"the source has no kernel {name}", notes=list(built.kernels))
        return pyopencl().Kernel(built.program, name)

    def group_limit(self, kernel: Any) -> int:
        info = pyopencl().kernel_work_group_info.WORK_GROUP_SIZE
        return int(kernel.get_work_group_info(info, self.raw.device))

    def local(self, nbytes: int) -> Any:
        return pyopencl().LocalMemory(nbytes)

    def bind(self, kernel: Any, arguments: Sequence[Any]) -> None:
        kernel.set_args(*arguments)

    def enqueue(
        self, kernel: Any, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
    ) -> Any:
        return pyopencl().enqueue_nd_range_kernel(self.raw, kernel, global_size, local_size)

    def barrier(self) -> None:
        pyopencl().enqueue_barrier(self.raw)

    def wait(self, event: Any) -> None:
        event.wait()

    def times(self, event: Any) -> tuple[int, int]:
        return event.profile.start, event.profile.end

    def finish(self) -> None:
        self.raw.finish()

    def keep_busy(self) -> None:
        busy.keep_busy(self.raw)

    # ------------------------------------------------------------ memory

    def allocate(self, nbytes: int) -> Any:
        cl = pyopencl()
        return cl.Buffer(self.raw.context, cl.mem_flags.READ_WRITE, max(1, nbytes))

    def write(self, buffer: Any, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        if array.nbytes:
            pyopencl().enqueue_copy(self.raw, buffer, array, dst_offset=offset)

    def read(self, array: np.ndarray[Any, Any], buffer: Any, offset: int = 0) -> None:
        if array.nbytes:
            pyopencl().enqueue_copy(self.raw, array, buffer, src_offset=offset)

    def copy(self, to: Any, source: Any, nbytes: int) -> None:
        if nbytes:
            pyopencl().enqueue_copy(self.raw, to, source, byte_count=nbytes)

    def memory(
        self, name: str, value: Any, dtype: np.dtype[Any], *, read: bool, written: bool
    ) -> Memory | None:
        return device_arrays.memory(name, value, dtype, read=read, written=written, queue=self.raw)

    def buffer(self, value: Any, memory: Memory) -> Any:
        device_arrays.settle(value, self.raw)
        if memory.shape is not None and not memory.elements:
            return self.allocate(1)
        return getattr(value, "base_data", value)
