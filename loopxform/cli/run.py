"""`loopxform run FILE.c --size M=513,...`: the tiled kernel against the user's own C."""

from __future__ import annotations

import argparse
import sys

from loopxform.cli import running, tiling
from loopxform.cli.colour import painter
from loopxform.cli.floating_point import permitted
from loopxform.cli.options import chosen, numbers, read
from loopxform.cli.summary import headline
from loopxform.codegen import emit
from loopxform.errors import about, quoting
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import run


def main(args: argparse.Namespace) -> int:
    given = numbers("--size", args.size)
    inputs, seed = running.inputs(args), running.seed(args)
    repeat = running.launches("--repeat", args.repeat, 1)
    tiling.require_taken(args, [tiling.recipe(args)])
    file = read(args)
    running.require_numbers("--size", chosen(file, args), [given], inputs)
    device = tiling.device(args)
    limits = running.limits_on(device, args)
    fp = permitted(args, SEPARATE)
    tiled = tiling.tiled(file, args, limits, fp)
    source = running.reference(file, args)
    with quoting(file.parsed.sources), about("--size"):
        plan = emit.kernel(tiled.derivation, fp=tiled.fp)
        result = run(
            plan,
            source,
            device,
            given,
            seed,
            inputs=inputs,
            repeat=repeat,
        )
    sizes = ", ".join(f"{n}={v}" for n, v in given.items()) or "no sizes"
    paint = painter(args.words, sys.stdout)
    print(headline(tiled, tiling.unused(tiled, args)))
    print(f"  device        {device}")
    print(f"  inputs        {sizes}, random from seed {seed}")
    if result.nanoseconds is not None:
        print(f"  kernel        {result.nanoseconds / 1e6:.3f} ms")
    for m in result.mismatches:
        print(f"  {paint('DIFFERENT', 'DIFFERENT')}     {m}")
    if not result.ok:
        return 1
    same = running.verified(result.elements, result.arrays, result.allowed, "your C's")
    print(f"  {paint('verified', 'verified')}      {same}")
    return 0
