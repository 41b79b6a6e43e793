"""Times loops that C programmers write besides products, as `offload` maps them, in one run.

    python scripts/bench_loops.py [NAME ...] --device 0:0 --profile h100

Scans, histograms, sums, rows, transpositions, sparse products, layouts of records and images, sums
and extrema by key, loops that data end. Event times from the start of the first
kernel of a call to the end of the last, the median of several calls; the rate is that of the bytes
that the loop has to read and to write, as part of what the device copies (bytes read and written)
in the same run. With `--cpu-time` it is the time of the cores instead, for a CPU that runs other
work too: in turn with copies of as many bytes, and the last figure is the part of their rate.
Results are compared with numpy's. With `--torch` the functions of PyTorch that do the same are
timed in the same run. Only one is timed at a time.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import irregular_loops
import numpy as np
import row_loops
import sparse_loops
import sum_loops
import uneven_loops
from loop_cases import REORDERED, Arrays, Case

import loopxform as lx
from loopxform.schedule.params import KINDS


def _ints(random: np.random.Generator, shape: Any, high: int = 9) -> np.ndarray[Any, Any]:
    drawn: np.ndarray[Any, Any] = random.integers(0, high, shape, dtype=np.int32)
    return drawn


def _scan(kind: str, body: str, expected: Callable[[Arrays], Arrays], **options: Any) -> Case:
    """A loop over `a`, which fills `y`."""
    dtype = np.int32 if kind == "int" else np.float32

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        return {"n": n, "a": _ints(random, n).astype(dtype), "y": np.zeros(n, dtype)}

    params = f"int n, const {kind} a[restrict n], {kind} y[restrict n]"
    text = f"void f({params}) {{ {body} }}"
    return Case(text, arguments, lambda n: 8.0 * n, expected, 1 << 26, options)


def _smoothed(x: Arrays) -> Arrays:
    values, s = np.empty(4096, np.float32), np.float32(0)
    for i, e in enumerate(x["a"][:4096]):
        s = np.float32(0.5) * e + np.float32(0.5) * s
        values[i] = s
    return {"y[:4096]": values}


def _histogram(n: int) -> Case:
    def arguments(random: np.random.Generator, n: int) -> Arrays:
        a = random.integers(0, 256, n, dtype=np.uint8)
        return {"n": n, "a": a, "h": np.zeros(256, np.int32)}

    text = """void f(int n, const unsigned char a[restrict n], int h[restrict 256])
    { for (int i = 0; i < n; i++) h[a[i]]++; }"""
    counted = {"h": lambda x: np.bincount(x["a"], minlength=256)}
    return Case(text, arguments, lambda n: 1.0 * n, lambda x: {"h": counted["h"](x)}, n)


def _table(
    body: str,
    expected: Callable[[Arrays], Arrays],
    shape: tuple[int, int],
    kind: str = "int",
    **options: Any,
) -> Case:
    """Loops over a matrix `a`, which fill `y`; its columns are divided, its rows are not."""
    dtype = np.int32 if kind == "int" else np.float32
    rows, columns = shape

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        a = _ints(random, (rows, n)).astype(dtype)
        return {"m": rows, "n": n, "a": a, "y": np.zeros((rows, n), dtype)}

    params = f"int m, int n, const {kind} a[restrict m][n], {kind} y[restrict m][n]"
    text = f"void f({params}) {{ {body} }}"
    return Case(text, arguments, lambda n: 8.0 * rows * n, expected, columns, options)


def _row_scan(kind: str, shape: tuple[int, int], **options: Any) -> Case:
    body = f"""for (int r = 0; r < m; r++) {{ {kind} s = 0;
      for (int j = 0; j < n; j++) {{ s += a[r][j]; y[r][j] = s; }} }}"""
    return _table(body, lambda x: {"y": np.cumsum(x["a"], 1)}, shape, kind, **options)


COLUMNS = """for (int j = 0; j < n; j++) y[0][j] = a[0][j];
  for (int i = 1; i < m; i++) for (int j = 0; j < n; j++) y[i][j] = y[i - 1][j] + a[i][j];"""
INTEGRAL = """for (int i = 1; i < m; i++) { int s = 0; for (int j = 0; j < n; j++) {
    s += a[i][j]; y[i][j] = y[i - 1][j] + s; } }"""


def _integral(x: Arrays) -> Arrays:
    a = np.concatenate([x["a"][:1] * 0, x["a"][1:]])
    return {"y": np.cumsum(np.cumsum(a, 0, dtype=np.int32), 1, dtype=np.int32)}


def _transposition() -> Case:
    def arguments(random: np.random.Generator, n: int) -> Arrays:
        a = random.random((n, n), dtype=np.float32)
        return {"n": n, "a": a, "b": np.zeros((n, n), np.float32)}

    text = """void f(int n, const float a[restrict n][n], float b[restrict n][n])
    { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[j][i] = a[i][j]; }"""
    return Case(text, arguments, lambda n: 8.0 * n * n, lambda x: {"b": x["a"].T}, 8192)


def _irregular() -> dict[str, Case]:
    out = {}
    rows = (*irregular_loops.rows(), *uneven_loops.rows())
    for name, params, body, arguments, moved, expected, size in rows:
        text = f"#include <math.h>\n#include <stdint.h>\n{irregular_loops.RECORD}\n"
        case = Case(f"{text}void f({params}) {{ {body} }}", arguments, moved, expected, size)
        out[name] = case.allowing(**REORDERED) if name.startswith("float-") else case
    return out


LAST = "int k = 0; for (int i = 0; i < n; i++)"
CASES: dict[str, Case] = {
    "copy": _scan("float", "for (int i = 0; i < n; i++) y[i] = a[i];", lambda x: {"y": x["a"]}),
    "prefix": _scan(
        "int",
        "int s = 0; for (int i = 0; i < n; i++) { s += a[i]; y[i] = s; }",
        lambda x: {"y": np.cumsum(x["a"], dtype=np.int32)},
    ),
    "prefix-float": _scan(
        "float",
        "float s = 0; for (int i = 0; i < n; i++) { s += a[i]; y[i] = s; }",
        lambda x: {"y": np.cumsum(x["a"], dtype=float)},
        **REORDERED,
    ),
    "running-max": _scan(
        "float",
        "float s = 0; for (int i = 0; i < n; i++) { if (a[i] > s) s = a[i]; y[i] = s; }",
        lambda x: {"y": np.maximum.accumulate(x["a"])},
    ),
    "smoothing": _scan(
        "float",
        "float s = 0; for (int i = 0; i < n; i++) { s = 0.5f * a[i] + 0.5f * s; y[i] = s; }",
        _smoothed,
        **REORDERED,
    ),
    "compaction": _scan(
        "int",
        f"{LAST} if (a[i] > 3) y[k++] = a[i];",
        lambda x: {"y": np.resize(np.append(x["a"][x["a"] > 3], np.zeros(x["n"])), x["n"])},
    ),
    "scan-descending": _scan(
        "int",
        "int s = 0; for (int i = n - 1; i >= 0; i--) { s += a[i]; y[i] = s; }",
        lambda x: {"y": np.cumsum(x["a"][::-1], dtype=np.int32)[::-1]},
    ),
    "scan-rows": _row_scan("int", (1 << 14, 1 << 12)),
    "scan-rows-float": _row_scan("float", (1 << 14, 1 << 12), **REORDERED),
    "scan-rows-in-order": _row_scan("float", (1 << 14, 1 << 12)),
    "scan-short-rows": _row_scan("int", (1 << 20, 1 << 6)),
    "scan-few-rows": _row_scan("int", (16, 1 << 22)),
    "scan-columns": _table(COLUMNS, lambda x: {"y": np.cumsum(x["a"], 0)}, (1 << 13, 1 << 13)),
    "integral-image": _table(INTEGRAL, _integral, (1 << 13, 1 << 13)),
    "histogram": _histogram(1 << 24),
    "histogram-large": _histogram(1 << 28),
    **row_loops.CASES,
    **sum_loops.CASES,
    "transposition": _transposition(),
    **sparse_loops.CASES,
    **_irregular(),
}

TORCH: dict[str, Callable[[Any, Arrays], Any]] = {
    "copy": lambda torch, x: torch.add(x["a"], 0, out=x["y"]),
    "prefix": lambda torch, x: torch.cumsum(x["a"], 0, dtype=torch.int32, out=x["y"]),
    "prefix-float": lambda torch, x: torch.cumsum(x["a"], 0, out=x["y"]),
    "running-max": lambda torch, x: torch.cummax(x["a"], 0),
    "compaction": lambda torch, x: torch.masked_select(x["a"], x["a"] > 3),
    "scan-descending": lambda torch, x: torch.cumsum(x["a"].flip(0), 0, dtype=torch.int32).flip(0),
    "scan-rows": lambda torch, x: torch.cumsum(x["a"], 1, dtype=torch.int32, out=x["y"]),
    "scan-rows-float": lambda torch, x: torch.cumsum(x["a"], 1, out=x["y"]),
    "scan-rows-in-order": lambda torch, x: torch.cumsum(x["a"], 1, out=x["y"]),
    "scan-short-rows": lambda torch, x: torch.cumsum(x["a"], 1, dtype=torch.int32, out=x["y"]),
    "scan-few-rows": lambda torch, x: torch.cumsum(x["a"], 1, dtype=torch.int32, out=x["y"]),
    "scan-columns": lambda torch, x: torch.cumsum(x["a"], 0, dtype=torch.int32, out=x["y"]),
    "integral-image": lambda torch, x: torch.cumsum(
        torch.cumsum(x["a"], 0, dtype=torch.int32), 1, dtype=torch.int32, out=x["y"]
    ),
    "histogram": lambda torch, x: torch.bincount(x["a"], minlength=256),
    "histogram-large": lambda torch, x: torch.bincount(x["a"], minlength=256),
    "transposition": lambda _, x: x["b"].copy_(x["a"].t()),
    **row_loops.TORCH,
    **sum_loops.TORCH,
    **sparse_loops.TORCH,
    **irregular_loops.TORCH,
}
"""What PyTorch has for a case (for sparse products, cuSPARSE)."""


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)} (all)")
    p.add_argument("--device", default=None)
    p.add_argument("--profile", default="h100", metavar="NAME[,NAME...]", help="(h100)")
    p.add_argument("--divide", type=int, default=1, metavar="N", help="sizes by this (1)")
    p.add_argument("--repeat", type=int, default=10, metavar="N", help="calls (10)")
    p.add_argument("--size", action="append", default=[], metavar="NAME=N[,N...]", help="of a tile")
    p.add_argument("--recipe", action="append", default=[], help="asked for, one after the other")
    p.add_argument("--torch", action="store_true", help="time PyTorch too")
    p.add_argument("--cpu-time", action="store_true", help="of the cores, in turn with copies")
    p.add_argument("--jobs", type=int, default=8, metavar="N", help="mapped at a time (8)")
    args = p.parse_args()
    spawn = multiprocessing.get_context("spawn")
    lock = spawn.Manager().Lock()
    print(f"copy rate {_copied(args):.0f} GB/s", flush=True)
    named = product(args.names or CASES, args.profile.split(","), _asked(args))
    jobs = [(name, profile, asked, args, lock) for name, profile, asked in named]
    with spawn.Pool(args.jobs) as pool:
        for line in pool.imap(_line, jobs, chunksize=1):
            print(line, flush=True)
    return 0


def _copied(args: argparse.Namespace) -> float:
    """What the device copies from buffer to buffer, read and written, GB/s."""
    import pyopencl as cl

    from loopxform.runtime.selection import choose

    context = cl.Context([choose(args.device).handle])
    timed = cl.command_queue_properties.PROFILING_ENABLE
    queue, size = cl.CommandQueue(context, properties=timed), (1 << 29) // args.divide
    a, b = (cl.Buffer(context, cl.mem_flags.READ_WRITE, size) for _ in range(2))
    times = []
    for _ in range(args.repeat + 2):
        done = cl.enqueue_copy(queue, b, a)
        done.wait()
        times.append(done.profile.end - done.profile.start)
    return float(2 * size / statistics.median(times[2:]))


def _cpu_time(
    call: Any, given: Arrays, moved: float, args: argparse.Namespace
) -> tuple[float, float]:
    """The median CPU time of a call in milliseconds, without what comes before and after calls, and
    the median part of the rate of copies that take turns with them."""
    import pyopencl as cl

    queue, size = call.queue.raw, max(1, int(moved) // 2)
    a, b = (cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size) for _ in range(2))
    for buffer in (a, b):  # what was never written may be one page
        cl.enqueue_fill_buffer(queue, buffer, np.ones(1, np.uint8), 0, size)

    def copied(times: int) -> None:
        for _ in range(times):
            cl.enqueue_copy(queue, b, a)
        queue.finish()

    ways = (lambda times: call.again(times, **given)), copied
    each = [(_spent(ways[0]), _spent(ways[1])) for _ in range(args.repeat)]
    taken = statistics.median(own for own, _ in each)
    return taken * 1e3, statistics.median(copy / own for own, copy in each)


def _spent(run: Callable[[int], Any], times: int = 4) -> float:
    """The CPU time of one of so many runs, in seconds."""
    begin = time.process_time()
    run(1)
    once = time.process_time()
    run(1 + times)
    return max(1e-9, (time.process_time() - once - (once - begin)) / times)


def _asked(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Each recipe that is asked for, in each of the sizes; `auto` is what `offload` chooses."""
    named = [
        (name, numbers.split(",")) for name, _, numbers in (x.partition("=") for x in args.size)
    ]
    for recipe in args.recipe or ["auto"]:
        known = [(n, v) for n, v in named if recipe == "auto" or n in KINDS[recipe].sizes]
        for numbers in product(*(values for _, values in known)):
            sizes = {name: int(n) for (name, _), n in zip(known, numbers)}
            yield sizes if recipe == "auto" else {**sizes, "recipe": recipe}


