"""Times whole functions of a PolyBench/C 4.2 folder on a GPU, next to the mapping of each iteration
to a work-item, and prints a table.

    python scripts/bench_suite.py polybench-c-4.2.1 [--dataset EXTRALARGE] [--only gemm,atax]

Kernel times are sums of OpenCL events of one call, medians of several after warm-up, on arrays that
stay on the device; `span` is from the start of the first kernel to the end of the last. Transfers
are those of the written C, timed by events too, from and to plain memory of the host. Results of
both mappings are compared.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from suite import kernel_of, programs, sizes_of

from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.offload.program import offload
from loopxform.runtime.device import context, pyopencl
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.opencl_queue import OpenCLQueue
from loopxform.runtime.profiles import limits_of
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.verify.check_run import arguments

DENSE = "gemm,2mm,3mm,atax,bicg,mvt,gesummv,correlation,covariance,doitgen"
STENCILS = "jacobi-2d,fdtd-2d,heat-3d"
SEED = 1
HEAD = (
    "program       kernels launches  tiled ms  span ms  naive ms   ratio    in ms   out ms  result"
)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--dataset", default="EXTRALARGE")
    p.add_argument("--only", default=f"{DENSE},{STENCILS}", help="names of programs, with commas")
    p.add_argument("--device", help="as `loopxform devices` lists them (the first GPU)")
    p.add_argument("--repeat", type=int, default=3, metavar="N", help="calls timed (3)")
    p.add_argument("--reassociate", action="store_true", help="sums of floats in another order")
    args = p.parse_args()
    cl = pyopencl()
    device = choose(args.device)
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context(device), device.handle, properties=profiling)
    print(f"{device}, {args.dataset}, medians of {args.repeat}, inputs from seed {SEED}")
    print(HEAD)
    wrong = 0
    for path in programs(args.folder, args.only):
        try:
            wrong += not _timed(path, args, device, queue)
        except LoopxformError as e:
            wrong += 1
            print(f"{path.stem:<13} {e.message}", flush=True)
    return min(wrong, 1)


def _timed(path: Path, args: argparse.Namespace, device: Any, queue: Any) -> bool:
    """One line of the table; whether both mappings gave the same."""
    routine = kernel_of(path, args.folder, args.dataset)
    host = arguments(routine.function, sizes_of(routine, path, args.dataset), SEED)
    results, times = [], []
    for recipe in (None, "naive"):
        options = Options(reassociate=args.reassociate and recipe is None)
        done = offload(routine.function, {}, limits_of(device), options, recipe)
        plan = emit.kernel(done.derivation)
        kernel = CompiledKernel(plan, device, queue=OpenCLQueue(queue))
        result, taken = _calls(kernel, host, queue, args.repeat)
        results.append(result)
        times.append((kernel, *taken))
    (tiled, busy, span, launches), (_, naive, _, _) = times
    same = all(_close(v, results[1][n]) for n, v in results[0].items())
    moved = [_transfers(tiled, host, queue, out=out) for out in (False, True)]
    print(
        f"{path.stem:<13} {len(tiled.plan.kernels):7} {launches:8} {busy:9.3f} {span:8.3f} "
        f"{naive:9.3f} {naive / busy:7.2f} {moved[0]:8.2f} {moved[1]:8.2f}  "
        + ("agree" if same else "DIFFERENT"),
        flush=True,
    )
    return same


def _calls(
    kernel: CompiledKernel, host: dict[str, Any], queue: Any, repeat: int
) -> tuple[dict[str, Any], tuple[float, float, int]]:
    """What the arrays hold after one call, and of further calls the medians in ms of what the
    kernels took and of the whole, and the number of launches."""
    from pyopencl import array

    def fresh() -> dict[str, Any]:
        return {
            n: array.to_device(queue, v) if isinstance(v, np.ndarray) else v
            for n, v in host.items()
        }

    values = fresh()
    kernel(**values)
    result = {b.param.name: values[b.param.name].get() for b in kernel.plan.buffers if b.written}
    found = []
    for _ in range(repeat):
        values = fresh()
        kernel(**values)
        assert kernel.taken is not None
        found.append(kernel.taken)
    busy, span = (median(t / 1e6 for t in column) for column in list(zip(*found))[:2])
    return result, (busy, span, found[0].launches)


def _transfers(kernel: CompiledKernel, host: dict[str, Any], queue: Any, *, out: bool) -> float:
    """Milliseconds of all copies in one direction, after one that is not timed."""
    cl = pyopencl()
    total = 0.0
    scalars = {n: v for n, v in host.items() if isinstance(v, int)}
    for b in kernel.plan.buffers:
        begin, end = b.elements(b.back if out else b.into, scalars)
        if begin == end:
            continue
        there = host[b.param.name].reshape(-1)[begin:end].copy()
        memory = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, there.nbytes)
        ends = (there, memory) if out else (memory, there)
        events = [cl.enqueue_copy(queue, *ends, is_blocking=True) for _ in range(2)]
        total += (events[1].profile.end - events[1].profile.start) / 1e6
    return total


def _close(a: Any, b: Any) -> bool:
    scale = float(np.max(np.abs(b))) or 1.0
    return bool(np.all(np.isfinite(a) == np.isfinite(b)) and np.max(np.abs(a - b)) <= 1e-6 * scale)


if __name__ == "__main__":
    raise SystemExit(main())
