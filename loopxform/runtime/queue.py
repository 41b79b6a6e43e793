"""What kernels are launched in, whatever the device: memory, copies, launches in order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.memory import Memory


class Queue(Protocol):
    """A queue of a device. Buffers, kernels and events are the device's own, known to the queue
    alone. Each call enqueues; the caller waits with `finish`. Errors of the device are DeviceErrors
    inside `errors()`."""

    @property
    def device(self) -> DeviceInfo: ...

    @property
    def raw(self) -> Any:
        """The queue as its library knows it."""
        ...

    @property
    def profiled(self) -> bool:
        """Whether events tell times."""
        ...

    @property
    def in_order(self) -> bool: ...

    @property
    def takes(self) -> str:
        """What arguments may be besides numpy arrays, `, a ... or a ...`."""
        ...

    def errors(self, what: str) -> AbstractContextManager[None]:
        """Turns errors of the device into DeviceError, of which `what` is the beginning."""
        ...

    # ------------------------------------------------------------ kernels

    def kernel(self, source: str, name: str, options: tuple[str, ...]) -> Any:
        """A kernel of a source, built. Raises DeviceError."""
        ...

    def group_limit(self, kernel: Any) -> int:
        """The work-items of the largest group a kernel can run with."""
        ...

    def local(self, nbytes: int) -> Any:
        """An argument for a pointer to local memory."""
        ...

    def bind(self, kernel: Any, arguments: Sequence[Any]) -> None:
        """Gives a kernel its arguments: buffers, numpy scalars, local memory."""
        ...

    def enqueue(
        self, kernel: Any, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
    ) -> Any:
        """Launches a kernel with the arguments it has, and returns the event."""
        ...

    def barrier(self) -> None:
        """What is enqueued next begins after what was enqueued before."""
        ...

    def wait(self, event: Any) -> None: ...

    def times(self, event: Any) -> tuple[int, int]:
        """When an event that is done began and ended, in ns. For queues that are `profiled`."""
        ...

    def finish(self) -> None:
        """Waits for all that is enqueued."""
        ...

    def keep_busy(self) -> None:
        """Gives the device something to do for as long as it takes to enqueue some hundred
        kernels."""
        ...

    # ------------------------------------------------------------ memory

    def allocate(self, nbytes: int) -> Any:
        """A buffer of at least a byte, in which nothing is set."""
        ...

    def write(self, buffer: Any, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        """Copies a contiguous array to `offset` bytes behind the beginning of a buffer."""
        ...

    def read(self, array: np.ndarray[Any, Any], buffer: Any, offset: int = 0) -> None:
        """Fills a contiguous array from there, and waits for it."""
        ...

    def copy(self, to: Any, source: Any, nbytes: int) -> None:
        """Copies the first bytes of a buffer into another."""
        ...

    def memory(
        self, name: str, value: Any, dtype: np.dtype[Any], *, read: bool, written: bool
    ) -> Memory | None:
        """The memory of an array or buffer of the device, which kernels of the queue read or write;
        None for what is neither. Raises ArgumentError."""
        ...

    def buffer(self, value: Any, memory: Memory) -> Any:
        """The buffer of such an argument, once other queues are done with it."""
        ...
