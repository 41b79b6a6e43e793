"""What build systems ask for: a rule for Make by the options of a C compiler, and no cache."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from loopxform.api import File
from loopxform.files import Output, depfile, escaped


def add_build_options(group: argparse._ArgumentGroup) -> None:
    """-MD, -MF, -MT and -MQ, as cc has them (-MF alone is enough; -MP is there unless --no-phony),
    and --no-cache."""
    group.add_argument(
        "--no-phony",
        action="store_true",
        help="no rules for the headers: other readers than make do not need them",
    )
    group.add_argument(
        "--no-cache",
        action="store_true",
        help="do the work, whether or not it was done before (docs/building.md)",
    )
    group.add_argument(
        "-MD", dest="rule", action="store_true", help="write NAME.d, the rule for make"
    )
    group.add_argument(
        "-MF", dest="rule_file", metavar="FILE", help="where to write the rule (NAME.d in DIR)"
    )
    group.add_argument(
        "-MT",
        dest="rule_targets",
        action="append",
        metavar="TARGET",
        help="the target of the rule, as it is (the files that are written)",
    )
    group.add_argument(
        "-MQ",
        dest="rule_targets",
        action="append",
        type=escaped,
        metavar="TARGET",
        help="the same, with what make reads in its own way escaped",
    )


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
