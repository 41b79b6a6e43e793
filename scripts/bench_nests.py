"""Times the recipes on nests that are no matrix product, on a GPU: n-body, k-means, stencils, ...

    python scripts/bench_nests.py                    # every case and recipe
    python scripts/bench_nests.py nbody rows --recipe 1-d --set Tx=128 --set Rx=2
    python scripts/bench_nests.py smoothing words shift kmeans   # copies in other layouts, or none
    python scripts/bench_nests.py dot few_rows thin --recipe reduce   # reductions in chunks (--Rk)

Times are of kernels on the device (OpenCL events), medians of several launches after warm-up on
arrays that stay there. Results of all recipes are compared with those of the naive kernel, which
the tests compare with the C program. Rates count the arithmetic, or the bytes that must move, and
are set against what `device_limits.py` measures first.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from device_limits import measured

import loopxform as lx
from loopxform.errors import LoopxformError
from loopxform.recipes.sizes import Recipe
from loopxform.runtime.device import choose, context, pyopencl
from loopxform.runtime.profiles import limits_of
from loopxform.verify.check_run import arguments

CORPUS = Path(__file__).parents[1] / "corpus"
SEED = 1


@dataclass(frozen=True)
class Case:
    """A nest, its sizes, and its work: billions of operations, or of bytes."""

    file: str
    sizes: Mapping[str, int | float]
    work: float
    unit: str
    recipes: tuple[Recipe, ...]
    real: str = "float"
    chunks: int | None = None
    """Rk of all but the naive kernel; sums of floats are then computed in another order."""


def _cases() -> dict[str, Case]:
    n, p, k, rows = 65536, 1 << 20, 64, 32768
    image = {"h": 4096, "w": 4096}
    cube = {"n": 512, "m": 512, "l": 512, "c2": 0.1}
    square = {"M": 4096, "N": 4096, "U": 4096, "alpha": 1.5, "beta": 0.5}
    heat = {"n": 8192, "m": 8192, "h": 8192, "w": 8192}
    return {
        "nbody": Case("nests/nbody", {"n": n, "eps": 0.01}, 20e-9 * n * n, "GFLOP/s", ("1-d",)),
        "batched": Case(
            "batched",
            {"P": 64, "M": 512, "N": 512, "U": 512},
            2e-9 * 64 * 512**3,
            "GFLOP/s",
            ("register", "block", "one-sided"),
        ),
        "convolution": Case(
            "nests/filter_7x7", image, 98e-9 * 4096**2, "GFLOP/s", ("register", "block", "stencil")
        ),
        "dgemm": Case(
            "nests/gemm_double",
            square,
            2e-9 * 4096**3,
            "GFLOP/s",
            ("one-sided", "register", "block"),
            "double",
        ),
        "halves": Case("nests/gemm_half", square, 2e-9 * 4096**3, "GFLOP/s", ("register", "block")),
        "kmeans": Case(
            "nests/kmeans_assign", {"n": p, "k": k, "d": 16}, 3e-9 * p * k * 16, "GFLOP/s", ("1-d",)
        ),
        "rows": Case("nests/row_sum", {"M": rows, "N": 4096}, 4e-9 * rows * 4096, "GB/s", ("1-d",)),
        "matvec": Case("nests/matvec", {"n": 16384, "m": 16384}, 4e-9 * 16384**2, "GB/s", ("1-d",)),
        "moments": Case(
            "nests/row_moments", {"n": rows, "m": 4096}, 4e-9 * rows * 4096, "GB/s", ("1-d",)
        ),
        "softmax": Case(
            "nests/softmax_rows", {"n": 16384, "m": 4096}, 16e-9 * 16384 * 4096, "GB/s", ("1-d",)
        ),
        "channels": Case(
            "nests/conv_layer",
            {"n": 16, "co": 64, "ci": 64, "h": 128, "w": 128},
            18e-9 * 16 * 64 * 64 * 128 * 128,
            "GFLOP/s",
            ("register", "stencil"),
        ),
        "average": Case(
            "nests/moving_average", {"n": 1 << 24, "w": 64}, 64e-9 * 2**24, "GFLOP/s", ("1-d",)
        ),
        "window": Case(
            "nests/convolve",
            {"h": 4096, "w": 4096, "k": 7, "K": 7, "kh": 7, "kw": 7},
            98e-9 * 4096**2,
            "GFLOP/s",
            ("register", "stencil"),
        ),
        "heat": Case("nests/heat_2d", heat, 8e-9 * 8192**2, "GB/s", ("stencil", "register")),
        "wave": Case("nests/wave_3d", cube, 24e-9 * 512**3, "GB/s", ("stencil",)),
        "nine": Case("nests/nine_point", heat, 8e-9 * 8192**2, "GB/s", ("stencil",)),
        "blur": Case("nests/box_blur", image, 6e-9 * 4096**2, "GB/s", ("register", "stencil")),
        "smoothing": Case(
            "nests/smoothing_grid",
            {"n": 8 * rows, "grid": 16, "len": 512},
            64e-9 * 8 * rows * 512,
            "GB/s",
            (),
        ),
        "words": Case(
            "nests/word_counts", {"n": 1 << 19, "width": 1024}, 0.5e-9 * 2**29, "GB/s", ()
        ),
        "shift": Case(
            "nests/best_shift",
            {"n": 8 * rows, "shifts": 64, "len": 256},
            2e-9 * 8 * rows * 64 * 256,
            "GFLOP/s",
            (),
        ),
        "dot": Case("reductions/dot", {"n": 1 << 26}, 8e-9 * (1 << 26), "GB/s", (), chunks=256),
        "few_rows": Case(
            "nests/row_sum",
            {"M": 64, "N": 1 << 20},
            4e-9 * (64 << 20),
            "GB/s",
            ("reduce",),
            chunks=256,
        ),
        "thin": Case(
            "mm",
            {"M": 64, "N": 64, "U": 1 << 20},
            2e-9 * 64 * 64 * (1 << 20),
            "GFLOP/s",
            ("register", "block"),
            chunks=256,
        ),
        "life": Case("nests/game_of_life", heat, 2e-9 * 8192**2, "GB/s", ("register", "stencil")),
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("case", nargs="*", help="names of cases (all)")
    p.add_argument("--device", help="as `loopxform devices` lists them (the first GPU)")
    p.add_argument("--repeat", type=int, default=7, metavar="N", help="launches timed (7)")
    p.add_argument("--recipe", action="append", help="in place of the recipes of the case")
    p.add_argument("--set", action="append", default=[], metavar="Tx=128", help="tile sizes")
    p.add_argument("--pad", action="store_true", help="neutral padding in place of epilogues")
    args = p.parse_args()
    cases = _cases()
    unknown = [n for n in args.case if n not in cases]
    if unknown:
        p.error(f"no case {unknown[0]!r}: {', '.join(cases)}")
    tiles = {n: int(v) for n, _, v in (s.partition("=") for s in args.set)}
    cl = pyopencl()
    device = choose(args.device)
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context(device), device.handle, properties=profiling)
    print(f"{device}, medians of {args.repeat}, inputs from seed {SEED}")
    most = measured(queue)
    print("at most " + ", ".join(f"{rate:.0f} {what}" for what, rate in most.items()))
    columns = f"{'ms':>9} {'rate':>10} {'':<8} {'of most':>7} {'x naive':>7}  sizes"
    print(f"{'case':<12} {'recipe':<15} {columns}")
    wrong = 0
    for name in args.case or cases:
        case = cases[name]
        asked = {**tiles, "pad": args.pad}
        recipes = args.recipe or case.recipes
        wrong += _case(name, case, recipes, asked, device, queue, args.repeat, most)
    return min(wrong, 1)


def _case(
    name: str,
    case: Case,
    recipes: Any,
    asked: dict[str, Any],
    device: Any,
    queue: Any,
    repeat: int,
    most: Mapping[str, float],
) -> int:
    """One case: naive, the automatic choice (without copies in other layouts, too, where it makes
    some), and the recipes named. The number of wrong results."""
    file = lx.load(CORPUS / f"{case.file}.c")
    routine = file.routine()
    known = {q.name for q in routine.function.params if not q.array}
    sizes = {n: v for n, v in case.sizes.items() if n in known}
    host = arguments(routine.function, sizes, SEED)
    expected: dict[str, Any] = {}
    naive, wrong, copied = 0.0, 0, False
    for recipe in dict.fromkeys(("naive", "auto", "no copies", *recipes)):
        if recipe == "no copies" and not copied:
            continue
        automatic = recipe in ("auto", "no copies")
        given: dict[str, Any] = {} if automatic or recipe == "naive" else {**asked}
        layouts: dict[str, Any] | None = {} if recipe == "no copies" else None
        try:
            tiled = routine.tile(
                recipe=None if automatic else recipe,
                limits=limits_of(device),
                layouts=layouts,
                Rk=None if recipe == "naive" else case.chunks,
                reassociate=case.chunks is not None,
                **given,
            )
            kernel = tiled.compile(queue=queue)
        except LoopxformError as e:
            print(f"{name:<12} {recipe:<15} {e.message}")
            continue
        copied = copied or bool(tiled.tiled.copied)
        label = recipe if recipe != "auto" else f"auto:{tiled.tiled.recipe}{'+copy' * copied}"
        times, result = _timed(kernel, host, queue, repeat)
        if not expected:
            expected, naive = result, times
        bad = [n for n in expected if not _close(expected[n], result[n])]
        wrong += bool(bad)
        shown = " ".join(f"{n}={v}" for n, v in tiled.sizes.items())
        note = f"  DIFFERENT: {bad[0]}" if bad else ""
        rate = case.work / times * 1e3
        share = rate / most[case.unit if case.unit == "GB/s" else f"{case.unit} {case.real}"]
        print(
            f"{name:<12} {label:<15} {times:9.3f} {rate:10.1f} {case.unit:<8} "
            f"{share:7.0%} {naive / times:7.2f}  {shown}{note}",
            flush=True,
        )
    return wrong


def _timed(kernel: Any, host: dict[str, Any], queue: Any, repeat: int) -> tuple[float, Any]:
    """The median in milliseconds, and what the arrays hold after one launch."""
    from pyopencl import array

    arrays = {n for n, v in host.items() if isinstance(v, np.ndarray)}
    values = {n: array.to_device(queue, v) if n in arrays else v for n, v in host.items()}
    kernel(**values)
    written = [b.param.name for b in kernel.plan.buffers if b.written]
    result = {n: values[n].get() for n in written}
    times = []
    for _ in range(repeat + 1):
        kernel(**values)
        times.append((kernel.nanoseconds or 0) / 1e6)
    return median(times[1:]), result


def _close(a: Any, b: Any) -> bool:
    if a.dtype.kind != "f":
        return bool(np.mean(a != b) < 1e-4)
    scale = float(np.max(np.abs(a))) or 1.0
    return bool(np.max(np.abs(a - b)) <= 1e-3 * scale)


if __name__ == "__main__":
    raise SystemExit(main())
