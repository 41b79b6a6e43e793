"""Whether a device of OpenCL builds and runs a kernel at all: tried once, the answer is kept."""

from __future__ import annotations

from functools import cache

import numpy as np

from loopxform.cache import digest, store
from loopxform.errors import DeviceError
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.opencl_queue import OpenCLQueue
from loopxform.trace import Trace

SOURCE = """
__kernel void lx_probe(__global int *a)
{
  __local int b[4];
  const int i = (int)get_local_id(0);
  b[i] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = b[3 - i] + 1;
}
"""


def failure(device: DeviceInfo) -> tuple[DeviceError | None, bool]:
    """Why a device cannot be used, None where it can; and whether this was not known before."""
    is_new = device not in _asked
    _asked.add(device)
    error, was_kept = _failure(device)
    return error, is_new and not was_kept


_asked = set[DeviceInfo]()


@cache
def _failure(device: DeviceInfo) -> tuple[DeviceError | None, bool]:
    about = (device.platform, device.name, device.opencl_version, device.driver_version)
    key, kept = digest(b"probe", *(x.encode() for x in about)), store("devices")
    known = kept.find(key) if kept else None
    if known is not None:
        message, notes = known
        return (DeviceError(message, code="LX059", notes=notes) if message else None), True
    error = _tried(device)
    if kept:
        kept.keep(key, Trace[object](), [error.message, error.notes] if error else ["", []])
    return error, False


def _tried(device: DeviceInfo) -> DeviceError | None:
    numbers = np.arange(4, dtype=np.int32)
    try:
        queue = OpenCLQueue.on(device)
        kernel = queue.kernel(SOURCE, "lx_probe", ())
        with queue.errors(f"{device} does not run kernels"):
            buffer = queue.allocate(numbers.nbytes)
            queue.write(buffer, numbers)
            queue.bind(kernel, [buffer])
            queue.enqueue(kernel, (4,), (4,))
            queue.read(numbers, buffer)
    except DeviceError as e:
        return e
    right = numbers.tolist() == [4, 3, 2, 1]
    return None if right else DeviceError(f"{device} computes wrong results")
