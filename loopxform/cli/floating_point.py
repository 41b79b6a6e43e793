"""What the command line permits of floating point: `--fp`, else the options of the C compiler."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from loopxform import compiler
from loopxform.errors import InputError, UsageError
from loopxform.floating_point import CONTRACT, PERMITTED, FloatingPoint, of_flags


def permitted(args: argparse.Namespace, default: FloatingPoint = CONTRACT) -> FloatingPoint:
    """What `--fp` permits, else `--cflags`, else `default`; `--fp-contract` and `--reassociate`
    change it. What the source says is within `--fp`. After this, `args.reassociate` says whether
    sums may be in another order. Raises UsageError."""
    fp = PERMITTED[args.fp] if args.fp else _by_compiler(args.cflags, default)
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
    return fp.bounded(args.fp is not None, fused=args.fp_contract != "off")


def _by_compiler(flags: Sequence[str], default: FloatingPoint) -> FloatingPoint:
    """What the user's compiler may do under its options. Which compiler it is, is asked where they
    mean different things."""
    gcc, clang = (of_flags(flags, default, clang=x) for x in (False, True))
    return gcc if gcc == clang or not _is_clang(flags) else clang


def _is_clang(flags: Sequence[str]) -> bool:
    with suppress(InputError):  # it does not take the options
        return "__clang__" in (compiler.macros(flags) or {})
    return False
