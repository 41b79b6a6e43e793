"""What a device can do at most, measured: memory read, float and double multiply-adds.

The best of several launches (OpenCL events): a sum over a large buffer that work-items read side by
side, 16 bytes each at a time, and eight independent chains of multiply-adds in every work-item, for
as long as the clock needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.runtime.build import build
from loopxform.runtime.device import DeviceInfo, profiled_queue, pyopencl
from loopxform.runtime.resident import device_errors

GIGABYTE = 1 << 30
GROUP, CHAINS, LAUNCHES = 256, 8, 5
GROUPS_PER_UNIT = 32
ENOUGH = 5_000_000
"""Nanoseconds of a launch that is long enough to be measured."""

SOURCE = """
__kernel void stream(__global const float4 *a, ulong n, __global float *out)
{
  float4 sum = 0.0f;
  for (ulong k = get_global_id(0); k < n; k += get_global_size(0))
    sum += a[k];
  if (sum.x + sum.y + sum.z + sum.w == 1.0f)
    out[0] = 1.0f;
}
#define CHAINS(T, NAME)                                                 \\
  __kernel void NAME(T a, int steps, __global T *out)                   \\
  {                                                                     \\
    T s[%(chains)d];                                                    \\
    for (int c = 0; c < %(chains)d; c++)                                \\
      s[c] = (T)(get_global_id(0) + c);                                 \\
    for (int k = 0; k < steps; k++)                                     \\
      for (int c = 0; c < %(chains)d; c++)                              \\
        s[c] = fma(s[c], a, a);                                         \\
    for (int c = 0; c < %(chains)d; c++)                                \\
      if (s[c] == (T)1)                                                 \\
        out[0] = s[c];                                                  \\
  }
CHAINS(float, floats)
"""
DOUBLES = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nCHAINS(double, doubles)\n"


@dataclass(frozen=True)
class Peak:
    """`bandwidth` in GB/s; GFLOP/s by type, where the device has it (`float`, `double`)."""

    bandwidth: float
    gflops: dict[str, float]

    def at(self, intensity: float, type: str) -> float:
        """The roof in GFLOP/s over an intensity in operations for a byte."""
        return min(self.gflops[type], self.bandwidth * intensity)


def measured(device: DeviceInfo, nbytes: int = GIGABYTE) -> Peak:
    """Reads at most so many bytes. Raises DeviceError."""
    text = SOURCE % {"chains": CHAINS} + (DOUBLES if device.fp64 else "")
    program = build(device, text).program
    queue = profiled_queue(device)
    cl = pyopencl()
    size = min(nbytes, device.max_alloc // 4, device.global_bytes // 8) // 16 * 16
    kinds = [("float", np.float32, "floats"), ("double", np.float64, "doubles")]
    with device_errors(queue):
        a = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, size)
        cl.enqueue_fill_buffer(queue, a, np.float32(0), 0, size)
        out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 8)
        bandwidth = size / _best(queue, program.stream, a, np.uint64(size // 16), out)
        rates = {
            name: _rate(queue, getattr(program, kernel), of(0.5), out)
            for name, of, kernel in kinds[: 1 + device.fp64]
        }
    return Peak(bandwidth, rates)


def _rate(queue: Any, kernel: Any, value: Any, out: Any) -> float:
    """Operations in a nanosecond, of chains that are long enough."""
    steps = 64
    while (taken := _best(queue, kernel, value, np.int32(steps), out)) < ENOUGH:
        steps *= 4
    return 2 * CHAINS * steps * _items(queue) / taken


def _best(queue: Any, kernel: Any, *args: Any) -> float:
    """Nanoseconds of the quickest launch."""
    events = [kernel(queue, (_items(queue),), (GROUP,), *args) for _ in range(LAUNCHES)]
    queue.finish()
    return float(max(1, min(e.profile.end - e.profile.start for e in events)))


def _items(queue: Any) -> int:
    return int(GROUP * GROUPS_PER_UNIT * queue.device.max_compute_units)
