"""Programs and expressions never change: what was found out about the last ones still holds.

The one policy of every table: an answer is kept under the identity of the part of a program that it
is about (equal parts may stand at different places of the user's file), a full table starts anew,
and what raises is not kept, a budget that is used up above all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

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

        @wraps(f)
        def found(x: A, /, *args: P.args, **named: P.kwargs) -> R:
            assert not named, "what is remembered is asked by position"
            key = (id(x), *args) if args else id(x)
            have = known.get(key)
            if have is None or have[0] is not x:
                have = x, f(x, *args, **named)
                if len(known) >= most:
                    known.clear()
                known[key] = have
            return have[1]

        return found

    return decorated


class Table(Generic[R]):
    """The last results, up to so many, by the values of what they depend on."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: dict[Hashable, R] = {}
        _forget.append(self.known.clear)

    def get(self, key: Hashable) -> R | None:
        return self.known.get(key)

    def put(self, key: Hashable, result: R) -> None:
        if len(self.known) >= self.most:
            self.known.clear()
        self.known[key] = result


def forget() -> None:
    """Empties every table: of the programs looked at so far nothing will be asked again."""
    for clear in _forget:
        clear()
