"""What build systems ask for: a rule for Make by the options of a C compiler, and no cache."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from loopxform.api import File
from loopxform.files import Output, depfile, escaped


def inputs(args: argparse.Namespace, file: File) -> tuple[str, ...]:
    """The files that the output depends on."""
    profile = args.profile or ""
    return (*file.parsed.dependencies, *([profile] if profile.endswith(".toml") else []))


def with_rule(args: argparse.Namespace, file: File, outputs: Sequence[Output]) -> list[Output]:
    """`outputs`, and the rule for them where one is asked for."""
    if not outputs or not (args.rule or args.rule_file):
        return list(outputs)
    targets = args.rule_targets or [escaped(o.path) for o in outputs]
    text = depfile(targets, inputs(args, file), phony=not args.no_phony)
    if args.rule_file:
        return [*outputs, Output(Path(args.rule_file), text, "-MF")]
    return [*outputs, Output(Path(args.output) / f"{file.stem}.d", text)]
