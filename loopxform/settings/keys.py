"""The keys of loopxform.toml: a row each, from which the file is checked, the options of commands
get their defaults, and docs/configuration.md is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from math import isfinite
from typing import Any, TypeAlias

from loopxform.floating_point import LEVELS
from loopxform.records import record
from loopxform.settings.flags import DEFINITION, NAME, reached

Check: TypeAlias = Callable[[Any], bool]


@record
class Kind:
    """What a value may be, in words; `each` says of the elements of a list what these may be.
    What is a path (`placed`) is relative to the folder of the file."""

    words: str
    check: Check
    each: Kind | None = None
    choices: tuple[str, ...] = ()
    placed: Check = lambda _: False

    def value(self, given: Any, folder: str) -> Any:
        """A value that fits as the options of commands have it."""
        if self.each is not None:
            return tuple(self.each.value(x, folder) for x in given)
        if self.placed(given):
            return reached(os.path.join(folder, given))
        return given


def _text(x: Any) -> bool:
    return isinstance(x, str) and bool(x)


def _positive(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and isfinite(x) and x > 0


def _list_of(kind: Kind, words: str) -> Kind:
    return Kind(words, lambda x: isinstance(x, list), kind)


def _one_of(*choices: str) -> Kind:
    quoted = [f'"{c}"' for c in choices]
    words = " or ".join([", ".join(quoted[:-1]), quoted[-1]])
    return Kind(words, lambda x: isinstance(x, str) and x in choices, choices=choices)


TEXT = Kind("a text", _text)
FLAG = Kind("true or false", lambda x: isinstance(x, bool))
AMOUNT = Kind("a number above 0", _positive)
PATH = Kind("a path", _text, placed=lambda x: bool(x != "none"))
PATHS = _list_of(PATH, "a list of paths")
WORDS = _list_of(Kind("a text", lambda x: isinstance(x, str)), "a list of texts")
GLOBS = _list_of(
    Kind("a path or a pattern below the folder of this file", lambda x: _text(x) and x[0] != "/"),
    "a list of paths or patterns",
)
DEFINITIONS = _list_of(
    Kind("NAME or NAME=VALUE", lambda x: _text(x) and DEFINITION.fullmatch(x) is not None),
    "a list of macros",
)
NAMES = _list_of(
    Kind("the name of a macro", lambda x: _text(x) and NAME.fullmatch(x) is not None),
    "a list of names of macros",
)
PROFILE = Kind(
    "the name of a profile, or a file NAME.toml", _text, placed=lambda x: bool(x.endswith(".toml"))
)


@record
class Key:
    """A key. `option` is the one of commands that gets its value where the command line does not
    have it; `commands` are those that take it (none named: all that have the option). Where an
    option of `unless` has one of its values (none: any), the command line means something else.
    A key that is not `for_files` stands for the whole project."""

    name: str
    kind: Kind
    option: str
    about: str
    example: str
    commands: tuple[str, ...] = ()
    unless: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    for_files: bool = True
    given: Callable[[Any], Any] = lambda value: value
    """The value of the option."""

    @property
    def dest(self) -> str:
        """The name of the option among those that were read."""
        return dest(self.option)


def dest(option: str) -> str:
    """The name of an option among those that were read."""
    return {"-o": "output"}.get(option) or option.lstrip("-").replace("-", "_")


TARGETED = ("tile", "offload", "report")
JUDGING = ("tile", "offload", "run", "bench", "tune", "report")

ROWS = (
    Key(
        "profile",
        PROFILE,
        "--profile",
        "the device that kernels are fitted to",
        'profile = "h100"',
        TARGETED,
        {"--device": (), "--target": ("openmp",)},
    ),
    Key(
        "target",
        _one_of("opencl", "openmp"),
        "--target",
        "what `tile` writes",
        'target = "opencl"',
        ("tile",),
    ),
    Key(
        "fp",
        _one_of(*LEVELS),
        "--fp",
        "what you permit of floating point",
        'fp = "reassociate"',
        JUDGING,
    ),
    Key(
        "fp-contract",
        _one_of("on", "off"),
        "--fp-contract",
        "whether a*b + c may be fused, whatever else `fp` permits",
        'fp-contract = "off"',
        JUDGING,
        {"--fp": ()},
    ),
    Key(
        "tuning",
        FLAG,
        "--no-tuning",
        "whether `NAME.tuning` next to `NAME.c` is read",
        "tuning = false",
        given=lambda value: not value,
    ),
    Key(
        "compile-commands",
        PATH,
        "--compile-commands",
        "compile_commands.json, or the folder that has it; `none`: it is not looked for",
        'compile-commands = "build"',
        for_files=False,
    ),
    Key(
        "cflags",
        WORDS,
        "--cflags",
        "options of your compiler; those that affect the text are used",
        'cflags = ["-std=c11", "-O2"]',
    ),
    Key("include", PATHS, "-I", "folders with headers", 'include = ["include"]'),
    Key("define", DEFINITIONS, "-D", "macros to define", 'define = ["NDEBUG", "N=64"]'),
    Key("undefine", NAMES, "-U", "macros to undefine", 'undefine = ["DEBUG"]'),
    Key(
        "output",
        PATH,
        "-o",
        "where `tile` and `offload` write",
        'output = "build/kernels"',
        ("tile", "offload"),
    ),
    Key(
        "exclude",
        GLOBS,
        "",
        "files that are left out where a folder is named",
        'exclude = ["third_party", "src/*_test.c"]',
        for_files=False,
    ),
    Key(
        "baseline",
        PATH,
        "--baseline",
        "the file of findings that do not fail; `none`: without",
        'baseline = "known.json"',
        ("check",),
        {"--write-baseline": (), "--stats": (True,)},
        for_files=False,
    ),
    Key(
        "time-limit",
        AMOUNT,
        "--time-limit",
        "CPU seconds for a file",
        "time-limit = 120",
        given=str,
    ),
    Key(
        "memory-limit",
        AMOUNT,
        "--memory-limit",
        "MiB to take",
        "memory-limit = 2000",
        given=str,
    ),
)

KEYS: Mapping[str, Key] = {key.name: key for key in ROWS}

FLAGS = ("cflags", "include", "define", "undefine")
"""Keys that add to each other; of the others the nearest to the file counts."""

OVERRIDES, FILES = "overrides", "files"
"""`[[overrides]]`: what holds for the files that match `files`."""
