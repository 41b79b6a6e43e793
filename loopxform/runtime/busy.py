"""Work that finds a device busy, so that all of it is enqueued before the first of it runs, and the
device never waits for the host."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from loopxform.runtime.device import pyopencl

SOURCE = """
__kernel void lx_busy(const int times, __global float *out)
{
  float x = (float)times;
  for (int i = 0; i < times; ++i)
    x = x * 0.999f + 1;
  out[0] = x;
}
"""
TIMES = 2_000_000
"""Multiply-adds that wait for each other: some 5 ms."""


def keep_busy(queue: Any) -> None:
    """Gives the device of a queue something to do for as long as it takes to enqueue some hundred
    kernels."""
    cl = pyopencl()
    kernel, out = _kernel(queue.context)
    kernel(queue, (1,), (1,), np.int32(TIMES), out)
    if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        cl.enqueue_barrier(queue)


@lru_cache(maxsize=4)
def _kernel(context: Any) -> tuple[Any, Any]:
    cl = pyopencl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # compilers comment on what is right
        program = cl.Program(context, SOURCE).build()
    return cl.Kernel(program, "lx_busy"), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
