"""Options of `loopxform apply`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_floating_point, add_validate, parser
from loopxform.cli.parser import Parser
from loopxform.transforms import STEPS

EPILOG = "steps:\n" + "\n".join(f"  {kind.usage}" for kind in STEPS.values())

EXAMPLES = (
    "apply mm.c --do 'stripmine i 64' --do 'interchange i j'",
    "apply mm.c --do 'parallelise i' --emit c -o build",
    "apply mm.c --script steps.json --emit opencl -o build     as tile --json saved them",
    "apply mm.c --script steps.json --set Tk=8                 with another size",
)

FIRST = (
    *("--do", "--script", "--set", "--emit", "-o", "--show-steps", "--function", "-I", "-D"),
    *("--fp-contract",),
)


def options() -> Parser:
    about = "Applies steps in order. If one is illegal, it refuses that step and writes nothing."
    p = parser("apply", about, examples=EXAMPLES, first=FIRST)
    p.epilog = EPILOG
    s = p.add_argument_group("steps")
    s.add_argument(
        "--do", dest="steps", action="append", default=[], metavar="STEP", help="a step, as below"
    )
    s.add_argument("--script", metavar="FILE.json", help="steps as `tile --json` saves them")
    help = "the value of a named size; with --script, in place of the saved one"
    s.add_argument(
        "--set", "--tile", dest="tile", action="append", default=[], metavar="NAME=N", help=help
    )
    o = p.add_argument_group("output")
    o.add_argument(
        "--emit",
        choices=("listing", "c", "opencl", "json"),
        default="listing",
        help="what to write: the listing, C with OpenMP, kernel and host code, or the steps",
    )
    add_floating_point(o, "(contract, or what the script says)")
    o.add_argument("-o", dest="output", metavar="DIR", help="write files there (default: print)")
    add_validate(o)
    o.add_argument("--show-steps", action="store_true", help="print the listing after every step")
    return p
