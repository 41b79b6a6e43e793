"""Running kernels on numpy arrays (copied in and out) or on device arrays (left in place)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from loopxform.errors import ArgumentError
from loopxform.runtime.arguments import number
from loopxform.runtime.arrays import memory_of
from loopxform.runtime.build import options_for
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.memory import Memory
from loopxform.runtime.queue import Queue
from loopxform.runtime.queues import queue_on


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


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The argument for an array that exists on the device only; kernels that are given the same one
    share it."""

    nbytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """The argument for an array of which a device gets a part and gives back a part: the buffer has
    room for so many `elements`, `into` and `back` are the first of a part and the one behind it.
    Kernels that are given the same one share the buffer."""

    array: np.ndarray[Any, Any]
    elements: int
    into: tuple[int, int]
    back: tuple[int, int]


class Launcher:
    """One kernel, ready to run.

    Works on a device with a queue of its own, or in `queue`, whose device arrays then fit. Raises
    DeviceError where the source does not build or has no such kernel.
    """

    def __init__(
        self,
        device: DeviceInfo,
        source: str,
        kernel: str,
        params: Sequence[KernelParam],
        options: tuple[str, ...] | None = None,
        *,
        queue: Queue | None = None,
    ) -> None:
        self.device = device
        self.params = tuple(params)
        self.queue = queue or queue_on(device)
        flags = options_for(device) if options is None else options
        self.kernel = self.queue.kernel(source, kernel, flags)
        self.one_at_a_time = Lock()
        """A kernel object holds the arguments of one launch."""

    def group_limit(self) -> int:
        """The largest group this kernel can run with on its device, in work-items."""
        return self.queue.group_limit(self.kernel)

    def launch(
        self, args: Sequence[Any], global_size: Sequence[int], local_size: Sequence[int] | None
    ) -> int | None:
        """Runs the kernel alone and returns the device time in ns; see `launch_all`."""
        taken = launch_all([Launch(self, args, global_size, local_size)])
        return None if taken is None else taken.span

    def bind(self, args: Sequence[Any], copies: Copies) -> list[Any]:
        """What the device is given for each parameter. Raises ArgumentError."""
        given = [p for p in self.params if not isinstance(p, LocalParam)]
        if len(args) != len(given):
            raise ArgumentError(f"the kernel takes {len(given)} arguments, {len(args)} are given")
        values = iter(args)
        return [
            self._bind(p, None if isinstance(p, LocalParam) else next(values), copies)
            for p in self.params
        ]

    def enqueue(self, global_size: Sequence[int], local_size: Sequence[int] | None) -> Any:
        """The event of a launch with the arguments that the kernel object has."""
        sizes = tuple(global_size), None if local_size is None else tuple(local_size)
        return self.queue.enqueue(self.kernel, *sizes)

    def _bind(self, p: KernelParam, value: Any, copies: Copies) -> Any:
        match p:
            case ScalarParam(name, dtype):
                return np.dtype(dtype).type(number(name, dtype, value))
            case LocalParam(_, nbytes):
                return self.queue.local(nbytes)
            case BufferParam() if isinstance(value, Room):
                return copies.room(value)
            case BufferParam() if isinstance(value, Moved):
                return copies.moved(value)
            case BufferParam(name, dtype, read, written):
                memory = memory_of(name, value, dtype, read=read, written=written, queue=self.queue)
                if isinstance(value, np.ndarray):
                    return copies.buffer(p, value, memory)
                return self.queue.buffer(value, memory)


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    `args` has one value for each parameter that is not local: a number, a C-contiguous numpy
    array, a `pyopencl.array.Array`, a `pyopencl.Buffer`, a `Room` or a `Moved`.
    """

    launcher: Launcher
    args: Sequence[Any]
    global_size: Sequence[int]
    local_size: Sequence[int] | None


class Taken(NamedTuple):
    """Device time in ns: from the start of the first kernel to the end of the last, and what the
    kernels took without what is between them; how often kernels were launched, and what each launch
    took."""

    kernels: int
    span: int
    launches: int
    each: tuple[int, ...] = ()


class Spare:
    """Buffers of rooms that no launch uses, kept for the next one: a device takes longer to find
    memory than to run a small kernel. Those of other sizes than the last ones are let go."""

    def __init__(self) -> None:
        self._free: list[tuple[int, Any]] = []
        self._lock = Lock()

    def take(self, nbytes: int) -> Any:
        """A buffer of so many bytes; None where there is none."""
        with self._lock:
            for kept in self._free:
                if kept[0] == nbytes:
                    self._free.remove(kept)
                    return kept[1]
        return None

    def give(self, buffers: Sequence[tuple[int, Any]]) -> None:
        """Buffers, with their bytes, whose launches are done."""
        if buffers:
            with self._lock:
                self._free = list(buffers)


def launch_all(launches: Sequence[Launch], spare: Spare | None = None) -> Taken | None:
    """Runs kernels that share a queue one after the other, waits, and returns the time they took
    (None where the user's queue does not profile). A launch of no work-items is left out. Arrays of
    numpy change only after all of them succeeded. Several threads may launch at once. Raises
    ArgumentError, DeviceError."""
    launcher = launches[0].launcher
    copies = Copies(launcher.queue, spare)
    with _device_errors(launcher):
        bound = [(x, x.launcher.bind(x.args, copies)) for x in launches if 0 not in x.global_size]
        return _run(copies, [bound] if _are_several(launches) else ([b] for b in bound))


def launch_again(launches: Sequence[Launch], times: int, spare: Spare) -> list[int]:
    """As `launch_all`, so many times, one directly after the other: the device is never without
    work. The times that they take in ns, the first one from its start, others from the end of the
    one before; 0 where there is nothing to launch. Raises ArgumentError, DeviceError."""
    launcher = launches[0].launcher
    copies = Copies(launcher.queue, spare)
    every: list[list[Any]] = []
    with _device_errors(launcher):
        bound = [(x, x.launcher.bind(x.args, copies)) for x in launches if 0 not in x.global_size]
        parts = [bound] if _are_several(launches) else [[b] for b in bound]
        launcher.queue.keep_busy()
        for _ in range(times):
            every.append([])
            for part in parts:
                _enqueue(launcher.queue, part, every[-1], first=len(every) == 1)
        launcher.queue.finish()
        copies.back()
        return _apart(launcher.queue, every)


def _apart(queue: Queue, every: Sequence[Sequence[Any]]) -> list[int]:
    """The times of calls that follow one another, by the events of their kernels."""
    if not queue.profiled or not every or not every[0]:
        return [0] * len(every)
    ends = [queue.times(every[0][0])[0], *(queue.times(call[-1])[1] for call in every)]
    return [b - a for a, b in pairwise(ends)]


def launch_told(
    launcher: Launcher, launches: Callable[[Callable[[Room], int]], Iterator[Launch]]
) -> Taken | None:
    """As `launch_all`, for launches that follow from the ints which kernels before them leave in
    rooms: `launches` is given what reads one."""
    copies = Copies(launcher.queue)
    with _device_errors(launcher):
        found = (x for x in launches(copies.number) if 0 not in x.global_size)
        return _run(copies, ([(x, x.launcher.bind(x.args, copies))] for x in found))


def _device_errors(launcher: Launcher) -> AbstractContextManager[None]:
    return launcher.queue.errors(f"the kernel does not run on {launcher.device}")


Bound: TypeAlias = tuple[Launch, list[Any]]


def _are_several(launches: Sequence[Launch]) -> bool:
    """Whether no kernel is launched twice, so that all can have their arguments before the first of
    them runs."""
    return len({id(x.launcher) for x in launches}) == len(launches)


def _run(copies: Copies, parts: Iterable[Sequence[Bound]]) -> Taken | None:
    """Runs parts one after the other: the device has as little to wait for as may be."""
    events: list[Any] = []
    for part in parts:
        _enqueue(copies.queue, part, events)
    if not events:
        return Taken(0, 0, 0)
    copies.queue.wait(events[-1])
    copies.back()
    return _taken(copies.queue, events)


def _enqueue(queue: Queue, part: Sequence[Bound], events: list[Any], *, first: bool = True) -> None:
    """Enqueues launches behind those of `events`, and behind others where they are not the `first`
    of all; their events are added."""
    with ExitStack() as held:
        for launcher in sorted((x.launcher for x, _ in part), key=id):
            held.enter_context(launcher.one_at_a_time)
        for x, arguments in part:
            queue.bind(x.launcher.kernel, arguments)
        for x, _ in part:
            if not queue.in_order and (events or not first):
                queue.barrier()
            events.append(x.launcher.enqueue(x.global_size, x.local_size))


def _taken(queue: Queue, events: Sequence[Any]) -> Taken | None:
    if not queue.profiled:
        return None
    times = [queue.times(e) for e in events]
    each = tuple(end - start for start, end in times)
    return Taken(sum(each), times[-1][1] - times[0][0], len(times), each)


class Copies:
    """Buffers that stand for the numpy arrays, and for the rooms, of some launches."""

    def __init__(self, queue: Queue, spare: Spare | None = None) -> None:
        self.queue = queue
        self.spare = spare
        self.made: list[tuple[BufferParam, np.ndarray[Any, Any], Memory, Any]] = []
        self.rooms: dict[Room, tuple[int, Any]] = {}
        self.parts: dict[Moved, Any] = {}

    def buffer(self, p: BufferParam, array: np.ndarray[Any, Any], memory: Memory) -> Any:
        """A buffer with the elements; an array that is given twice shares one, as in C. Raises
        ArgumentError where two overlap otherwise and one is written."""
        for other, same, place, known in self.made:
            if same is array and other == p:
                return known
            if not place.meets(memory):
                continue
            if (place.start, place.end) == (memory.start, memory.end):
                if p.read and not other.read:
                    self.queue.write(known, array)
                made = known
                break
            if p.written or other.written:
                raise ArgumentError(f"{p.name} partly overlaps {other.name}")
        else:
            made = self.queue.allocate(array.nbytes)
            if p.read:
                self.queue.write(made, array)
        self.made.append((p, array, memory, made))
        return made

    def room(self, room: Room) -> Any:
        """The buffer of a room; nothing in it is set."""
        if room not in self.rooms:
            nbytes = max(1, room.nbytes)
            kept = None if self.spare is None else self.spare.take(nbytes)
            self.rooms[room] = nbytes, self.queue.allocate(nbytes) if kept is None else kept
        return self.rooms[room][1]

    def moved(self, value: Moved) -> Any:
        """The buffer of an array, with the part that it gets."""
        if value not in self.parts:
            size = value.array.itemsize
            made = self.queue.allocate(value.elements * size)
            begin, end = value.into
            if begin < end:
                self.queue.write(made, value.array.reshape(-1)[begin:end], begin * size)
            self.parts[value] = made
        return self.parts[value]

    def number(self, room: Room) -> int:
        """The int that a room holds once all kernels launched so far are done."""
        found = np.zeros(1, np.int32)
        self.queue.barrier()
        self.queue.read(found, self.room(room))
        return int(found[0])

    def back(self) -> None:
        """Copies what the kernels wrote into the arrays; rooms are free again."""
        written = {id(buffer): (array, buffer) for p, array, _, buffer in self.made if p.written}
        for array, buffer in written.values():
            self.queue.read(array, buffer)
        for value, made in self.parts.items():
            begin, end = value.back
            if begin < end:
                taken = value.array.reshape(-1)[begin:end]
                self.queue.read(taken, made, begin * value.array.itemsize)
        self.queue.finish()
        if self.spare is not None:
            self.spare.give(list(self.rooms.values()))
