"""`--validate`: what `tile`, `offload` and `apply` have just written is validated."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from loopxform.errors import IgnoredOption


def require_kernels(args: argparse.Namespace, *, written: bool) -> None:
    """Raises IgnoredOption where there is nothing to validate: no kernels are written, or the C has
    no file."""
    if args.validate and (args.file == "-" or not written):
        help = "name a C file, and have kernels written (loopxform validate reads both)"
        message = "--validate has no kernels to look at"
        raise IgnoredOption(message, help=help, subject="--validate")


def validated(written: Sequence[Path], args: argparse.Namespace) -> int:
    """Says of the kernels among the files whether they are proven. The exit status of `validate`,
    0 where it is not asked for. Raises MismatchError."""
    if not args.validate:
        return 0
    from loopxform.cli.validate import STATUS, tell
    from loopxform.validate.validation import validate

    statuses = [0]
    for path in (p for p in written if p.suffix == ".cl"):
        verdict = validate(path, Path(args.file), options=args.flags.words)
        if not getattr(args, "quiet", False) or verdict.status != "proven":
            tell(verdict, path, Path(args.file))
        statuses.append(STATUS[verdict.status])
    return max(statuses)
