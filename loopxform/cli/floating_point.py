"""What the command line permits of floating point: `--fp`, else the options of the C compiler."""

from __future__ import annotations

import argparse
from dataclasses import replace

from loopxform.errors import UsageError
from loopxform.floating_point import CONTRACT, PERMITTED, FloatingPoint, of_flags


def permitted(args: argparse.Namespace, default: FloatingPoint = CONTRACT) -> FloatingPoint:
    """What `--fp` permits, else `--cflags`, else `default`; `--fp-contract` and `--reassociate`
    change it. After this, `args.reassociate` says whether sums may be in another order. Asked after
    `take_cflags`. Raises UsageError."""
    fp = PERMITTED[args.fp] if args.fp else of_flags(args.cflags, default)
    if args.fp_contract:
        if args.fp == "strict" and args.fp_contract == "on":
            message = "--fp strict and --fp-contract on say the opposite"
            raise UsageError(message, help="leave out one of them", subject="--fp-contract")
        fp = fp.contracting(args.fp_contract == "on")
    if getattr(args, "reassociate", False):
        if args.fp == "strict":
            message = "--fp strict and --reassociate say the opposite"
            raise UsageError(message, help="leave out one of them", subject="--reassociate")
        fp = replace(fp, reassociate=True, exact=False)
    args.reassociate = fp.reassociate
    return fp
