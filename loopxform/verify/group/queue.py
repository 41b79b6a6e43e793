"""The executor as a queue: the launches, copies and guards are those of every device."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from loopxform.errors import ArgumentError, DeviceError
from loopxform.records import record
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.memory import Memory
from loopxform.verify.group.buffers import Buffer
from loopxform.verify.group.fault import ExecutionError, NotModelled, Place
from loopxform.verify.group.kernel_code import KernelCode
from loopxform.verify.group.memory import Now, Output, Private
from loopxform.verify.group.parsing import parse
from loopxform.verify.group.translation import Translation
from loopxform.verify.group.types import Type
from loopxform.verify.group.work_items import Launch

DEVICE = DeviceInfo(
    index=-1,
    place="",
    platform="Python",
    name="the group executor",
    type="cpu",
    compute_units=1,
    max_group_size=1024,
    max_item_sizes=(1024, 1024, 1024),
    local_bytes=1 << 20,
    global_bytes=1 << 30,
    max_alloc=1 << 30,
    vector_widths={},
    fp64=True,
    fp16=False,
    ieee_floats=True,
    correctly_rounded=True,
    warp=1,
    extensions=frozenset(),
    opencl_version="",
    driver_version="",
    handle=None,
)

ASYNCHRONOUS = {"LX_ASYNC": "1", "LX_TENSOR": "1", "__NV_CL_C_VERSION": "1", "LX_NO_WORDS": "1"}
"""What an NVIDIA device defines that makes asynchronous copies, and has tensor units
(templates/kernels.cl.j2); elements of an array are of one type here, so that none are moved as
words."""

WARP_GROUPS = {"LX_WARP_GROUPS": "1"}
"""What one defines besides whose warps multiply together."""


class Kernel:
    """A kernel of a program, and the arguments that it has."""

    def __init__(self, code: KernelCode, lines: Sequence[str], origins: Sequence[int]) -> None:
        self.code, self.lines, self.origins = code, lines, origins
        self.arguments: Sequence[Any] = ()


class GroupQueue:
    """Every call is done when it returns. `defines` are the macros that programs are built with;
    work-items run in an order that `rng` shuffles."""

    profiled = False
    in_order = True
    takes = ""
    raw = None
    device = DEVICE

    def __init__(self, rng: random.Random, defines: Mapping[str, str]) -> None:
        self.rng = rng
        self.defines = tuple(sorted(defines.items()))

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:  # noqa: ARG002
        yield

    # ------------------------------------------------------------ kernels

    def kernel(self, source: str, name: str, options: tuple[str, ...]) -> Kernel:  # noqa: ARG002
        translation = _translated(source, self.defines)
        if name not in translation.kernels:
            raise DeviceError(f"the source has no kernel {name}")
        return Kernel(translation.kernels[name], source.split("\n"), translation.lines)

    def group_limit(self, kernel: Kernel) -> int:  # noqa: ARG002
        return DEVICE.max_group_size

    def local(self, nbytes: int) -> Any:
        raise DeviceError(f"no kernel of ours takes {nbytes} bytes of local memory")

    def bind(self, kernel: Kernel, arguments: Sequence[Any]) -> None:
        if len(arguments) != len(kernel.code.parameters):
            raise DeviceError(f"{kernel.code.name} takes {len(kernel.code.parameters)} arguments")
        kernel.arguments = tuple(arguments)

    def enqueue(
        self, kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
    ) -> None:
        """Raises ExecutionError."""
        assert local_size is not None
        shape, total = (((*x, 1, 1)[:3]) for x in (local_size, global_size))
        groups = tuple(n // s for n, s in zip(total, shape))
        now = Now()
        views = _Views(kernel, now)
        given = [
            views.of(name, a, kind) if name in kernel.code.pointers else _plain(a)
            for (name, kind), a in zip(kernel.code.parameters, kernel.arguments)
        ]
        launch = Launch(
            kernel.code,
            (groups[0], groups[1], groups[2]),
            (shape[0], shape[1], shape[2]),
            now,
            kernel.lines,
            kernel.origins,
        )
        launch.run(given, self.rng)
        views.back(launch)

    def barrier(self) -> None:
        """Nothing is waiting."""

    def wait(self, event: Any) -> None:
        """It is done."""

    def times(self, event: Any) -> tuple[int, int]:  # noqa: ARG002
        return 0, 0

    def finish(self) -> None:
        """Nothing is waiting."""

    def keep_busy(self) -> None:
        """Launches are calls: there is nothing to hide."""

    # ------------------------------------------------------------ memory

    def allocate(self, nbytes: int) -> Buffer:
        return Buffer(nbytes)

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        buffer.bytes[offset : offset + len(raw)] = raw
        buffer.is_set[offset : offset + len(raw)] = True

    def read(self, array: np.ndarray[Any, Any], buffer: Buffer, offset: int = 0) -> None:
        """Raises ExecutionError where a kernel has not set what it gives back."""
        part = slice(offset, offset + array.nbytes)
        if not buffer.is_set[part].all():
            first = int(np.argmin(buffer.is_set[part]))
            what = f"element {first // array.itemsize} of what is copied back was never set"
            raise buffer.faults.get(offset + first) or ExecutionError(what, "unset", None)
        array[...] = buffer.bytes[part].view(array.dtype).reshape(array.shape)

    def copy(self, to: Buffer, source: Buffer, nbytes: int) -> None:
        to.bytes[:nbytes] = source.bytes[:nbytes]
        to.is_set[:nbytes] = source.is_set[:nbytes]

    def memory(
        self,
        name: str,
        value: Any,
        dtype: np.dtype[Any],  # noqa: ARG002
        *,
        read: bool,  # noqa: ARG002
        written: bool,  # noqa: ARG002
    ) -> Memory | None:
        raise ArgumentError(f"{name} must be a numpy array, not {type(value).__name__}")

    def buffer(self, value: Any, memory: Memory) -> Any:  # noqa: ARG002
        return value


@record
class _View:
    buffer: Buffer
    element: Type
    memory: Private


class _Views:
    """Buffers as the kernel sees them: one that is given twice is the same memory."""

    def __init__(self, kernel: Kernel, now: Now) -> None:
        self.now = now
        self.views: dict[int, _View] = {}
        pairs = zip(kernel.code.parameters, kernel.arguments)
        self.written = {
            id(a) for (name, _), a in pairs if name in kernel.code.pointers - kernel.code.constant
        }

    def of(self, name: str, buffer: Buffer, element: Type) -> Private:
        key = id(buffer)
        if key not in self.views or self.views[key].element != element:
            memory = buffer.memory(name, element, self.now if key in self.written else None)
            self.views[key] = _View(buffer, element, memory)
        return self.views[key].memory

    def back(self, launch: Launch) -> None:
        for v in self.views.values():
            if isinstance(v.memory, Output):
                v.buffer.take(v.memory.data, v.element)
                for cell, (fault, item, line) in v.memory.unset.items():
                    error = launch.error(str(fault), fault.kind, item, line)
                    v.buffer.faults[v.buffer.place_of(cell, v.element)] = error


def _plain(a: Any) -> Any:
    value = a.item()
    return int(value) if isinstance(value, bool) else value


@lru_cache(64)
def _translated(source: str, defines: tuple[tuple[str, str], ...]) -> Translation:
    try:
        return Translation(parse(source, dict(defines)))
    except NotModelled as e:
        lines = source.split("\n")
        text = lines[e.line - 1] if 0 < e.line <= len(lines) else ""
        place = Place("of the program", e.line, text, (0, 0, 0), (0, 0, 0))
        raise ExecutionError(str(e), None, place) from e
