"""Answers in the names of the user's text: `g_2`, a second variable that is called `g`, is `g`.

Steps go by the names of the loop tree, so a step that an answer quotes keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any, TypeVar, cast

from loopxform.ir.nodes import Function
from loopxform.source import Loc

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_STEP = re.compile(r"('[^']* [^']*')")


def spelled(answer: T, fn: Function) -> T:
    """What is said about a function, as its text calls things."""
    names = dict(fn.spelling)
    return cast(T, _Spelling(names).of(answer)) if names else answer


def without_subscripts(answer: T, made: Iterable[str]) -> T:
    """The same, where subscripts have variables that no text has: `b[iteration, 1]` is `b[...]`."""
    names = "|".join(map(re.escape, sorted(made)))
    return cast(T, _Subscripts(names).of(answer)) if names else answer


class _Spelling:
    """Each part of an answer is looked at once: the rows of a matrix have most of theirs in common.
    What stays as it is is not made anew."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.texts: dict[str, str] = {}
        self.known: dict[int, tuple[Any, Any]] = {}

    def of(self, x: Any) -> Any:
        if isinstance(x, str):
            found = self.texts.get(x)
            return self._text(x) if found is None else found
        if x is None or isinstance(x, int | Loc):
            return x
        known = self.known.get(id(x))
        if known is None:
            known = self.known[id(x)] = x, self._made(x)
        return known[1]

    def _text(self, x: str) -> str:
        parts = _STEP.split(x)
        parts[::2] = (_NAME.sub(lambda m: self.names.get(m[0], m[0]), p) for p in parts[::2])
        self.texts[x] = made = "".join(parts)
        return made

    def _made(self, x: Any) -> Any:
        match x:
            case tuple():
                items = tuple(map(self.of, x))
                return x if all(map(is_, items, x)) else items
            case dict():
                made = {self.of(k): v for k, v in x.items()}
                return made if len(made) == len(x) else x
            case _ if is_dataclass(x):
                old = {name: getattr(x, name) for name in _fields(x.__class__)}
                new = {k: self.of(v) for k, v in old.items()}
                same = all(map(is_, new.values(), old.values()))
                return x if same else replace(cast(Any, x), **new)
            case _:
                return x


class _Subscripts(_Spelling):
    """Those that name one of some variables, left out."""

    def __init__(self, names: str) -> None:
        super().__init__({})
        self.element = re.compile(rf"\[[^\[\]]*\b(?:{names})\b[^\[\]]*\]")

    def _text(self, x: str) -> str:
        self.texts[x] = made = self.element.sub("[...]", x)
        return made


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cast(Any, kind)))
