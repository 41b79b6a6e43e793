"""`loopxform explain stripmine`: what a step does and when it is legal."""

from __future__ import annotations

import argparse
import inspect
import sys

from loopxform.codes import CODES
from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean
from loopxform.transforms import STEPS
from loopxform.transforms.base import GONE, called


def main(args: argparse.Namespace) -> int:
    if args.step is None:
        print("\n".join(f"  {step.usage}" for step in STEPS.values()))
        return 0
    if args.step.upper() in CODES:
        print(f"{args.step.upper()}: {CODES[args.step.upper()]}")
        return 0
    kind = called(STEPS, args.step)
    if args.step in GONE:
        message = f"there is no step '{args.step}' any more"
        raise UsageError(message, help=GONE[args.step], subject=args.step)
    if kind is None:
        hint = did_you_mean(args.step, (*STEPS, *CODES))
        raise UsageError(
            f"'{args.step}' is neither a step nor a code",
            help=f"{hint}loopxform explain lists the steps",
            subject=args.step,
        )
    print(kind.usage)
    print()
    print(inspect.getdoc(sys.modules[kind.__module__]))
    return 0
