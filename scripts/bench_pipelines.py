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
    p.add_argument("--rows", nargs="*", default=[], metavar="RxI", help="forms: --fuse-stages")
    p.add_argument("--blocks", nargs="*", default=[], metavar="YxXxI", help="forms: --tile-stages")
    p.add_argument("--kernels", action="store_true", help="print the time of each kernel, in us")
    args = p.parse_args()
    FORMS.update({f"rows {t}": {"fuse_stages": _numbers(t), "tile_stages": ()} for t in args.rows})
    FORMS.update({f"blocks {t}": {"tile_stages": _numbers(t)} for t in args.blocks})
    spawn = multiprocessing.get_context("spawn")
    lock = spawn.Manager().Lock()
    jobs = [(name, f, args, lock) for name in args.names or SIZES for f in FORMS.items()]
    with spawn.Pool(args.jobs) as pool:
        for line in pool.imap(_timed, jobs, chunksize=1):
            print(line, flush=True)
    return 0


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def _timed(job: tuple[str, tuple[str, dict[str, Any]], argparse.Namespace, Any]) -> str:
    name, (form, options), args, lock = job
    routine = lx.load(FOLDER / f"{name}.c")[name]
    done = routine.offload(limits=args.profile, **options)
    call = done.compile(args.device)
    sizes = {n: v // args.divide if n in ("h", "w") else v for n, v in SIZES[name].items()}
    given = _arguments(routine, sizes)
    with lock:
        times = call.again(args.repeat + 2, **given)[2:]
        launches = [time / 1e3 for _, time in call.parts(**given)]
    about = "; ".join(part.about for part in done.parts if part.about)
    line = f"{name:15} {form:13} {min(times) / 1e6:8.4f} ms {len(launches):3} kernels  {about}"
    return line + ("\n    us: " + " ".join(f"{t:.1f}" for t in launches) if args.kernels else "")


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
