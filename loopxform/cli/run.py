"""`loopxform run FILE.c --size M=513,...`: the tiled kernel against the user's own C."""

from __future__ import annotations

import sys

from loopxform.cli import running, tiling
from loopxform.cli.colour import painter
from loopxform.cli.options import chosen, numbers, parser, read
from loopxform.cli.parser import Parser
from loopxform.cli.summary import headline
from loopxform.codegen import emit
from loopxform.errors import about, quoting
from loopxform.verify.check_run import run

EXAMPLES = (
    "run mm.c --size M=513,U=129,N=1025",
    "run mm.c --size M=64,U=64,N=64 --recipe block --Ty 8",
    "run csr.c --size n=1000,nnz=9000 --input row=0:nnz:sorted --input col=0:n",
)
FIRST = (
    *("--size", "--input", "--repeat", "--device", "--recipe", "--Ty", "--Tx", "--Tk"),
    *(
        "--Ry",
        "--Rx",
    ),
)


def options() -> Parser:
    p = parser(
        "run",
        "Runs the tiled kernel on random inputs and compares every element with your own C, "
        "compiled by cc. With --fp-contract off (the default here) results must be identical; "
        "where the nest calls exp, sin and the like, they may differ as far as OpenCL lets these.",
        examples=EXAMPLES,
        first=FIRST,
    )
    running.add_size(p)
    running.add_inputs(p)
    p.add_argument("--repeat", default="1", metavar="N", help="launches; median time (1)")
    tiling.add_options(p)
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    given = numbers("--size", args.size)
    inputs, seed = running.inputs(args), running.seed(args)
    repeat = running.launches("--repeat", args.repeat, 1)
    tiling.require_taken(args)
    file = read(args)
    running.require_numbers("--size", chosen(file, args), [given])
    device = tiling.device(args)
    limits = running.limits_on(device, args)
    exact = args.fp_contract != "on"
    tiled = tiling.tiled(file, args, limits, contract=not exact)
    source = running.reference(file, args)
    with quoting(file.parsed.sources), about("--size"):
        plan = emit.kernel(tiled.derivation, contract=not exact)
        reordered = args.reassociate
        result = run(
            plan,
            source,
            device,
            given,
            seed,
            exact=exact,
            reordered=reordered,
            inputs=inputs,
            repeat=repeat,
        )
    sizes = ", ".join(f"{n}={v}" for n, v in given.items()) or "no sizes"
    paint = painter(argv, sys.stdout)
    print(headline(tiled, tiling.unused(tiled, args)))
    print(f"  device        {device}")
    print(f"  inputs        {sizes}, random from seed {seed}")
    if result.nanoseconds is not None:
        print(f"  kernel        {result.nanoseconds / 1e6:.3f} ms")
    for m in result.mismatches:
        print(f"  {paint('DIFFERENT', 'DIFFERENT')}     {m}")
    if not result.ok:
        return 1
    allowed = result.allowed
    how = "identical to" if allowed.exact else f"equal, within the tolerance for {allowed.why}, to"
    arrays = ", ".join(result.arrays)
    verified = paint("verified", "verified")
    print(f"  {verified}      {result.elements} elements of {arrays} are {how} your C's")
    return 0
