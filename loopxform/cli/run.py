"""`loopxform run FILE.c --size M=513,...`: the tiled kernel against the user's own C."""

from __future__ import annotations

from loopxform.cli import tiling
from loopxform.cli.options import numbers, parser, read
from loopxform.cli.parser import Parser
from loopxform.cli.summary import headline
from loopxform.codegen import emit
from loopxform.errors import UsageError, about, quoting
from loopxform.ir.written import whole
from loopxform.recipes.limits import profile
from loopxform.runtime.profiles import limits_of
from loopxform.verify.check_run import run
from loopxform.verify.cref import CSource
from loopxform.verify.values import FORM, Wanted, wanted

SEED = 20200608
LARGEST_SEED = (1 << 64) - 1
MOST_LAUNCHES = 1_000_000


def options() -> Parser:
    p = parser(
        "run",
        "Runs the tiled kernel on random inputs and compares every element with your own C, "
        "compiled by cc. With --fp-contract off (the default here) results must be identical; "
        "where the nest calls exp, sin and the like, they may differ as far as OpenCL lets these.",
    )
    p.add_argument(
        "--size", action="append", default=[], metavar="M=513,U=129", help="numbers for scalars"
    )
    p.add_argument("--seed", default=str(SEED), metavar="N", help=f"of the inputs ({SEED})")
    p.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH",
        help="values of an array, HIGH exclusive; 0:nnz:sorted for row pointers",
    )
    p.add_argument("--repeat", default="1", metavar="N", help="launches; median time (1)")
    tiling.add_options(p)
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    given = numbers("--size", args.size)
    with about("--input"):
        inputs = dict(_input(text) for text in args.input)
    seed = whole("--seed", args.seed, 0, LARGEST_SEED, str(SEED))
    repeat = whole("--repeat", args.repeat, 1, MOST_LAUNCHES, "10")
    device = tiling.device(args)
    with about("--profile"):
        limits = profile(args.profile) if args.profile else limits_of(device)
    file = read(args)
    exact = args.fp_contract != "on"
    tiled = tiling.tiled(file, args, limits, contract=not exact)
    text = file.parsed.sources.text(file.name) if args.file == "-" else None
    source = CSource(args.file, text, tuple(args.include), tuple(args.define), tuple(args.undefine))
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
    print(headline(tiled))
    print(f"  device        {device}")
    print(f"  inputs        {sizes}, random from seed {seed}")
    if result.nanoseconds is not None:
        print(f"  kernel        {result.nanoseconds / 1e6:.3f} ms")
    for m in result.mismatches:
        print(f"  DIFFERENT     {m}")
    if not result.ok:
        return 1
    allowed = result.allowed
    how = "identical to" if allowed.exact else f"equal, within the tolerance for {allowed.why}, to"
    arrays = ", ".join(result.arrays)
    print(f"  verified      {result.elements} elements of {arrays} are {how} your C's")
    return 0


def _input(text: str) -> tuple[str, Wanted]:
    """`row=0:nnz:sorted`. Raises UsageError."""
    name, equals, values = text.partition("=")
    if name.isidentifier() and equals:
        return name, wanted(values)
    raise UsageError(f"'{text}' is not NAME=LOW:HIGH", code="LX023", help=FORM)
