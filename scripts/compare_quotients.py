"""Compares quotients and square roots without their rare cases with the device's own, bit by bit:
the roots of all floats, and quotients of so many pairs, a third of them with divisors or dividends
whose digits are nearly all ones.

    python scripts/compare_quotients.py --device 0:0 --pairs 32
"""

from __future__ import annotations

import argparse

import numpy as np
import pyopencl as cl

from loopxform.codegen.opencl import quick_quotients
from loopxform.runtime.device import context
from loopxform.runtime.selection import choose

CALLS = "quick_division( quick_division_with( quick_root( quick_start("
KERNELS = """
__kernel void roots(const uint first, __global uint *differ)
{
  const float x = as_float((uint)get_global_id(0) + first);
  uint usual = quick_start();
  const float r = quick_root(x, &usual);
  if ((usual & 1u << 30) && as_uint(r) != as_uint(sqrt(x)) && !(isnan(r) && isnan(sqrt(x))))
    atomic_inc(differ);
}
uint mixed(uint x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
__kernel void quotients(const uint first, __global uint *differ)
{
  const uint n = (uint)get_global_id(0) + first, ones = 0x007ffffeu | (n >> 5 & 1);
  const uint a = mixed(n), b = mixed(n ^ 0x9e3779b9u);
  const float x = as_float(n % 3 == 1 ? a & 0xff800000u : n % 127 ? a : a & 1u << 31);
  const float y = as_float(n % 3 == 2 ? b : b | ones);
  uint usual = quick_start();
  const float q = quick_division(x, y, &usual);
  if ((usual & 1u << 30) && as_uint(q) != as_uint(x / y))
    atomic_inc(differ);
  uint shared = quick_start();
  const float r = quick_division_with(x, y, quick_reciprocal(y), &shared);
  if ((shared & 1u << 30) && as_uint(r) != as_uint(x / y))
    atomic_inc(differ);
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="0:0")
    parser.add_argument("--bits", type=int, default=32, help="roots of 2^BITS floats")
    parser.add_argument("--pairs", type=int, default=32, help="quotients of 2^PAIRS pairs")
    args = parser.parse_args()
    device = choose(args.device)
    queue = cl.CommandQueue(context(device))
    text = "\n".join((*quick_quotients.helpers(CALLS), KERNELS))
    program = cl.Program(queue.context, text)
    program.build(["-cl-fp32-correctly-rounded-divide-sqrt"])
    wrong = 0
    for name, bits in (("roots", args.bits), ("quotients", args.pairs)):
        kernel, count = cl.Kernel(program, name), np.zeros(1, np.uint32)
        differ = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=count)
        part = min(bits, 28)
        for n in range(1 << (bits - part)):
            kernel(queue, (1 << part,), (256,), np.uint32(n << part), differ)
        cl.enqueue_copy(queue, count, differ)
        print(f"{device}: {name} of 2^{bits}: {count[0]} differ")
        wrong += int(count[0])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
