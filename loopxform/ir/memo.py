"""Programs and expressions never change: what was found out about the last ones still holds.

The one policy of every table: an answer is kept under the identity of the part of a program that it
is about (equal parts may stand at different places of the user's file), a full table starts anew,
and what raises is not kept, a budget that is used up above all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")

_forget: list[Callable[[], None]] = []


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[A, P], R]], Callable[Concatenate[A, P], R]]:
    """Keeps the last results of a function, up to so many, by the identity of its first argument,
    which is some part of a program, and the values of the others."""

    def decorated(f: Callable[Concatenate[A, P], R]) -> Callable[Concatenate[A, P], R]:
        known: dict[Hashable, tuple[A, R]] = {}
        _forget.append(known.clear)
        asked: Callable[..., R] = f

        def kept(x: A, key: Hashable, result: R) -> R:
            if len(known) >= most:
                known.clear()
            known[key] = x, result
            return result

        @wraps(asked)
        def of_one(x: Any, /) -> R:
            have = known.get(id(x))
            if have is not None and have[0] is x:
                return have[1]
            return kept(x, id(x), asked(x))

        @wraps(asked)
        def of_more(x: Any, /, *args: Any) -> R:
            key = (id(x), *args)
            have = known.get(key)
            if have is not None and have[0] is x:
                return have[1]
            return kept(x, key, asked(x, *args))

        found: Any = of_one if f.__code__.co_argcount == 1 else of_more
        return found  # type: ignore[no-any-return]

    return decorated


class Table(Generic[R]):
    """The last results, up to so many, by the values of what they depend on; `lasting` ones may be
    asked for by other programs, too."""

    def __init__(self, most: int, *, lasting: bool = False) -> None:
        self.most = most
        self.known: dict[Hashable, R] = {}
        if not lasting:
            _forget.append(self.known.clear)

    def get(self, key: Hashable) -> R | None:
        return self.known.get(key)

    def put(self, key: Hashable, result: R) -> None:
        if len(self.known) >= self.most:
            self.known.clear()
        self.known[key] = result


def forget() -> None:
    """Empties every table that does not last: of the programs looked at so far nothing will be
    asked again."""
    for clear in _forget:
        clear()
