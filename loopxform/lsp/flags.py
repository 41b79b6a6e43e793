"""How the C files of a workspace are read, and what its user has set in the editor."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loopxform.compiler import flags
from loopxform.errors import LoopxformError, UsageError
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.settings import settings_for


@record
class Flags:
    """How a file is read: what -I, -D and -U of a C compiler take, and its other options."""

    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    undefine: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Sequence[str]]:
        """As `load` and `loads` take them."""
        return dict(vars(self))


@record
class Settings:
    """What may be set in an editor. Times are in CPU seconds for a file, in milliseconds after the
    last edit; memory is in MiB."""

    includePaths: tuple[str, ...] = ()  # noqa: N815
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()
    timeLimit: float = 60.0  # noqa: N815
    memoryLimit: float = 800.0  # noqa: N815
    debounce: float = 60.0
    hints: bool = True


def flags_of(path: str, settings: Settings, root: str | None) -> Flags:
    """How a C file is read: as its project says (loopxform.toml, compile_commands.json), and the
    editor; folders that the editor names are seen from the `root` of the workspace."""
    folder = root or os.curdir
    try:
        of_project = settings_for(path).flags.options
    except LoopxformError:  # what is wrong with it, `loopxform config` says
        of_project = {}
    include, define, undefine, cflags = (
        tuple(of_project.get(n, ())) for n in ("include", "define", "undefine", "cflags")
    )
    named = tuple(os.path.normpath(os.path.join(folder, d)) for d in settings.includePaths)
    return Flags(
        (*named, *include),
        (*define, *settings.defines),
        (*undefine, *settings.undefines),
        (*cflags, *settings.cflags),
    )


def settings_of(given: object) -> tuple[Settings, list[LoopxformError]]:
    """The settings that an editor sends, and what is wrong with those that are left out."""
    wrong = list[LoopxformError]()
    if given is None:
        return Settings(), wrong
    if not isinstance(given, Mapping):
        return Settings(), [_malformed("the settings", "an object", given)]
    values = dict[str, Any]()
    for name, value in given.items():
        allowed = ALLOWED.get(name)
        if allowed is None:
            help = f"{did_you_mean(str(name), ALLOWED)}there are {', '.join(ALLOWED)}"
            wrong.append(UsageError(f"there is no setting '{name}'", code="LX239", help=help))
        elif value is None:
            continue
        elif said := allowed(value):
            wrong.append(_malformed(f"'{name}'", said, value))
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    return Settings(**values), wrong


def _malformed(name: str, allowed: str, value: object) -> UsageError:
    text = repr(value)
    shown = text if len(text) < 60 else f"{text[:57]}..."
    return UsageError(f"{name} must be {allowed}, not {shown}", code="LX239")


def _texts(value: Any) -> str:
    good = isinstance(value, list) and all(isinstance(x, str) for x in value)
    return "" if good else 'a list of texts: ["include"]'


def _options(value: Any) -> str:
    if said := _texts(value):
        return said
    try:
        flags(value)
    except UsageError as e:
        return f"options that are modelled ({e.message})"
    return ""


def _number(least: float, most: float) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if good and least <= value <= most else f"a number from {least:g} to {most:g}"

    return check


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


ALLOWED: Mapping[str, Callable[[Any], str]] = {
    "includePaths": _texts,
    "defines": _texts,
    "undefines": _texts,
    "cflags": _options,
    "timeLimit": _number(0.1, 3600),
    "memoryLimit": _number(10, 1_000_000),
    "debounce": _number(0, 10_000),
    "hints": _flag,
}
"""The settings; a check gives what is allowed, in words, for a value that is not."""
