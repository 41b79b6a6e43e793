"""Where kernels that were compiled as C run: in this process, or in one that a sanitizer watches.

Both have memory, by addresses, and launch kernels. What goes wrong is a DeviceError; what a
sanitizer finds, too, with its report.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, Any, ClassVar, Protocol, TypeAlias

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime.c.program import Mode, Program, server

PARAMETERS = 256
Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True)
class Local:
    """So many bytes of local memory."""

    nbytes: int


@dataclass(frozen=True, slots=True)
class Address:
    """Memory of a machine."""

    value: int


Argument: TypeAlias = "np.generic | Address | Local"


class Machine(Protocol):
    """Memory and kernels. Raises DeviceError in all of it."""

    def allocate(self, nbytes: int) -> int:
        """The address of so many bytes."""
        ...

    def free(self, address: int) -> None: ...

    def write(self, address: int, data: Array) -> None:
        """Copies a contiguous array to an address."""
        ...

    def read(self, data: Array, address: int) -> None:
        """Fills a contiguous array from an address."""
        ...

    def copy(self, to: int, source: int, nbytes: int) -> None: ...

    def launch(
        self,
        program: Program,
        kernel: int,
        groups: Sequence[int],
        local: Sequence[int],
        arguments: Sequence[Argument],
    ) -> int:
        """Runs a kernel and returns how long it took, in ns."""
        ...


class _Launch(ctypes.Structure):
    """`struct lx_launch` of groups.h."""

    _fields_: ClassVar = [
        ("kernel", ctypes.c_void_p),
        ("dimensions", ctypes.c_uint),
        ("parameters", ctypes.c_uint),
        ("threads", ctypes.c_uint),
        ("groups", ctypes.c_size_t * 3),
        ("local", ctypes.c_size_t * 3),
        ("arguments", ctypes.c_void_p * PARAMETERS),
        ("local_bytes", ctypes.c_size_t * PARAMETERS),
        ("nanoseconds", ctypes.c_longlong),
        ("message", ctypes.c_char * 160),
    ]


class Here:
    """This process. Groups run on as many threads as it has processors."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._memory: dict[int, Any] = {}

    def allocate(self, nbytes: int) -> int:
        try:
            memory: Array = np.empty(nbytes + 64, np.uint8)
        except MemoryError as e:
            raise DeviceError(f"there is no memory for {nbytes} bytes") from e
        address = int(memory.ctypes.data) + 63 & ~63
        self._memory[address] = memory
        return address

    def free(self, address: int) -> None:
        del self._memory[address]

    def write(self, address: int, data: Array) -> None:
        ctypes.memmove(address, data.ctypes.data, data.nbytes)

    def read(self, data: Array, address: int) -> None:
        ctypes.memmove(data.ctypes.data, address, data.nbytes)

    def copy(self, to: int, source: int, nbytes: int) -> None:
        ctypes.memmove(to, source, nbytes)

    def launch(
        self,
        program: Program,
        kernel: int,
        groups: Sequence[int],
        local: Sequence[int],
        arguments: Sequence[Argument],
    ) -> int:
        library = _library(program.path)
        launch = _Launch(dimensions=len(groups), parameters=len(arguments), threads=self.threads)
        size = 3 * ctypes.sizeof(ctypes.c_void_p)  # of struct lx_kernel
        launch.kernel = (
            ctypes.addressof(ctypes.c_char.in_dll(library, "lx_kernels")) + kernel * size
        )
        launch.groups[:], launch.local[:] = _three(groups), _three(local)
        kept = []
        for n, a in enumerate(arguments):
            if isinstance(a, Local):
                launch.local_bytes[n] = max(1, a.nbytes)
            elif isinstance(a, Address):
                launch.arguments[n] = a.value
            else:
                kept.append(np.array(a))
                launch.arguments[n] = kept[-1].ctypes.data
        if library.lx_run(ctypes.byref(launch)):
            raise DeviceError(launch.message.decode())
        return int(launch.nanoseconds)


@cache
def _library(path: Path) -> Any:
    try:
        return ctypes.CDLL(str(path))
    except OSError as e:
        raise _not_loaded(path, e) from e


def _not_loaded(path: Path, e: OSError) -> DeviceError:
    """A file that is damaged is compiled anew the next time."""
    path.unlink(missing_ok=True)
    return DeviceError(f"the compiled kernel cannot be loaded: {e}", code="LX059", help=AGAIN)


AGAIN = "try again; where programs cannot be run from that folder, set LOOPXFORM_CACHE to another"


def _three(sizes: Sequence[int]) -> list[int]:
    return ([*sizes, 1, 1])[:3]


ALLOCATE, FREE, WRITE, READ, COPY, LAUNCH, LOAD = range(1, 8)
SCALAR, BUFFER, LOCAL = range(3)
NO_RANDOM_ADDRESSES = 0x0040000
"""ThreadSanitizer wants the address space as it was laid out when it was built."""


