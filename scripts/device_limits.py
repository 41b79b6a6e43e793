"""What a device can do at most, measured: memory read, float and double multiply-adds.

    python scripts/device_limits.py

The best of several launches (OpenCL events): a sum over a gigabyte that work-items read side by
side, 16 bytes each at a time, and eight independent chains of multiply-adds in every work-item.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from loopxform.runtime.device import choose, context, pyopencl

GIGABYTE = 1 << 30
GROUP, GROUPS, CHAINS, STEPS = 256, 4096, 8, 4096
LAUNCHES = 5
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
  __kernel void NAME(T a, __global T *out)                              \\
  {                                                                     \\
    T s[%(chains)d];                                                    \\
    for (int c = 0; c < %(chains)d; c++)                                \\
      s[c] = (T)(get_global_id(0) + c);                                 \\
    for (int k = 0; k < %(steps)d; k++)                                 \\
      for (int c = 0; c < %(chains)d; c++)                              \\
        s[c] = fma(s[c], a, a);                                         \\
    for (int c = 0; c < %(chains)d; c++)                                \\
      if (s[c] == (T)1)                                                 \\
        out[0] = s[c];                                                  \\
  }
CHAINS(float, floats)
"""
DOUBLES = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nCHAINS(double, doubles)\n"


def measured(queue: Any) -> dict[str, float]:
    """GB/s of memory reads, GFLOP/s of floats and of doubles (where the device has them), by
    "GB/s", "GFLOP/s float", "GFLOP/s double"."""
    cl = pyopencl()
    doubles = bool(queue.device.double_fp_config)
    text = SOURCE % {"chains": CHAINS, "steps": STEPS} + (DOUBLES if doubles else "")
    program = cl.Program(queue.context, text).build()
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 8)
    a = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, GIGABYTE)
    cl.enqueue_fill_buffer(queue, a, np.float32(0), 0, GIGABYTE)
    flops = 2e-9 * CHAINS * STEPS * GROUP * GROUPS
    found = {
        "GB/s": _best(queue, program.stream, a, np.uint64(GIGABYTE // 16), out) * GIGABYTE / 1e9,
        "GFLOP/s float": _best(queue, program.floats, np.float32(0.5), out) * flops,
    }
    if doubles:
        found["GFLOP/s double"] = _best(queue, program.doubles, np.float64(0.5), out) * flops
    return found


def _best(queue: Any, kernel: Any, *args: Any) -> float:
    """Launches in a second, of the quickest."""
    events = [kernel(queue, (GROUP * GROUPS,), (GROUP,), *args) for _ in range(LAUNCHES)]
    queue.finish()
    return 1e9 / float(min(e.profile.end - e.profile.start for e in events))


def main() -> None:
    cl = pyopencl()
    device = choose(None)
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context(device), device.handle, properties=profiling)
    print(device)
    for what, most in measured(queue).items():
        print(f"{most:10.0f} {what}")


if __name__ == "__main__":
    main()
