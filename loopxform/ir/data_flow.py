"""What a function does with arrays that data directives name, in the order of its text.

flow ::= use | call | directive | loop(flow*) | branch(flow*, ...)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from loopxform.records import record
from loopxform.source import Loc


@record
class Use:
    """Elements of an array that a statement reads or writes; with `is_freed` all of it ends."""

    array: str
    loc: Loc | None
    reads: bool
    writes: bool
    is_freed: bool = False


@record
class Pass:
    """An array that a function of the user's is given, which may write it unless it is const."""

    array: str
    loc: Loc | None
    writes: bool


@record
class Directive:
    """Arrays that begin to stay on the device, end to, or are updated."""

    word: Literal["begin", "end", "host", "device"]
    arrays: tuple[str, ...]
    loc: Loc | None = None


@record
class Loop:
    """A loop and what is in it."""

    loc: Loc | None
    body: tuple[Flow, ...]


@record
class Branch:
    """Of several bodies, one runs or none."""

    bodies: tuple[tuple[Flow, ...], ...]


Flow: TypeAlias = Use | Pass | Directive | Loop | Branch


def directives(flow: Iterable[Flow]) -> Iterator[Directive]:
    """Those of a function, in text order."""
    for x in flow:
        match x:
            case Directive():
                yield x
            case Loop():
                yield from directives(x.body)
            case Branch():
                for body in x.bodies:
                    yield from directives(body)
            case _:
                pass
