"""The options of every command, a module each.

They load no more than the words of the help need: a command is loaded when its options are read.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from loopxform.cli.commands import COMMANDS
from loopxform.cli.parser import Parser


def understood(name: str, words: list[str]) -> argparse.Namespace:
    """What the command line says after the name of a command; `words` are all of it. What it does
    not say of one file is as its project has it; of several, that is found file by file.

    Raises LoopxformError, SystemExit where help was printed.
    """
    args = options(name).parse_args(words, argparse.Namespace(words=[name, *words]))
    if not hasattr(args, "no_config") or not hasattr(args, "file"):
        return args
    from loopxform.cli.settings import configured  # what help does not need

    return configured(args, args.file)


def takers(option: str) -> list[str]:
    """The commands that have an option."""
    return [name for name in COMMANDS if option in options(name).options]


def options(name: str) -> Parser:
    """What a command takes, `tune` or `tune_merge`."""
    parser: Parser = import_module(f"loopxform.cli.arguments.{name}").options()
    parser.takers = takers
    return parser
