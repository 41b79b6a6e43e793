"""A limit on the time that questions may take: beyond it every answer is the safe one, at once.

    with within(Deadline.after(2.0)) as limit:
        rows = dependences(fn, path)    # after two seconds: every direction, none of them proven
    limit.missed                        # whether an answer had to be given early

Nothing is raised to who asks: time being up is one more case of `sets.TooHard`. What was answered
early is not remembered for questions without a limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Deadline:
    """When time is up, on the clock of `time.monotonic`; None for never."""

    at: float | None = None
    missed: bool = False

    @staticmethod
    def after(seconds: float | None) -> Deadline:
        """So many seconds from now; None is no limit."""
        return Deadline(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Whether time is up; the one who asks then gives up, which is remembered."""
        if not self.missed and self.at is not None:
            self.missed = time.monotonic() >= self.at
        return self.missed


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(limit: Deadline) -> Iterator[Deadline]:
    """What is asked inside heeds `limit`. A question put to isl is not interrupted: it has a limit
    of its own, of about a second."""
    token = _current.set(limit)
    try:
        yield limit
    finally:
        _current.reset(token)


def time_is_up() -> bool:
    """Whether the limit in force has passed."""
    limit = _current.get()
    return limit is not None and limit.passed()


def limited() -> bool:
    """Whether there is a limit in force."""
    limit = _current.get()
    return limit is not None and limit.at is not None
