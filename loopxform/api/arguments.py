"""What calls from Python may be given, by the name of the argument, checked before anything is
done with it.

A check gives the values that are allowed, in words, for one that is not; None for one that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from os import PathLike
from typing import Any, TypeAlias

from loopxform.errors import ArgumentError
from loopxform.ir.types import INT_MAX
from loopxform.nearest import did_you_mean

Check: TypeAlias = Callable[[Any], str | None]


def require(checks: Mapping[str, Check], **given: object) -> None:
    """Raises ArgumentError, with the name of the argument, for the first value that is not
    allowed."""
    for name, value in given.items():
        require_value(name, value, checks[name])


def require_value(name: str, value: object, check: Check, code: str | None = None) -> None:
    """Raises ArgumentError."""
    allowed = check(value)
    if allowed is not None:
        raise ArgumentError(f"{name} must be {allowed}, not {_shown(value)}", code=code)


def require_known(given: Iterable[str], known: Sequence[str]) -> None:
    """Raises ArgumentError for a keyword that a function does not take."""
    for name in given:
        if name not in known:
            help = f"{did_you_mean(name, known)}it takes {', '.join(known)}"
            raise ArgumentError(f"there is no argument '{name}'", help=help)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


# ---------------------------------------------------------------- checks


def one_of(*values: object) -> Check:
    words = " or ".join([", ".join(map(repr, values[:-1])), repr(values[-1])])

    def check(value: Any) -> str | None:
        same = any(type(value) is type(v) and value == v for v in values)
        return None if same else words

    return check


def whole(least: int, most: int) -> Check:
    def check(value: Any) -> str | None:
        good = is_whole(value, least, most)
        return None if good else f"a whole number from {least} to {most}"

    return check


def is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def or_none(check: Check) -> Check:
    def with_none(value: Any) -> str | None:
        allowed = None if value is None else check(value)
        return None if allowed is None else f"{allowed}, or None"

    return with_none


def _texts(value: Any) -> str | None:
    many = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    if many and all(isinstance(text, (str, PathLike)) for text in value):
        return None
    return f"a list: [{value!r}]" if isinstance(value, str) else "a list of texts"


def _positive(value: Any) -> str | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if number and isfinite(value) and value > 0 else "a number above 0"


def text(value: Any) -> str | None:
    return None if isinstance(value, str) else "a text"


def sizes_by_name(value: Any) -> str | None:
    good = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    if good and all(is_whole(size, 0, INT_MAX) for size in value.values()):
        return None
    return "sizes by name: {'M': 4096}"


def _name(value: Any) -> str | None:
    return None if isinstance(value, str) and re.fullmatch(r"\w+", value) else "a name in C"


FLAG = one_of(True, False)

READING: Mapping[str, Check] = dict.fromkeys(("include", "define", "undefine", "cflags"), _texts)
"""How a C file is read."""

TEXT: Mapping[str, Check] = {"text": text}
"""The C itself."""

FUNCTION: Mapping[str, Check] = {"name": or_none(text)}
"""Which function of a file is meant."""


def _config(value: Any) -> str | None:
    good = isinstance(value, (bool, str, PathLike))
    return None if good else "True, False or the path of a file"


PROJECT: Mapping[str, Check] = {"config": _config}
"""Whether the settings of its project hold for it."""

CHECKING: Mapping[str, Check] = {
    "function": or_none(_name),
    "time_limit": or_none(_positive),
    "memory_limit": or_none(_positive),
    "seconds": or_none(_positive),
}
"""What is judged, and for how long."""

APPLYING: Mapping[str, Check] = {"step": text, "tiles": or_none(sizes_by_name)}

COMPILING: Mapping[str, Check] = {"device": or_none(text)}
