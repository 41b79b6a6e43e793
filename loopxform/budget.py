"""CPU time and memory that an answer may take: beyond them there is no answer, and a reason why.

    with within(Budget.of(seconds=2.0)) as budget:
        rows = dependences(fn, path)    # raises Exhausted after two seconds of CPU time
    budget.exhausted                    # "time", "memory", or "" while neither was used up

Whoever works for long calls `spend` as it goes. Nothing is answered on a guess because time is up,
so nothing that was answered has to be forgotten: what raises is kept in no table (`remembered`)
and on no disk, and asked again with a larger budget it gives what it would have given at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Literal, NoReturn, TypeVar

from loopxform.errors import LoopxformError

T = TypeVar("T")
R = TypeVar("R")

MEBIBYTE = 2**20

PAUSE = 0.01
"""Seconds between two looks at the clock and the memory: enough for some 10 MiB. Asking for CPU
time takes longer than most of what is done in between."""


def cpu_seconds() -> float:
    """CPU time of this process so far."""
    return time.process_time()


def memory_bytes() -> int:
    """Memory of this process that is in use now; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class Exhausted(LoopxformError):
    """The budget is used up; `kind` is what of it: "time" or "memory".

    Examples:
        >>> import loopxform as lx
        >>> try:
        ...     lx.check("mm.c", time_limit=1e-9)
        ... except lx.Exhausted as e:
        ...     print(e.kind)
        time
    """

    code = "LX104"

    def __init__(self, kind: Literal["time", "memory"]) -> None:
        super().__init__(
            f"{kind} limit: too hard to analyse within it", help=f"--{kind}-limit allows more"
        )
        self.kind = kind


class Stopped(BaseException):
    """Nobody waits for the answer any more: no error, so nothing catches it on the way."""


@dataclass
class Budget:
    """Until when, on the clock of `cpu_seconds`, and up to how much memory in use; `is_stopped` is
    asked now and then whether the answer is still wanted."""

    until: float = inf
    bytes: float = inf
    exhausted: Literal["", "time", "memory"] = ""
    short: bool = False
    """Whether something inside was given up for want of time."""
    is_stopped: Callable[[], bool] | None = None
    _looked: float = -inf
    """CPU time when the clock and the memory were last looked at, in the budgets around as well."""
    _look: float = -inf
    """When to look again, as `perf_counter` has it."""

    @staticmethod
    def of(
        seconds: float | None = None, mebibytes: float | None = None, in_use: int | None = None
    ) -> Budget:
        """So many CPU seconds from now, so much memory more than is `in_use` (bytes; None: now, for
        the caller's own data are not ours to count); None is no limit."""
        if mebibytes is None:
            most = inf
        else:
            most = (memory_bytes() if in_use is None else in_use) + mebibytes * MEBIBYTE
        return Budget(inf if seconds is None else cpu_seconds() + seconds, most)

    @property
    def left(self) -> float:
        """CPU seconds that are left."""
        return inf if self.until == inf else max(0.0, self.until - cpu_seconds())

    def spend(self) -> None:
        """Raises Exhausted where the budget is used up, Stopped where nobody waits."""
        if not self.exhausted and (now := time.perf_counter()) >= self._look:
            if self.is_stopped is not None and self.is_stopped():
                raise Stopped
            self._looked = cpu_seconds()
            left = self.until - self._looked
            self._look = now + min(PAUSE, left)
            if left <= 0:
                self.exhausted, self.short = "time", True
            elif self.bytes != inf and memory_bytes() >= self.bytes:
                self.exhausted = "memory"
        if self.exhausted:
            raise Exhausted(self.exhausted)


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def within(budget: Budget) -> Iterator[Budget]:
    """What is asked inside heeds `budget`, and the one around it."""
    around = _current.get()
    try:
        with _in_force(budget):
            yield budget
    finally:
        if around is not None:
            around.short |= budget.short


@contextmanager
def _in_force(budget: Budget) -> Iterator[Budget]:
    around = _current.get()
    if around is not None:
        budget.until = min(budget.until, around.until)
        budget.bytes = min(budget.bytes, around.bytes)
        budget.is_stopped = budget.is_stopped or around.is_stopped
        if budget.until > around._looked + PAUSE:  # else it may be used up before the next look
            budget._looked = around._looked
            budget._look = around._look
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)
        if around is not None and budget._looked > around._looked:
            around._looked, around._look = budget._looked, budget._look


@contextmanager
def whatever_is_left() -> Iterator[None]:
    """What is asked inside heeds no budget: work that takes as long as the text is long, without
    which nothing could be said of the rest."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def spend() -> None:
    """Raises Exhausted where the budget in force is used up."""
    budget = _current.get()
    if budget is not None:
        budget.spend()


def give_up() -> NoReturn:
    """Says that the time left is too short for what is to be done next. Raises Exhausted."""
    budget = _current.get()
    assert budget is not None
    budget.exhausted, budget.short = budget.exhausted or "time", True
    raise Exhausted(budget.exhausted)


def seconds_left() -> float:
    """CPU seconds that are left of the budget in force."""
    budget = _current.get()
    return inf if budget is None else budget.left


def part(share: float) -> Budget:
    """So much of what is left of the budget in force."""
    around = _current.get()
    if around is None or around.until == inf:
        return Budget()
    now = cpu_seconds()
    return Budget(now + max(0.0, around.until - now) * share)


def shared(items: Sequence[T], judged: Callable[[T], R]) -> tuple[R, ...]:
    """What is said of each of the items, whatever their order: an equal part of half the time for
    each, then, for those that it was too little for, an equal part of the rest. `judged` catches
    `Exhausted` and says so in its answer."""
    around, answers = _current.get(), dict[int, R]()
    again = list(range(len(items)))
    for share in (0.5, 1.0) if len(items) > 1 else (1.0,):
        seconds = seconds_left() * share / max(1, len(again))
        again = _judged(again, items, judged, answers, partial(_always, seconds))
    if around is not None:
        around.short |= bool(again)
    return tuple(answers[n] for n in range(len(items)))


def in_turn(
    items: Sequence[T], judged: Callable[[T], R], size: Callable[[T], float]
) -> tuple[R, ...]:
    """What is said of each of the items: the smallest first, each gets an equal part of the time
    that those before it left. What the last ones leave is for those that theirs was too little for,
    where it is more. `judged` catches `Exhausted` and says so in its answer."""
    around, answers = _current.get(), dict[int, R]()
    again, most = sorted(range(len(items)), key=lambda n: size(items[n])), -1.0
    while again and seconds_left() / len(again) > most:
        most = seconds_left() / len(again)
        again = _judged(again, items, judged, answers, lambda left: seconds_left() / left)
    if around is not None:
        around.short |= bool(again)
    return tuple(answers[n] for n in range(len(items)))


def _always(seconds: float, _left: int) -> float:
    return seconds


def _judged(
    order: Sequence[int],
    items: Sequence[T],
    judged: Callable[[T], R],
    answers: dict[int, R],
    seconds: Callable[[int], float],
) -> list[int]:
    """Fills in the answers for some of the items, one after the other, each in so many `seconds`
    where it and those behind it are `left`. Returns those that these were too few for."""
    short = []
    for k, n in enumerate(order):
        with _in_force(Budget.of(seconds(len(order) - k))) as budget:
            answers[n] = judged(items[n])
        if budget.short:
            short.append(n)
    return short
