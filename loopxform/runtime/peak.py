"""What a device can do at most, measured: moving memory, float and double multiply-adds.

The best of several launches (OpenCL events): a copy of a large buffer, 16 bytes by each work-item,
and eight independent chains of multiply-adds in every work-item, of numbers and of vectors, for as
long as the clock needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.errors import DeviceError
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.queue import Queue
from loopxform.runtime.queues import queue_on

LARGE = 1 << 29
GROUP, CHAINS, LAUNCHES = 256, 8, 5
GROUPS_PER_UNIT = 32
LINE = 16 * GROUP
ENOUGH = 5_000_000
"""Nanoseconds of a launch that is long enough to be measured."""

COPY = """
__kernel void copy(__global const float4 *a, __global float4 *b)
{
  b[get_global_id(0)] = a[get_global_id(0)];
}
"""
CHAINS_OF = """
#define CHAINS(T, NAME, ANY)                                            \\
  __kernel void NAME(int steps, __global T *out)                        \\
  {                                                                     \\
    const T a = (T)0.5f;                                                \\
    T s0 = (T)get_global_id(0), s1 = s0 + a, s2 = s1 + a, s3 = s2 + a;  \\
    T s4 = s3 + a, s5 = s4 + a, s6 = s5 + a, s7 = s6 + a;               \\
    for (int k = 0; k < steps; k++) {                                   \\
      s0 = fma(s0, a, a); s1 = fma(s1, a, a);                           \\
      s2 = fma(s2, a, a); s3 = fma(s3, a, a);                           \\
      s4 = fma(s4, a, a); s5 = fma(s5, a, a);                           \\
      s6 = fma(s6, a, a); s7 = fma(s7, a, a);                           \\
    }                                                                   \\
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;                             \\
    if (ANY(s0 == (T)0.25f))                                            \\
      out[0] = s0;                                                      \\
  }
"""
DOUBLES = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
WIDTHS = (1, 16)


def _c_chains(type: str, width: int) -> str:
    """As `CHAINS`, in vectors that the C compiler makes."""
    each = f"for (int c = 0; c < {CHAINS}; c++)\n for (int l = 0; l < {width}; l++)\n"
    return f"""
__kernel void {type}_{width}(int steps, __global {type} *out)
{{
  {type} s[{CHAINS}][{width}];
  {each} s[c][l] = ({type})(get_global_id(0) + c + l);
  for (int k = 0; k < steps; k++)
    {each} s[c][l] = s[c][l] * ({type})0.5f + ({type})0.5f;
  {each} if (s[c][l] == ({type})0.25f)
    out[0] = s[c][l];
}}
"""


def _chains(device: DeviceInfo, type: str, width: int) -> str:
    """The kernel `TYPE_WIDTH`, in a program of its own: a device that cannot build vectors of 16
    has numbers all the same."""
    if device.is_c:
        return _c_chains(type, width)
    vector, any_of = (type, "") if width == 1 else (f"{type}{width}", "any")
    extension = DOUBLES if type == "double" else ""
    return f"{extension}{CHAINS_OF}CHAINS({vector}, {type}_{width}, {any_of})\n"


@dataclass(frozen=True)
class Peak:
    """`bandwidth` in GB/s; GFLOP/s by type, where the device has it (`float`, `double`)."""

    bandwidth: float
    gflops: dict[str, float]

    def at(self, intensity: float, type: str) -> float:
        """The roof in GFLOP/s over an intensity in operations for a byte."""
        return min(self.gflops[type], self.bandwidth * intensity)


def measured(device: DeviceInfo, nbytes: int = LARGE) -> Peak:
    """Copies at most so many bytes. Raises DeviceError."""
    queue = queue_on(device)
    size = min(nbytes, device.max_alloc // 4, device.global_bytes // 8) // LINE * LINE
    types = ("float", "double") if device.fp64 else ("float",)

    copy = queue.kernel(COPY, "copy", ())
    with queue.errors(f"{device.name} does not do it"):
        a, b, out = (queue.allocate(n) for n in (size, size, 16 * 8))
        zeros = np.zeros(size, np.uint8)
        for x in (a, b):
            queue.write(x, zeros)
        bandwidth = 2 * size / _best(queue, copy, size // 16, a, b)
        rates = {t: max(_rates(queue, t, out)) for t in types}
    return Peak(bandwidth, rates)


def _rates(queue: Queue, type: str, out: Any) -> Iterator[float]:
    """Operations in a nanosecond, of numbers and of vectors where the device builds these. Raises
    DeviceError."""
    for width in WIDTHS:
        try:
            kernel = queue.kernel(_chains(queue.device, type, width), f"{type}_{width}", ())
        except DeviceError:
            if width == 1:
                raise
            continue
        yield width * _rate(queue, kernel, out)


def _rate(queue: Queue, kernel: Any, out: Any) -> float:
    """Multiply-adds in a nanosecond, times two, of chains that are long enough."""
    items = GROUP * GROUPS_PER_UNIT * queue.device.compute_units
    steps = 64
    while (taken := _best(queue, kernel, items, np.int32(steps), out)) < ENOUGH:
        steps *= 4
    return 2 * CHAINS * steps * items / taken


def _best(queue: Queue, kernel: Any, items: int, *args: Any) -> float:
    """Nanoseconds of the quickest launch."""
    queue.bind(kernel, args)
    events = [queue.enqueue(kernel, (items,), (GROUP,)) for _ in range(LAUNCHES)]
    queue.finish()
    times = map(queue.times, events)
    return float(max(1, min(end - start for start, end in times)))