class Watched:
    """A process, which a sanitizer ends when it finds something."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._loaded = dict[Path, int]()
        path = server(mode)
        self._one_at_a_time, self._loading = Lock(), Lock()
        self._freed = list[int]()
        self._owner = os.getpid()
        self._report = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        try:
            self._process = subprocess.Popen(
                [str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._report,
                env={**os.environ, **_SANITIZERS},
                preexec_fn=_as_laid_out,
            )
        except OSError as e:
            raise _not_loaded(path, e) from e
        weakref.finalize(self, _end, self._process, self._report)

    def allocate(self, nbytes: int) -> int:
        with suppress(IndexError):
            while True:
                self._ask(_numbers(FREE, self._freed.pop()), "")
        (address,) = self._ask(_numbers(ALLOCATE, nbytes), "Q")
        if not address:
            raise DeviceError(f"there is no memory for {nbytes} bytes")
        return int(address)

    def free(self, address: int) -> None:
        """Later: the garbage collector may call in the middle of a request."""
        self._freed.append(address)

    def write(self, address: int, data: Array) -> None:
        self._ask(_numbers(WRITE, address, data.nbytes) + data.tobytes(), "")

    def read(self, data: Array, address: int) -> None:
        (taken,) = self._ask(_numbers(READ, address, data.nbytes), f"{data.nbytes}s")
        ctypes.memmove(data.ctypes.data, taken, data.nbytes)

    def copy(self, to: int, source: int, nbytes: int) -> None:
        self._ask(_numbers(COPY, to, source, nbytes), "")

    def launch(
        self,
        program: Program,
        kernel: int,
        groups: Sequence[int],
        local: Sequence[int],
        arguments: Sequence[Argument],
    ) -> int:
        sizes = (*_three(groups), *_three(local))
        place = self._place(program.path)
        head = _numbers(LAUNCH, place, kernel, len(groups), *sizes, len(arguments))
        taken, message = self._ask(head + b"".join(map(_argument, arguments)), "q160s")
        if text := message.split(b"\0")[0]:
            raise DeviceError(text.decode())
        return int(taken)

    def _place(self, path: Path) -> int:
        """The number of a program in the process, which loads it where it is new."""
        with self._loading:
            if path not in self._loaded:
                name = os.fsencode(path)
                (message,) = self._ask(_numbers(LOAD, len(name)) + name, "160s")
                if text := message.split(b"\0")[0]:
                    raise _not_loaded(path, OSError(text.decode(errors="replace")))
                self._loaded[path] = len(self._loaded)
            return self._loaded[path]

    def _ask(self, request: bytes, answer: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if os.getpid() != self._owner:
            raise DeviceError(f"{self.mode.name} runs for the process that compiled", help=FORKED)
        size = struct.calcsize(f"={answer}")
        with self._one_at_a_time:
            try:
                self._process.stdin.write(request)
                self._process.stdin.flush()
                told = self._process.stdout.read(size)
            except (BrokenPipeError, ValueError):
                told = b""
            if len(told) < size or self._process.poll() is not None:
                raise self._ended()
        return struct.unpack(f"={answer}", told)

    def _ended(self) -> DeviceError:
        """What the sanitizer says."""
        self._process.wait()
        self._report.seek(0)
        text = self._report.read().decode(errors="replace")
        lines = [x.rstrip() for x in text.splitlines() if x.strip(" =")]
        first = next((n for n, x in enumerate(lines) if _HEADING.search(x)), 0)
        about = _HEADING.search(lines[first]) if lines else None
        what = about[1] if about else f"exit status {self._process.returncode}"
        shown = [_PLACE.sub(r"\1", x.strip()) for x in lines[first + 1 : first + 13]]
        return DeviceError(f"the kernel fails under {self.mode.name}: {what}", notes=shown)


def _end(process: subprocess.Popen[bytes], report: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, report):
        if stream is not None:
            with suppress(OSError):
                stream.close()


FORKED = "compile again in each process that was forked, or use --device c"
_SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66",
}
_HEADING = re.compile(r"(?:ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error): ([^(\n]+)")
_PLACE = re.compile(r" \S*/(kernel\.cl:\d+)")


def _as_laid_out() -> None:
    """Before the process begins: its addresses are not random."""
    personality = getattr(ctypes.CDLL(None), "personality", None)  # Linux has it
    if personality is not None:
        personality(NO_RANDOM_ADDRESSES)


def _numbers(*values: int) -> bytes:
    return struct.pack(f"={len(values)}Q", *values)


def _argument(a: Argument) -> bytes:
    if isinstance(a, Local):
        return _numbers(LOCAL, max(1, a.nbytes))
    if isinstance(a, Address):
        return _numbers(BUFFER, a.value)
    return _numbers(SCALAR) + a.tobytes().ljust(16, b"\0")
