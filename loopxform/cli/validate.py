"""`loopxform validate OUT.cl --from FILE.c`: whether written kernels compute what the C does.

Exit status: 0 proven, 1 not equal or not safe as far as the validator sees, 3 not modelled.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from loopxform.errors import InputError, MismatchError
from loopxform.files import Output, write_all
from loopxform.source import Loc, Sources
from loopxform.validate.validation import Verdict, validate

STATUS = {"proven": 0, "wrong": 1, "unmodelled": 3}


def main(args: argparse.Namespace) -> int:
    kernels, source = Path(args.kernels), Path(args.file)
    host = Path(args.host) if args.host else kernels.with_name(f"{kernels.stem}_opencl.c")
    for path, option in ((kernels, args.kernels), (source, "--from"), (host, "--host")):
        if not path.is_file():
            help = "name the files that loopxform tile wrote, and the C that it read"
            raise InputError(f"there is no file {path}", help=help, subject=option)
    verdict = validate(kernels, source, host=host, options=args.flags.words)
    if args.json:
        text = json.dumps(as_json(verdict), indent=2) + "\n"
        if args.json == "-":
            print(text, end="")
        else:
            write_all([Output(Path(args.json), text, "--json")], [str(kernels), str(source)])
    if not args.quiet and args.json != "-":
        tell(verdict, kernels, source)
    return STATUS[verdict.status]


def as_json(v: Verdict) -> dict[str, object]:
    return {
        "status": v.status,
        "kernels": list(v.kernels),
        "reason": v.reason,
        "line": v.kernel_line or None,
        "source_line": v.user_line or None,
        "seconds": round(v.seconds, 3),
    }


def tell(v: Verdict, kernels: Path, source: Path) -> None:
    """Says what is proven, or where the proof ends. Raises MismatchError where it fails."""
    if v.status == "proven":
        names, verb = ", ".join(v.kernels), "compute" if len(v.kernels) > 1 else "computes"
        print(f"{kernels}: proven: {names} {verb} what {source} does, for all sizes")
        return
    if v.status == "unmodelled":
        place = _place(v, kernels, source)
        print(f"{place}: not proven: the validator does not model {v.reason}", file=sys.stderr)
        return
    loc = Loc(str(kernels), v.kernel_line, 1) if v.kernel_line else None
    notes = [f"the C: {source}:{v.user_line}"] if v.user_line else []
    error = MismatchError(
        f"not proven: {v.reason}",
        loc=loc,
        code="LX247",
        notes=notes,
        help=f"compare them: loopxform run {source}, and report what you find",
    )
    error.sources = Sources()
    error.sources.add(str(kernels), kernels.read_text(encoding="utf-8"))
    raise error


def _place(v: Verdict, kernels: Path, source: Path) -> str:
    if v.kernel_line:
        return f"{kernels}:{v.kernel_line}"
    return f"{source}:{v.user_line}" if v.user_line else str(kernels)
