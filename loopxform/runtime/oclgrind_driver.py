"""Runs kernels as a job directory describes them; started under Oclgrind by `oclgrind.py`.

job.json: source, options, buffers (key -> [bytes, offset in in.bin, or null where nothing in it is
set]), and launches, each with kernel, global_size, local_size and args, each {"buffer": key},
{"local": bytes} or {"scalar": its bytes in hexadecimal}. in.bin holds the arrays one after the
other, out.bin what became of them.

The process has the simulator's OpenCL in it already. With the standard library alone it starts in a
fifth of the time that pyopencl takes to be imported.
"""

from __future__ import annotations

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

BUILD_LOG, ALL_DEVICES, READ_WRITE, COPY = 0x1183, 0xFFFFFFFF, 1, 1 << 5

_cl = ctypes.CDLL(None)


def check(name: str, status: int) -> None:
    if status:
        sys.exit(f"{name} failed: {status}")


def call(name: str, *args: Any) -> None:
    """A function that returns its status."""
    check(name, getattr(_cl, name)(*args))


def create(name: str, *args: Any) -> c_void_p:
    """A function that returns an object, and its status behind the last argument."""
    function, status = getattr(_cl, name), c_int32()
    function.restype = c_void_p
    found = function(*args, byref(status))
    check(name, status.value)
    return c_void_p(found)


def sizes(values: list[int]) -> Any:
    return (c_size_t * len(values))(*values)


def built(context: c_void_p, device: c_void_p, source: str, options: list[str]) -> c_void_p:
    text = c_char_p(source.encode())
    program = create("clCreateProgramWithSource", context, 1, byref(text), None)
    if status := _cl.clBuildProgram(
        program, 1, byref(device), c_char_p(" ".join(options).encode()), None, None
    ):
        log = ctypes.create_string_buffer(1 << 16)
        room = c_size_t(len(log))
        _cl.clGetProgramBuildInfo(program, device, c_uint32(BUILD_LOG), room, log, None)
        print(log.value.decode(errors="replace"), file=sys.stderr)
        check("clBuildProgram", status)
    return program


class Job:
    """A queue and the buffers of the only device there is."""

    def __init__(self, buffers: dict[str, Any], data: Any) -> None:
        platform, self.device = c_void_p(), c_void_p()
        call("clGetPlatformIDs", 1, byref(platform), None)
        call("clGetDeviceIDs", platform, ctypes.c_uint64(ALL_DEVICES), 1, byref(self.device), None)
        own = POINTER(c_void_p)(self.device)
        self.context = create("clCreateContext", None, 1, own, None, None)
        self.queue = create("clCreateCommandQueue", self.context, self.device, ctypes.c_uint64(0))
        self.buffers = {
            key: self._buffer(size, offset, data) for key, (size, offset) in buffers.items()
        }

    def _buffer(self, size: int, offset: int | None, data: Any) -> c_void_p:
        flags = READ_WRITE if offset is None else READ_WRITE | COPY
        place = None if offset is None else byref(data, offset)
        kind = ctypes.c_uint64(flags)
        return create("clCreateBuffer", self.context, kind, c_size_t(max(1, size)), place)

    def launch(self, program: c_void_p, x: dict[str, Any]) -> None:
        kernel = create("clCreateKernel", program, c_char_p(x["kernel"].encode()))
        for n, arg in enumerate(x["args"]):
            self._bind(kernel, n, arg)
        total, group = sizes(x["global_size"]), sizes(x["local_size"])
        rank = len(x["global_size"])
        call("clEnqueueNDRangeKernel", self.queue, kernel, rank, None, total, group, 0, None, None)

    def _bind(self, kernel: c_void_p, n: int, arg: dict[str, Any]) -> None:
        if "local" in arg:
            call("clSetKernelArg", kernel, n, c_size_t(arg["local"]), None)
        elif "buffer" in arg:
            buffer = self.buffers[arg["buffer"]]
            call("clSetKernelArg", kernel, n, c_size_t(ctypes.sizeof(buffer)), byref(buffer))
        else:
            value = bytes.fromhex(arg["scalar"])
            call("clSetKernelArg", kernel, n, c_size_t(len(value)), c_char_p(value))

    def read(self, key: str, size: int, data: Any, offset: int) -> None:
        place, room = byref(data, offset), c_size_t(size)
        call(
            "clEnqueueReadBuffer",
            self.queue, self.buffers[key], 1, c_size_t(0), room, place, 0, None, None,
        )  # fmt: skip


def main(directory: Path) -> None:
    """Runs the job in `directory`."""
    x = json.loads((directory / "job.json").read_text())
    given = (directory / "in.bin").read_bytes()
    data = ctypes.create_string_buffer(given, len(given) + 1)
    job = Job(x["buffers"], data)
    program = built(job.context, job.device, x["source"], x["options"])
    for launch in x["launches"]:
        job.launch(program, launch)
    call("clFinish", job.queue)
    for key, (size, offset) in x["buffers"].items():
        if size and offset is not None:
            job.read(key, size, data, offset)
    (directory / "out.bin").write_bytes(data.raw[: len(given)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
