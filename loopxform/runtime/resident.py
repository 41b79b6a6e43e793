"""Arrays that stay on a device while kernels run on them again and again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from loopxform.runtime.device import pyopencl
from loopxform.runtime.queue import Queue


class Resident:
    """The arguments of a call, those of `arrays` in buffers of the queue's device. Raises
    DeviceError where the device has no room."""

    def __init__(self, queue: Queue, given: Mapping[str, Any], arrays: Iterable[str]) -> None:
        self.queue = queue
        self.given = {n: given[n] for n in arrays}
        with _errors(queue):
            self.buffers = {n: _buffer(queue, v) for n, v in self.given.items()}
            self.arguments = {**given, **self.buffers}
            self._first = dict[str, Any]()
            queue.finish()

    def renew(self, names: Iterable[str]) -> None:
        """Lets arrays have again what they were given, from a copy on the device."""
        with _errors(self.queue):
            for n in names:
                if n not in self._first:
                    self._first[n] = _buffer(self.queue, self.given[n])
                self.queue.copy(self.buffers[n], self._first[n], self.given[n].nbytes)
            self.queue.finish()

    def fetch(self, name: str) -> np.ndarray[Any, Any]:
        """What an array holds now."""
        out: np.ndarray[Any, Any] = np.empty_like(self.given[name])
        with _errors(self.queue):
            self.queue.read(out, self.buffers[name])
        return out


def _buffer(queue: Queue, array: np.ndarray[Any, Any]) -> Any:
    made = queue.allocate(array.nbytes)
    queue.write(made, array)
    return made


def spans(queue: Queue, enqueue: Callable[[], int], launches: int) -> list[int]:
    """Device time in ns of calls that another library enqueues in a queue of OpenCL, each told by
    the `cl_event` of its last kernel: all are enqueued at once, and each takes from the end of the
    one before it. Raises DeviceError."""
    cl = pyopencl()
    with _errors(queue):
        queue.keep_busy()
        before = cl.enqueue_marker(queue.raw)
        events = [cl.Event.from_int_ptr(enqueue(), retain=False) for _ in range(launches)]
        queue.finish()
        ends = [e.profile.end for e in (before, *events)]
    return [b - a for a, b in itertools.pairwise(ends)]


def _errors(queue: Queue) -> AbstractContextManager[None]:
    return queue.errors(f"{queue.device.name} does not do it")
