"""Arrays that stay on a device while kernels run on them again and again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime.busy import keep_busy
from loopxform.runtime.device import pyopencl


class Resident:
    """The arguments of a call, those of `arrays` in buffers of the queue's device. Raises
    DeviceError where the device has no room."""

    def __init__(self, queue: Any, given: Mapping[str, Any], arrays: Iterable[str]) -> None:
        self.queue = queue
        self.given = {n: given[n] for n in arrays}
        with device_errors(queue):
            self.buffers = {n: _buffer(queue, v) for n, v in self.given.items()}
            self.arguments = {**given, **self.buffers}
            self._first = dict[str, Any]()
            queue.finish()

    def renew(self, names: Iterable[str]) -> None:
        """Lets arrays have again what they were given, from a copy on the device."""
        cl = pyopencl()
        with device_errors(self.queue):
            for n in names:
                if n not in self._first:
                    self._first[n] = _buffer(self.queue, self.given[n])
                if self.given[n].nbytes:
                    cl.enqueue_copy(self.queue, self.buffers[n], self._first[n])
            self.queue.finish()

    def fetch(self, name: str) -> np.ndarray[Any, Any]:
        """What an array holds now."""
        out: np.ndarray[Any, Any] = np.empty_like(self.given[name])
        with device_errors(self.queue):
            if out.nbytes:
                pyopencl().enqueue_copy(self.queue, out, self.buffers[name])
        return out


def _buffer(queue: Any, array: np.ndarray[Any, Any]) -> Any:
    cl = pyopencl()
    made = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, max(1, array.nbytes))
    if array.nbytes:
        cl.enqueue_copy(queue, made, array)
    return made


def spans(queue: Any, enqueue: Callable[[], int], launches: int) -> list[int]:
    """Device time in ns of calls that another library enqueues, each told by the `cl_event` of its
    last kernel: all are enqueued at once, and each takes from the end of the one before it. Raises
    DeviceError."""
    cl = pyopencl()
    with device_errors(queue):
        keep_busy(queue)
        before = cl.enqueue_marker(queue)
        events = [cl.Event.from_int_ptr(enqueue(), retain=False) for _ in range(launches)]
        queue.finish()
        ends = [e.profile.end for e in (before, *events)]
    return [b - a for a, b in itertools.pairwise(ends)]


@contextmanager
def device_errors(queue: Any) -> Iterator[None]:
    """Turns errors of OpenCL into DeviceError."""
    cl = pyopencl()
    try:
        yield
    except cl.Error as e:
        raise DeviceError(f"{queue.device.name.strip()} does not do it: {e}") from e
