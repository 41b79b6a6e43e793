"""Times the pipelines of corpus/pipelines as `offload` maps them, and nest by nest, in one run.

    python scripts/bench_pipelines.py [NAME ...] --device 0:0 --profile h100

Event times from the start of the first kernel of a call to the end of the last, the least of
several calls; sizes are those of the published pipelines. Only one is timed at a time.
"""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.ir.evaluate import evaluate

FOLDER = Path(__file__).parents[1] / "corpus" / "pipelines"
SIZES: dict[str, dict[str, int | float]] = {
    "bilateral_grid": {"h": 1536, "w": 2560},
    "blur3": {"planes": 3, "h": 4096, "w": 4096},
    "camera_pipe": {"h": 968, "w": 1284, "strength": 20},
    "harris": {"h": 2832, "w": 4256},
    "interpolate": {"h": 1536, "w": 2560},
    "pyramid_blend": {"h": 2160, "w": 3840},
    "unsharp_mask": {"h": 2832, "w": 4256, "threshold": 0.1, "weight": 0.7},
}
FORMS: dict[str, dict[str, Any]] = {
    "as chosen": {},
    "nest by nest": {"fuse_stages": (), "tile_stages": ()},
}


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("names", nargs="*", metavar="NAME", help="pipelines (all)")
    p.add_argument("--device", default=None)
    p.add_argument("--profile", default="h100", help="(h100)")
    p.add_argument("--divide", type=int, default=1, metavar="N", help="sizes by this (1)")
    p.add_argument("--repeat", type=int, default=10, metavar="N", help="calls (10)")
    p.add_argument("--jobs", type=int, default=8, metavar="N", help="mapped at a time (8)")
    args = p.parse_args()
    spawn = multiprocessing.get_context("spawn")
    lock = spawn.Manager().Lock()
    jobs = [(name, form, args, lock) for name in args.names or SIZES for form in FORMS]
    with spawn.Pool(args.jobs) as pool:
        for line in pool.imap(_timed, jobs, chunksize=1):
            print(line, flush=True)
    return 0


def _timed(job: tuple[str, str, argparse.Namespace, Any]) -> str:
    name, form, args, lock = job
    routine = lx.load(FOLDER / f"{name}.c")[name]
    done = routine.offload(limits=args.profile, **FORMS[form])
    call = done.compile(args.device)
    sizes = {n: v // args.divide if n in ("h", "w") else v for n, v in SIZES[name].items()}
    given = _arguments(routine, sizes)
    with lock:
        times = call.again(args.repeat + 2, **given)[2:]
        launches = len(call.parts(**given))
    about = "; ".join(part.about for part in done.parts if part.about)
    return f"{name:15} {form:13} {min(times) / 1e6:8.4f} ms {launches:3} kernels  {about}"


def _arguments(routine: lx.Routine, sizes: dict[str, int | float]) -> dict[str, Any]:
    """Numbers, and arrays of elements that are small enough to say where others are."""
    random = np.random.default_rng(1)
    whole = {n: v for n, v in sizes.items() if isinstance(v, int)}
    given: dict[str, Any] = dict(sizes)
    for p in routine.function.params:
        if p.shape:
            shape = tuple(evaluate(e, whole) for e in p.shape if e is not None)
            drawn = random.random(shape) if p.type.is_float else random.integers(0, 127, shape)
            given[p.name] = drawn.astype(p.type.numpy)
    return given


if __name__ == "__main__":
    raise SystemExit(main())
