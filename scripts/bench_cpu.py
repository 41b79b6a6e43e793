"""Times tiled C with OpenMP against the user's own loops, both compiled by the system's compiler.

    python scripts/bench_cpu.py                      # every case
    python scripts/bench_cpu.py mm heat --set Tk=64 --threads 1
    python scripts/bench_cpu.py mm --profile avx512 --recipe register

The loops as they are written run on one core, those that were tiled on `--threads`. The two take
turns; of each the best of several runs counts. Before that results are compared, to the last bit,
of both compiled without contraction.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loopxform as lx
from loopxform.schedule.params import RECIPES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import require_equal
from loopxform.verify.cref import CSource, Library

CORPUS = Path(__file__).parents[1] / "corpus"
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")
EXACT = ("-O3", "-march=native", "-ffp-contract=off")
SEED = 1


@dataclass(frozen=True)
class Case:
    """A nest, its sizes, and its billions of operations."""

    file: str
    sizes: Mapping[str, int | float]
    work: float


def _cases(n: int) -> dict[str, Case]:
    cube = {"M": n, "U": n, "N": n}
    scaled = {"alpha": 1.5, "beta": 0.5}
    image, plate = {"h": 2 * n, "w": 2 * n}, {"n": 4 * n, "m": 4 * n, "c": 0.1}
    third = 1e-9 * n**3
    return {
        "mm": Case("mm", cube, 2 * third),
        "mm_at": Case("mm_at", cube, 2 * third),
        "mm_bt": Case("mm_bt", cube, 2 * third),
        "gemm": Case("gemm", {**cube, **scaled}, 2 * third),
        "dgemm": Case("nests/gemm_double", {**cube, **scaled}, 2 * third),
        "batched": Case("batched", {"P": 8, **dict.fromkeys("MUN", n // 2)}, 2 * third),
        "correlation": Case("correlation", dict.fromkeys("MUN", n // 2), 6 / 8 * third),
        "covariance": Case("covariance", dict.fromkeys("NM", n // 2), 4 / 8 * third),
        "min_plus": Case("nests/min_plus", dict.fromkeys("nmu", n // 2), 2 / 8 * third),
        "filter": Case("nests/filter_7x7", image, 98e-9 * 4 * n * n),
        "nbody": Case("nests/nbody", {"n": 8 * n, "eps": 0.01}, 20e-9 * 64 * n * n),
        "matvec": Case("nests/matvec", {"n": 4 * n, "m": 4 * n}, 2e-9 * 16 * n * n),
        "heat": Case("nests/heat_2d", plate, 6e-9 * 16 * n * n),
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("case", nargs="*", help="names of cases (all)")
    p.add_argument("--size", type=int, default=1024)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--runs", type=int, default=5, help="of the loops as they are written")
    p.add_argument("--profile", default="cpu")
    p.add_argument("--recipe", choices=RECIPES)
    p.add_argument("--set", action="append", default=[], metavar="Tk=64", help="tile sizes")
    args = p.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    cases = _cases(args.size)
    given: dict[str, Any] = {name: int(value) for name, value in (x.split("=") for x in args.set)}
    print(f"{'nest':12} {'recipe':10} {'written':>10} {'tiled':>10} {'GFLOP/s':>8} {'ratio':>6}")
    for name in args.case or cases:
        recipe, before, after = _times(cases[name], args, given)
        rate = cases[name].work / after
        times = f"{before * 1e3:7.1f} ms {after * 1e3:7.1f} ms"
        print(f"{name:12} {recipe:10} {times} {rate:8.1f} {before / after:6.1f}", flush=True)
    return 0


def _times(
    case: Case, args: argparse.Namespace, given: Mapping[str, Any]
) -> tuple[str, float, float]:
    """The recipe, and the best times in seconds."""
    path = CORPUS / f"{case.file}.c"
    (routine,) = lx.load(path)
    tiled = routine.tile(limits=args.profile, recipe=args.recipe, **given)
    (text,) = tiled.openmp.files.values()
    fn = routine.function
    inputs = arguments(fn, case.sizes, SEED)
    results = []
    for source in (CSource(str(path), flags=EXACT), CSource(text=text, flags=(*EXACT, "-fopenmp"))):
        results.append({n: v.copy() if hasattr(v, "copy") else v for n, v in inputs.items()})
        Library(source, [fn]).run(fn.name, results[-1])
    require_equal(*results)
    written = Library(CSource(str(path), flags=FLAGS), [fn])
    ours = Library(CSource(text=text, flags=(*FLAGS, "-fopenmp")), [fn])
    best = [float("inf"), float("inf")]
    for _ in range(args.runs):
        for n, library in enumerate((written, ours, ours, ours)):
            start = time.perf_counter()
            library.run(fn.name, inputs)
            best[min(n, 1)] = min(best[min(n, 1)], time.perf_counter() - start)
    return tiled.tiled.recipe, best[0], best[1]


if __name__ == "__main__":
    raise SystemExit(main())
