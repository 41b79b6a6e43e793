"""Times the three variants of table 3 (seed 000) on a GPU: naive, block, register.

    python scripts/bench_gpu.py                       # 4096^3, float, 16x16 items, Tk 16, 8x8
    python scripts/bench_gpu.py --size 1024 --device 0:0

Times are of the kernel on the device (OpenCL events), the median of several launches after warm-up
on arrays that stay there. The result of every recipe is compared with numpy's before it is timed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

import numpy as np

import loopxform as lx
from loopxform.recipes.sizes import Recipe
from loopxform.runtime.device import choose, context, pyopencl
from loopxform.runtime.profiles import limits_of

CORPUS = Path(__file__).parents[1] / "corpus"
RECIPES: tuple[Recipe, ...] = ("naive", "block", "register")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--size", type=int, default=4096, metavar="N", help="N^3 (4096)")
    p.add_argument("--device", help="as `loopxform devices` lists them (the first GPU)")
    p.add_argument("--repeat", type=int, default=10, metavar="N", help="launches timed (10)")
    for name, value in (("Ty", 16), ("Tx", 16), ("Tk", 16), ("Ry", 8), ("Rx", 8)):
        p.add_argument(f"--{name}", type=int, default=value)
    args = p.parse_args()
    sizes = {name: getattr(args, name) for name in ("Ty", "Tx", "Tk", "Ry", "Rx")}

    cl = pyopencl()
    from pyopencl import array

    device = choose(args.device)
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context(device), device.handle, properties=profiling)
    n, seed = args.size, 1
    rng = np.random.Generator(np.random.PCG64(seed))
    a, b = (rng.random((n, n), np.float32) - np.float32(0.5) for _ in range(2))
    expected = a @ b
    on_device = [array.to_device(queue, x) for x in (a, b, np.zeros_like(expected))]

    print(f"{device}, float {n}^3, {sizes}, inputs from seed {seed}")
    print(f"{'recipe':<10} {'median ms':>10} {'min':>8} {'max':>8} {'TFLOP/s':>8} {'x naive':>8}")
    mm = lx.load(CORPUS / "mm.c")["mm"]
    naive = 0.0
    for recipe in RECIPES:
        kernel = mm.tile(recipe=recipe, limits=limits_of(device), **sizes).compile(queue=queue)
        kernel(n, n, n, *on_device)
        worst = float(np.max(np.abs(on_device[2].get() - expected)))
        if worst > 1e-5 * n:
            print(f"{recipe}: WRONG, an element differs by {worst}")
            return 1
        times = []
        for _ in range(args.repeat + 2):
            kernel(n, n, n, *on_device)
            times.append((kernel.nanoseconds or 0) / 1e6)
        timed = times[2:]
        middle = median(timed)
        naive = naive or middle
        rate = 2 * n**3 / middle / 1e9
        print(
            f"{recipe:<10} {middle:10.3f} {min(timed):8.3f} {max(timed):8.3f} {rate:8.2f} "
            f"{naive / middle:8.2f}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