def _line(job: tuple[str, str, dict[str, Any], argparse.Namespace, Any]) -> str:
    try:
        return _timed(*job)
    except lx.LoopxformError as e:
        return f"{job[0]:18} {type(e).__name__}: {e.message}"


def _timed(
    name: str, profile: str, asked: dict[str, Any], args: argparse.Namespace, lock: Any
) -> str:
    case = CASES[name]
    size = max(1, case.size // args.divide)
    routine = lx.loads(case.text)["f"]
    way = routine.tile if "recipe" in asked else routine.offload
    done = way(limits=profile, **asked, **case.options)
    call = done.compile(args.device)
    given = case.arguments(np.random.default_rng(1), size)
    expected = case.expected(given)
    first = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    with lock:
        call(**first)
    wrong = [n for n, v in expected.items() if not _agree(_part(first, n), v)]
    with lock:
        launches = len(call.parts(**given))
        if args.cpu_time:
            ms, share = _cpu_time(call, given, case.moved(size), args)
        else:
            ms, share = statistics.median(call.again(args.repeat + 2, **given)[2:]) / 1e6, 0.0
    parts = (p.tiled.recipe if p.tiled else p.kind for p in getattr(done, "parts", ()))
    recipes = asked.get("recipe") or ", ".join(parts)
    about = f"{name:18} {ms:9.4f} ms {case.moved(size) / ms / 1e6:6.0f} GB/s {launches:3} kernels"
    if args.cpu_time:
        about += f"  {share:5.2f} of the copy"
    if args.torch and name in TORCH:
        with lock:
            about += f"  torch {_torch_ms(name, given, args.repeat):9.4f} ms"
    about += f"  {Path(profile).stem}" if "," in args.profile else ""
    chosen = "".join(f" {n}={v}" for n, v in asked.items() if n != "recipe")
    return f"{about}  {recipes}{chosen}" + (f"  WRONG: {', '.join(wrong)}" if wrong else "")


def _torch_ms(name: str, given: Arrays, repeat: int) -> float:
    """The median time of PyTorch's function, by the events of the device."""
    torch: Any = importlib.import_module("torch")
    placed: Arrays = {
        n: torch.from_numpy(v).cuda() if isinstance(v, np.ndarray) else v for n, v in given.items()
    }
    if "start" in placed:
        matrix = (placed["start"], placed["col"], placed["v"])
        placed["matrix"] = torch.sparse_csr_tensor(*matrix, size=(given["n"], given["m"]))
    times = []
    for _ in range(repeat + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        TORCH[name](torch, placed)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return float(statistics.median(times[3:]))


def _part(arrays: Arrays, name: str) -> Any:
    array, _, end = name.partition("[:")
    struct, _, member = name.partition(".")
    if member:
        return arrays[struct][member]
    return arrays[array][: int(end[:-1])] if end else arrays[array]


def _agree(found: Any, expected: Any) -> bool:
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    return bool(np.allclose(found, expected, rtol=2e-3, atol=1e-4))


if __name__ == "__main__":
    raise SystemExit(main())
