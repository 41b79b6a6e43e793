"""Queues of devices, whatever runs their kernels."""

from __future__ import annotations

from typing import Any

from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.queue import Queue


def queue_on(device: DeviceInfo) -> Queue:
    """A queue of its own whose events tell times. Raises DeviceError."""
    if device.is_c:
        from loopxform.runtime.c.queue import CQueue

        return CQueue(device)
    from loopxform.runtime.opencl_queue import OpenCLQueue

    return OpenCLQueue.on(device)


def queue_of(raw: Any) -> Queue:
    """The user's `pyopencl.CommandQueue`."""
    from loopxform.runtime.opencl_queue import OpenCLQueue

    return OpenCLQueue(raw)
