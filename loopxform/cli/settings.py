"""The one place where a command line meets the settings of a project: what it does not say itself
has the value that loopxform.toml and compile_commands.json say (`loopxform.settings`)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from loopxform.cli.compiler import given_flags
from loopxform.errors import LoopxformError, UsageError
from loopxform.settings.flags import Flags
from loopxform.settings.lookup import NONE, Settings, settings_for

TYPE_CHECKING = False
if TYPE_CHECKING:  # loaded where a project says something
    from loopxform.settings.keys import Key
    from loopxform.settings.project import Value


def configured(args: argparse.Namespace, path: str) -> argparse.Namespace:
    """The options for the file at `path`, those of the command line first. `flags` is what the
    compiler is told, `origins` has the values that a project gave, by their options, and
    `settings` is all that holds.

    Raises LoopxformError, at its place in a file or on the command line.
    """
    own = given_flags(args)
    settings = settings_of(args, path)
    flags = own.over(_below(args, settings))
    origins: dict[str, Value] = {}
    values: dict[str, Any] = {"flags": flags, "settings": settings, "origins": origins}
    values |= {"include": [*flags.folders], "define": [*flags.define]}
    values |= {"undefine": [*flags.undefine], "cflags": [*flags.flags], "cflags_file": None}
    for key, value in _taken(args, settings.values):
        require_known(settings, key, value)
        values[key.dest] = key.given(value.value)
        origins[key.option] = value
    return argparse.Namespace(**{**vars(args), **values})


def settings_of(args: argparse.Namespace, path: str) -> Settings:
    """What holds for a file, as the command line says where to look. Options of the compiler are
    all that there are: then compile_commands.json is not looked for. Raises LoopxformError."""
    if args.config is not None and args.no_config:
        message = "--config and --no-config say the opposite"
        raise UsageError(message, help="leave out one of them", subject="--no-config")
    named = args.compile_commands
    if named is None and has_cflags(args):
        named = NONE
    return settings_for(path, config=args.config, isolated=args.no_config, compile_commands=named)


def has_cflags(args: argparse.Namespace) -> bool:
    """Whether the command line has the options of the compiler."""
    return bool({"cflags", "cflags_file"} & args.given)


def _below(args: argparse.Namespace, settings: Settings) -> Flags:
    """What the compiler is told that the command line does not say."""
    return settings.said.over(settings.build_flags) if has_cflags(args) else settings.flags


def _taken(args: argparse.Namespace, values: Mapping[str, Value]) -> Iterator[tuple[Key, Value]]:
    """The values that options get which the command line does not have."""
    if not values:
        return
    from loopxform.settings.keys import FLAGS, KEYS

    for name, value in values.items():
        key = KEYS[name]
        is_option = key.option and name not in FLAGS and hasattr(args, key.dest)
        taking = not key.commands or args.words[0] in key.commands
        if is_option and taking and key.dest not in args.given and not _is_moot(args, key):
            yield key, value


def with_project_value(
    args: argparse.Namespace, name: str, every: Iterable[Settings]
) -> argparse.Namespace:
    """The options of a command with the value of a key that stands for all of its files. Raises
    UsageError where their projects have different ones."""
    settings = {s.values[name].value: s for s in every if name in s.values}
    if not settings:
        return args
    from loopxform.settings.keys import KEYS

    key = KEYS[name]
    if key.dest in args.given or _is_moot(args, key):
        return args
    if len(settings) > 1:
        message = f"the projects of these files have several values of {name}: "
        help = f"{key.option} {next(iter(settings))}, or files of one project at a time"
        raise UsageError(message + ", ".join(settings), help=help)
    ((value, own),) = settings.items()
    origins = {key.option: own.values[name]}
    given = {key.dest: value, "settings": own, "origins": origins}
    return argparse.Namespace(**{**vars(args), **given})


def _is_moot(args: argparse.Namespace, key: Key) -> bool:
    """Whether the command line asks for what leaves no room for the value."""
    from loopxform.settings.keys import dest

    for option, values in key.unless.items():
        given = getattr(args, dest(option), None)
        if given is not None and (not values or given in values):
            return True
    return False


def require_known(settings: Settings, key: Key, value: Value) -> None:
    """Raises InputError for a value that needs looking up, and is none."""
    if key.name != "profile":
        return
    from loopxform.targets.profile import profile  # what reads files of devices

    try:
        profile(value.value)
    except UsageError as e:
        assert settings.project is not None
        error = settings.project.error(value.loc, value.width, e.message, e.help or "", "LX244")
        raise error from e


@contextmanager
def placed(args: argparse.Namespace) -> Iterator[None]:
    """Errors about an option whose value a project gave stand where it says so."""
    try:
        yield
    except LoopxformError as e:
        value = getattr(args, "origins", {}).get(e.subject)
        if e.loc is None and value is not None:
            at = args.settings.project.error(value.loc, value.width, "", "", e.code)
            e.loc, e.width, e.sources = at.loc, at.width, at.sources
        raise
