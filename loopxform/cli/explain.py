"""`loopxform explain stripmine`: what a step does and when it is legal."""

from __future__ import annotations

import inspect
import sys

from loopxform.cli.options import Parser
from loopxform.errors import UsageError
from loopxform.transforms import STEPS


def main(argv: list[str]) -> int:
    p = Parser(prog="loopxform explain", description="Explains a step, or lists them all.")
    p.add_argument("step", nargs="?", metavar="STEP")
    args = p.parse_args(argv)
    if args.step is None:
        for kind in STEPS.values():
            print(f"  {kind.usage}")
        return 0
    if args.step not in STEPS:
        raise UsageError(f"'{args.step}' is not a step", help=f"steps: {', '.join(STEPS)}")
    kind = STEPS[args.step]
    print(kind.usage)
    print()
    print(inspect.getdoc(sys.modules[kind.__module__]))
    return 0
