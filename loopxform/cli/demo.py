"""`loopxform demo NAME PICTURE.png`: a pipeline of plain C on a picture, against the C itself."""

from __future__ import annotations

import argparse
import copy
import sys
import threading
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from loopxform.api.facade import Routine
from loopxform.api.offload import OffloadedRoutine, offload_routine
from loopxform.api.reading import load
from loopxform.cli import examples, offload_text, pictures, running, tiling
from loopxform.cli.colour import painter
from loopxform.cli.examples import Example
from loopxform.codegen import emit
from loopxform.errors import UsageError
from loopxform.files import Output, Picture, require_writable, write_all
from loopxform.floating_point import SEPARATE
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Decl
from loopxform.ir.visit import walk
from loopxform.records import record
from loopxform.runtime.kernel import CompiledKernel
from loopxform.schedule.offload_options import FUSE_STAGES, TILE_STAGES
from loopxform.schedule.params import Options
from loopxform.verify.check_run import Reference, allowed_of, differences
from loopxform.verify.cref import CSource

Arguments = dict[str, Any]


def main(args: argparse.Namespace) -> int:
    if args.name is None:
        print("\n".join(_list()))
        return 0
    example = examples.example(args.name)
    if args.picture is None:
        help = f"loopxform demo {args.name} photo.png"
        raise UsageError("no picture is named", help=help, subject=args.name)
    pictures.require_pillow()
    repeat = running.launches("--repeat", args.repeat, 1)
    path = Path(args.output) / f"{Path(args.picture).stem}_{example.name}.png"
    require_writable(Output(path, ""))
    plane = pictures.brightness(args.picture, example.colours)
    routine = load(example.c_file)[example.name]
    given = _arguments(routine, example, plane)
    ran = _ran(args, routine, given, repeat)
    paint = painter(args.words, sys.stdout)
    print(f"{example.name}: {args.picture}, {given['w']} x {given['h']}, {example.colours}")
    print("\n".join(_lines(ran)))
    allowed = allowed_of(ran.kernel.plan, ran.kernel.device)
    arrays, wrong = differences(ran.kernel.plan, ran.expected, ran.actual, allowed)
    for m in wrong:
        print(f"  {paint('DIFFERENT', 'DIFFERENT')}     {m}")
    if wrong:
        return 1
    elements = sum(ran.actual[n].size for n in arrays)
    same = running.verified(elements, arrays, allowed, "the C's")
    print(f"  {paint('verified', 'verified')}      {same}")
    result = pictures.png(ran.actual[example.output], example)
    for written in write_all([Picture(path, "", "-o", result)], [args.picture]):
        print(f"wrote {written}")
    return 0


def _list() -> Iterator[str]:
    known = examples.every()
    width = max(map(len, known))
    yield "pipelines (loopxform demo NAME PICTURE.png):"
    yield from (f"  {name:<{width}}  {x.about}" for name, x in known.items())


def _arguments(routine: Routine, example: Example, planes: pictures.Pixels) -> Arguments:
    """Of the function, the picture among them."""
    height, width = planes.shape[-2:]
    numbers: Arguments = {"h": height, "w": width, **example.numbers}
    shapes = {p.name: p for p in routine.function.params if p.array}
    p = shapes[example.output]
    shape = [evaluate(e, numbers) for e in p.shape if e is not None]
    read = pictures.with_border(planes, example.border)
    return {**numbers, example.input: read, example.output: np.zeros(shape, p.type.numpy)}


@record
class Ran:
    """The kernels and the C, each with the arguments after a run and its nanoseconds; `each` are
    those of the kernels that were launched, by number."""

    done: OffloadedRoutine
    kernel: CompiledKernel
    actual: Arguments
    expected: Arguments
    of_kernels: int
    of_c: int
    each: tuple[tuple[int, int], ...]


def _ran(args: argparse.Namespace, routine: Routine, given: Arguments, repeat: int) -> Ran:
    """Raises LoopxformError."""
    device = tiling.device(args)
    limits = running.limits_on(device, args)
    asked = Options(**tiling.asked(args, (FUSE_STAGES, TILE_STAGES)))
    done = offload_routine(routine, {}, limits, fp=SEPARATE, options=asked)
    kernel = CompiledKernel(emit.kernel(done.derivation, fp=SEPARATE), device)
    actual = copy.deepcopy(given)
    kernel(**actual)
    each = tuple(kernel.parts(**actual))
    times = kernel.again(repeat, **actual)
    expected, of_c = _plain(routine, given, repeat)
    return Ran(done, kernel, actual, expected, min(times), of_c, each)


def _plain(routine: Routine, given: Arguments, repeat: int) -> tuple[Arguments, int]:
    """The arguments after a run of the C, and its time. Raises InputError."""
    reference = Reference(CSource(routine.file.name), routine.function)
    library, name = reference.library, routine.name
    out, times = copy.deepcopy(given), list[int]()

    def run() -> None:
        for _ in range(repeat):
            start = perf_counter_ns()
            library.run(name, out)
            times.append(perf_counter_ns() - start)

    # The arrays of the function itself are on the stack, and may be larger than any that grows.
    before = threading.stack_size(_stack_bytes(routine, given))
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return out, min(times)


SMALL = 1 << 24
PAGE = 1 << 12


def _stack_bytes(routine: Routine, given: Mapping[str, Any]) -> int:
    numbers = {n: v for n, v in given.items() if isinstance(v, int)}
    own = [x for _, x in walk(routine.function.body) if isinstance(x, Decl) and x.shape]
    sizes = (prod(evaluate(e, numbers) for e in x.shape) * x.type.bytes for x in own)
    return (sum(sizes) + SMALL) // PAGE * PAGE


def _lines(ran: Ran) -> Iterator[str]:
    """What ran where, and how long."""
    plan = ran.kernel.plan
    became = offload_text.became(ran.done, plan)
    kernels = [(plan.kernels[n].name, time) for n, time in ran.each]
    width = max((len(name) for name, _ in kernels), default=0)
    yield f"  device        {ran.kernel.device}"
    for name, time in kernels:
        about = became.get(name, "")
        yield f"  kernel        {name:<{width}} {time / 1e6:9.3f} ms  {about}".rstrip()
    faster = ran.of_c / max(1, ran.of_kernels)
    yield f"  kernels       {ran.of_kernels / 1e6:.3f} ms, {faster:.2g} times as fast as the C"
    yield f"  C             {ran.of_c / 1e6:.3f} ms, compiled by cc"
