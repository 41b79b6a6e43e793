"""What `offload` tells at the end: how many loops the device has, and what to change for it to have
the others, those first with which it would do the most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopxform.api.splice import OffloadedFile
from loopxform.errors import LoopxformError
from loopxform.frontend.outline import Loop
from loopxform.records import record


@record
class Change:
    """What some loops stay on the host for, and how much the largest of them does."""

    loops: tuple[Loop, ...]
    why: LoopxformError

    @property
    def rank(self) -> tuple[int, int]:
        """How much there is to win; equal ones in text order."""
        return -max(x.work for x in self.loops), self.loops[0].last


def lines(done: OffloadedFile) -> Iterator[str]:
    """The summary, a line each."""
    loops = done.loops
    taken = [x for x, is_taken in loops if is_taken]
    left = [x for x, is_taken in loops if not is_taken]
    around = [x for x in left if any(x.is_around(y) for y in taken)]
    changes = changes_of(done)
    text = f"summary: {_counted(len(taken))} of {len(loops)} on the device"
    text += f", {len(around)} of the host around them" if around else ""
    text += f", {len(left) - len(around)} left on the host" if len(left) > len(around) else ""
    yield text + ("; what to change, the most work first:" if changes else "")
    for n, change in enumerate(changes, 1):
        levels = max(x.levels for x in change.loops)
        deep = f", {levels} deep" if levels > 1 else ""
        yield f"  {n}. {_places(change.loops)}{deep}: {change.why.message} [{change.why.code}]"
        if change.why.help:
            yield f"     {change.why.help}"


def changes_of(done: OffloadedFile) -> list[Change]:
    """What to change for the device to have more loops, the most work first."""
    left = [x for x, is_taken in done.loops if not is_taken]
    return sorted(_changes(done, left), key=lambda x: x.rank)


def by_work(done: OffloadedFile) -> list[tuple[str, LoopxformError]]:
    """The reasons why loops are left, those first that are about the most work."""
    loops = [x for x, _ in done.loops]

    def work(one: tuple[str, LoopxformError]) -> int:
        loop = _about(*one, loops)
        return 0 if loop is None else loop.work

    return sorted(done.left, key=work, reverse=True)


def _changes(done: OffloadedFile, left: Sequence[Loop]) -> list[Change]:
    """The reasons, each with the loops that it is about; one remedy for several is one."""
    found: dict[tuple[str, str, str], Change] = {}
    for owner, why in (*done.left, *done.around):
        loop = _about(owner, why, left)
        if loop is None:
            continue
        shape = "" if why.code == "LX062" else _NAMED.sub("", why.message)
        key = (why.code, shape, why.help or why.message)
        known = found.get(key)
        if known is None:
            found[key] = Change((loop,), why)
        elif loop not in known.loops:
            larger = why if loop.work > max(x.work for x in known.loops) else known.why
            found[key] = Change((*known.loops, loop), larger)
    return list(found.values())


def _about(owner: str, why: LoopxformError, left: Sequence[Loop]) -> Loop | None:
    """The innermost loop that a reason stands in, else the largest of the function."""
    own = [x for x in left if x.owner == owner]
    inside = [x for x in own if why.loc is not None and x.holds(why.loc)]
    if inside:
        return inside[-1]
    return max(own, key=lambda x: x.work, default=None)


def _places(loops: Sequence[Loop]) -> str:
    """`lines 3, 7 and 4 more`"""
    numbers = list(dict.fromkeys(x.loc.line for x in loops if x.loc is not None))
    shown = ", ".join(map(str, numbers[:_SHOWN]))
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"


_SHOWN = 6
_NAMED = re.compile(r"'[^']*'")


def _counted(n: int) -> str:
    return f"{n} loop{'s' if n != 1 else ''}"
