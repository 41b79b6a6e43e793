"""A queue of the C compiler's device: every call is done when it returns."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from threading import Lock
from time import perf_counter_ns
from typing import Any

import numpy as np

from loopxform.errors import ArgumentError, DeviceError
from loopxform.runtime.c.machine import (
    PARAMETERS,
    Address,
    Argument,
    Here,
    Local,
    Machine,
    Watched,
)
from loopxform.runtime.c.program import Mode, Program, program
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.memory import Memory

GROUP = 64
"""Work-items of a group where the caller does not say."""

LOCAL_ARRAYS = 64
"""As LX_LOCAL_ARRAYS of groups.h."""


class Buffer:
    """Memory of a queue; free once nobody has it."""

    def __init__(self, machine: Machine, nbytes: int) -> None:
        self.machine, self.nbytes = machine, nbytes
        self.address = machine.allocate(nbytes)
        weakref.finalize(self, machine.free, self.address)


class Kernel:
    """A kernel of a program, and the arguments that it has."""

    def __init__(self, of: Program, name: str) -> None:
        self.program, self.name = of, name
        self.number = of.number(name)
        self.about = of.kernels[self.number]
        self.arguments: tuple[Argument, ...] = ()


class CQueue:
    """Kernels in this process. A sanitizer watches a process of its own, which the first kernel or
    memory of a queue begins."""

    profiled = True
    in_order = True
    takes = ""
    raw = None

    def __init__(self, device: DeviceInfo) -> None:
        self.device = device
        self.mode: Mode = device.handle
        self._beginning = Lock()
        self._machine: Machine | None = None if self.mode.sanitizer else Here(device.compute_units)

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except DeviceError as e:
            if e.notes or e.help:
                raise
            raise DeviceError(f"{what}: {e.message}") from e

    # ------------------------------------------------------------ kernels

    def kernel(self, source: str, name: str, options: tuple[str, ...]) -> Kernel:
        built = program(source, self.mode, options)
        kernel = Kernel(built, name)
        self._begin()
        if len(kernel.about.params) > PARAMETERS:
            raise DeviceError(f"{name} has more than {PARAMETERS} parameters")
        if kernel.about.local_arrays > LOCAL_ARRAYS:
            raise DeviceError(f"{name} has more than {LOCAL_ARRAYS} arrays in local memory")
        return kernel

    def group_limit(self, kernel: Kernel) -> int:  # noqa: ARG002
        return self.device.max_group_size

    def local(self, nbytes: int) -> Local:
        return Local(nbytes)

    def bind(self, kernel: Kernel, arguments: Sequence[Any]) -> None:
        if len(arguments) != len(kernel.about.params):
            raise DeviceError(f"{kernel.name} takes {len(kernel.about.params)} arguments")
        wanted = sum(a.nbytes for a in arguments if isinstance(a, Local))
        if wanted > self.device.local_bytes:
            raise DeviceError(f"{kernel.name} wants {wanted} bytes of local memory")
        kernel.arguments = tuple(
            Address(a.address) if isinstance(a, Buffer) else a for a in arguments
        )

    def enqueue(
        self, kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
    ) -> tuple[int, int]:
        local = local_size or _divisors(global_size)
        if any(g % s for g, s in zip(global_size, local, strict=True)):
            raise DeviceError(f"groups of {local} do not divide {global_size} work-items")
        if prod(local) > self.device.max_group_size:
            raise DeviceError(f"a group has {prod(local)} work-items")
        groups = [g // s for g, s in zip(global_size, local, strict=True)]
        taken = self.machine.launch(kernel.program, kernel.number, groups, local, kernel.arguments)
        end = perf_counter_ns()
        return end - taken, end

    def barrier(self) -> None:
        """Nothing is waiting."""

    def wait(self, event: tuple[int, int]) -> None:
        """It is done."""

    def times(self, event: tuple[int, int]) -> tuple[int, int]:
        return event

    def finish(self) -> None:
        """Nothing is waiting."""

    def keep_busy(self) -> None:
        """Launches are calls: there is nothing to hide."""

    # ------------------------------------------------------------ memory

    @property
    def machine(self) -> Machine:
        """Where memory lies and kernels run. Raises DeviceError where there is no sanitizer."""
        return self._begin()

    def _begin(self) -> Machine:
        with self._beginning:
            if self._machine is None:
                self._machine = Watched(self.mode)
            return self._machine

    def allocate(self, nbytes: int) -> Buffer:
        return Buffer(self.machine, max(1, nbytes))

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        if array.nbytes:
            self.machine.write(buffer.address + offset, array)

    def read(self, array: np.ndarray[Any, Any], buffer: Buffer, offset: int = 0) -> None:
        if array.nbytes:
            self.machine.read(array, buffer.address + offset)

    def copy(self, to: Buffer, source: Buffer, nbytes: int) -> None:
        if nbytes:
            self.machine.copy(to.address, source.address, nbytes)

    def memory(
        self,
        name: str,
        value: Any,
        dtype: np.dtype[Any],
        *,
        read: bool,  # noqa: ARG002
        written: bool,  # noqa: ARG002
    ) -> Memory | None:
        if type(value).__module__.startswith("pyopencl"):
            raise ArgumentError(
                f"{name} is on an OpenCL device, and the kernel runs as C",
                help="compile with queue=..., the queue of your arrays, or pass numpy arrays",
            )
        if not isinstance(value, Buffer):
            return None
        if value.machine is not self.machine:
            raise ArgumentError(f"{name} is in the memory of another queue")
        start, end = value.address, value.address + value.nbytes
        return Memory(value.nbytes // dtype.itemsize, None, self, start, end)

    def buffer(self, value: Buffer, memory: Memory) -> Buffer:  # noqa: ARG002
        return value


def _divisors(global_size: Sequence[int]) -> tuple[int, ...]:
    """Groups that divide the work-items, in rows."""
    first = next((n for n in range(GROUP, 0, -1) if global_size[0] % n == 0), 1)
    return (first, *(1 for _ in global_size[1:]))
