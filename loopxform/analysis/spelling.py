"""Answers in the names of the user's text: `g_2`, a second variable that is called `g`, is `g`.

Steps go by the names of the loop tree, so a step that an answer quotes keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from loopxform.ir.nodes import Function
from loopxform.source import Loc

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_STEP = re.compile(r"('[^']* [^']*')")


def spelled(answer: T, fn: Function) -> T:
    """What is said about a function, as its text calls things."""
    names = dict(fn.spelling)
    return cast(T, _spelled(answer, names)) if names else answer


def _spelled(x: Any, names: Mapping[str, str]) -> Any:
    match x:
        case str():
            parts = _STEP.split(x)
            parts[::2] = (_NAME.sub(lambda m: names.get(m[0], m[0]), p) for p in parts[::2])
            return "".join(parts)
        case tuple():
            return tuple(_spelled(item, names) for item in x)
        case dict():
            made = {_spelled(k, names): v for k, v in x.items()}
            return made if len(made) == len(x) else x
        case _ if is_dataclass(x) and not isinstance(x, Loc):
            old = {f.name: getattr(x, f.name) for f in fields(x)}
            new = {k: _spelled(v, names) for k, v in old.items()}
            return replace(cast(Any, x), **new)
        case _:
            return x
