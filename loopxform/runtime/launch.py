"""Running a kernel on numpy arrays (copied in and out) or on device arrays (left in place)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime.build import build, build_for_queue, options_for
from loopxform.runtime.device import DeviceInfo, context, pyopencl


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A kernel parameter passed by value; `dtype` is a numpy name."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class BufferParam:
    """A `__global` pointer to elements of a numpy dtype. `read` copies a numpy argument in (leave
    it out only where the kernel sets every element), `written` copies it out."""

    name: str
    dtype: str
    read: bool = True
    written: bool = True


@dataclass(frozen=True, slots=True)
class LocalParam:
    """A `__local` pointer; its argument is not given at launch."""

    name: str
    nbytes: int


KernelParam: TypeAlias = ScalarParam | BufferParam | LocalParam


class Launcher:
    """One kernel, ready to run.

    Works on a device with a queue of its own, or in the user's `queue`, whose device arrays then
    fit. Raises DeviceError where the source does not build or has no such kernel.
    """

    def __init__(
        self,
        device: DeviceInfo,
        source: str,
        kernel: str,
        params: Sequence[KernelParam],
        options: tuple[str, ...] | None = None,
        *,
        queue: Any = None,
    ) -> None:
        cl = pyopencl()
        self.device = device
        self.params = tuple(params)
        flags = options_for(device) if options is None else options
        if queue is None:
            built = build(device, source, flags)
            profiling = cl.command_queue_properties.PROFILING_ENABLE
            queue = cl.CommandQueue(context(device), device.handle, properties=profiling)
        else:
            built = build_for_queue(queue, source, flags)
        if kernel not in built.kernels:
            raise DeviceError(f"the source has no kernel {kernel}", notes=list(built.kernels))
        self.queue = queue
        self.built = built
        self.kernel = cl.Kernel(built.program, kernel)

    def group_limit(self) -> int:
        """The largest group this kernel can run with on its device, in work-items."""
        info = pyopencl().kernel_work_group_info.WORK_GROUP_SIZE
        return int(self.kernel.get_work_group_info(info, self.queue.device))

    def launch(
        self, args: Sequence[Any], global_size: Sequence[int], local_size: Sequence[int] | None
    ) -> int | None:
        """Runs the kernel, waits, and returns its time on the device in ns (None where the user's
        queue does not profile).

        `args` has one value for each parameter that is not local: a number, a C-contiguous numpy
        array, a `pyopencl.array.Array` or a `pyopencl.Buffer`. Raises DeviceError.
        """
        cl = pyopencl()
        given = [p for p in self.params if not isinstance(p, LocalParam)]
        if len(args) != len(given):
            raise DeviceError(f"the kernel takes {len(given)} arguments, {len(args)} are given")
        values = iter(args)
        if 0 in global_size:
            return 0
        try:
            bound, out = [], []
            copies: list[tuple[np.ndarray[Any, Any], Any]] = []
            for p in self.params:
                value = None if isinstance(p, LocalParam) else next(values)
                bound.append(self._bind(p, value, copies))
                if isinstance(p, BufferParam) and p.written and isinstance(value, np.ndarray):
                    out.append((value, bound[-1]))
            sizes = tuple(global_size), None if local_size is None else tuple(local_size)
            event = self.kernel(self.queue, *sizes, *bound)
            event.wait()
            for array, buffer in out:
                if array.nbytes:
                    cl.enqueue_copy(self.queue, array, buffer)
            self.queue.finish()
            return self._nanoseconds(event)
        except cl.Error as e:
            raise DeviceError(f"the kernel does not run on {self.device}: {e}") from e

    def _bind(
        self, p: KernelParam, value: Any, copies: list[tuple[np.ndarray[Any, Any], Any]]
    ) -> Any:
        cl = pyopencl()
        match p:
            case ScalarParam(_, dtype):
                return np.dtype(dtype).type(value)
            case LocalParam(_, nbytes):
                return cl.LocalMemory(nbytes)
            case BufferParam(name, dtype, read):
                if isinstance(value, np.ndarray):
                    return self._copied(name, value, dtype, read, copies)
                if isinstance(value, cl.MemoryObjectHolder):
                    return value
                if getattr(value, "base_data", None) is None or value.dtype != np.dtype(dtype):
                    raise DeviceError(f"{name} must be an array or a buffer of {dtype}")
                if value.offset:
                    raise DeviceError(f"{name} is a view that does not start its buffer")
                return value.base_data

    def _copied(
        self,
        name: str,
        array: np.ndarray[Any, Any],
        dtype: str,
        read: bool,
        copies: list[tuple[np.ndarray[Any, Any], Any]],
    ) -> Any:
        """A buffer for a numpy array; an array that is given twice shares one, as in C."""
        cl = pyopencl()
        if array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
            raise DeviceError(f"{name} must be a C-contiguous array of {dtype}")
        flags = cl.mem_flags.READ_WRITE
        if not array.nbytes:
            return cl.Buffer(self.queue.context, flags, 1)
        for other, buffer in copies:
            if np.shares_memory(array, other):
                if array.ctypes.data == other.ctypes.data and array.nbytes == other.nbytes:
                    return buffer
                raise DeviceError(f"{name} partly overlaps another argument")
        if read:
            flags |= cl.mem_flags.COPY_HOST_PTR
            buffer = cl.Buffer(self.queue.context, flags, hostbuf=array)
        else:
            buffer = cl.Buffer(self.queue.context, flags, array.nbytes)
        copies.append((array, buffer))
        return buffer

    def _nanoseconds(self, event: Any) -> int | None:
        properties = self.queue.properties
        if not properties & pyopencl().command_queue_properties.PROFILING_ENABLE:
            return None
        return int(event.profile.end - event.profile.start)
