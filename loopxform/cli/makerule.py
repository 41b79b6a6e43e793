"""What build systems ask for: a rule for Make by the options of a C compiler, and no cache."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from loopxform.api.facade import File
from loopxform.cli.tuned import path_of
from loopxform.errors import IgnoredOption
from loopxform.files import Output, depfile, escaped


def require_rule(args: argparse.Namespace) -> None:
    """Raises IgnoredOption for an option about a rule where none is asked for."""
    if (args.rule_targets or args.no_phony) and not (args.rule or args.rule_file):
        about = next(w for w in args.words if w in ("-MT", "-MQ", "--no-phony"))
        message = f"{about} is about a rule for make, and there is to be none"
        raise IgnoredOption(message, help="add -MD or -MF FILE", subject=about)


def inputs(args: argparse.Namespace, file: File) -> tuple[str, ...]:
    """The files that the output depends on."""
    own = [args.profile] if (args.profile or "").endswith(".toml") else []
    tuning = path_of(file.name)
    if tuning.is_file() and not args.no_tuning:
        own.append(str(tuning))
    own += args.settings.files
    return (*file.parsed.dependencies, *own)


def with_rule(args: argparse.Namespace, file: File, outputs: Sequence[Output]) -> list[Output]:
    """`outputs`, and the rule for them where one is asked for."""
    if not outputs or not (args.rule or args.rule_file):
        return list(outputs)
    targets = args.rule_targets or [escaped(o.path) for o in outputs]
    text = depfile(targets, inputs(args, file), phony=not args.no_phony)
    if args.rule_file:
        return [*outputs, Output(Path(args.rule_file), text, "-MF")]
    return [*outputs, Output(Path(args.output) / f"{file.stem}.d", text)]
