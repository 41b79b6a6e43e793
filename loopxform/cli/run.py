"""`loopxform run FILE.c --size M=513,...`: the tiled kernel against the user's own C."""

from __future__ import annotations

from loopxform.cli import tiling
from loopxform.cli.options import Parser, parser, read, sizes, with_sources
from loopxform.codegen import emit
from loopxform.errors import LoopxformError

SEED = 20200608


def options() -> Parser:
    p = parser(
        "run",
        "Runs the tiled kernel on random inputs and compares every element with your own C, "
        "compiled by cc. With --fp-contract off (the default here) results must be identical.",
    )
    p.add_argument(
        "--size", action="append", default=[], metavar="M=513,U=129", help="numbers for scalars"
    )
    p.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"of the inputs ({SEED})")
    p.add_argument("--repeat", type=int, default=1, metavar="N", help="launches; median time (1)")
    tiling.add_options(p)
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    numbers = sizes(["run", *argv], args.size)
    parsed = read(args)
    from loopxform.runtime.device import choose
    from loopxform.runtime.profiles import limits_of
    from loopxform.verify.check_run import run
    from loopxform.verify.cref import CSource

    device = choose(args.device)
    limits = tiling.profile(args.profile) if args.profile else limits_of(device)
    request = tiling.request(parsed, args, ["run", *argv], limits)
    exact = args.fp_contract != "on"
    try:
        plan = emit.kernel(request.tiled.derivation, contract=not exact)
        text = parsed.sources.text("<stdin>") if args.file == "-" else None
        source = CSource(
            args.file, text, tuple(args.include), tuple(args.define), tuple(args.undefine)
        )
        result = run(plan, source, device, numbers, args.seed, exact=exact, repeat=args.repeat)
    except LoopxformError as e:
        raise with_sources(e, parsed) from None
    shape = ", ".join(f"{n}={v}" for n, v in request.function.tiles or plan.function.tiles)
    print(f"{request.function.name}: {request.tiled.variant} tiling, {shape}")
    if request.tiled.reason:
        print(f"  note: {request.tiled.reason}")
    print(f"  device  {device}")
    print(f"  inputs  seed {args.seed}, {', '.join(f'{n}={v}' for n, v in numbers.items())}")
    if result.nanoseconds is not None:
        print(f"  kernel  {result.nanoseconds / 1e6:.3f} ms")
    how = "identical" if exact else "equal within the tolerance for contraction"
    for m in result.mismatches:
        print(f"  DIFFERENT {m}")
    if result.ok:
        print(f"  verified: {result.elements} elements of {', '.join(result.arrays)} are {how}")
    return 0 if result.ok else 1
