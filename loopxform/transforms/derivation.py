"""The derivation, which checks, applies, records and replays steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any, TypeVar

from loopxform.budget import spend
from loopxform.display import Shown
from loopxform.errors import LoopxformError, TransformError
from loopxform.ir import wellformed
from loopxform.ir.nodes import Function, Load
from loopxform.ir.visit import (
    loops,
    walk_expr,
)
from loopxform.records import record
from loopxform.transforms.base import Step

T = TypeVar("T")
E = TypeVar("E", bound=LoopxformError)


@record
class Record(Shown):
    """One applied step, why it was legal, and the program after it."""

    step: Step
    reason: str
    result: Function
    stage: str

    def __repr__(self) -> str:
        return f"<Record {self.step}>"


@record
class Skipped:
    """An optional step that was not legal, and why."""

    step: Step
    reason: str


@record
class Derivation(Shown):
    """A program and the steps that led from `start` to `function`, each checked where applied;
    the optional ones that were `skipped`."""

    start: Function
    records: tuple[Record, ...] = ()
    stage: str = ""
    skipped: tuple[Skipped, ...] = ()

    def __repr__(self) -> str:
        return f"<Derivation of {self.start.name}: {len(self.records)} steps>"

    @property
    def function(self) -> Function:
        """The program after the last step."""
        return self.records[-1].result if self.records else self.start

    @property
    def restored(self) -> Function:
        """The program as its loops are read: that of `start` behind first steps that only undo what
        was done by hand. Such steps rely on what is assumed, so where that does not hold, the
        program is the one as it was written."""
        restoring = takewhile(lambda r: r.step.restores, self.records)
        found = next((r.result for r in reversed([*restoring])), None)
        written = self.start.as_written or self.start
        return self.start if found is None else replace(found, as_written=written)

    @property
    def keeps_order(self) -> bool:
        """Whether the program does what it did at the start even where arrays overlap: every step
        keeps the order, and no bound that it may have moved is read from an array."""
        bounds = (e for s in loops(self.start) for e in (s.loop.lo, s.loop.hi, s.loop.step))
        from_array = any(isinstance(x, Load) for e in bounds for x in walk_expr(e))
        if from_array or self.start.as_written is not None:
            return False
        return all(r.step.is_in_order() for r in self.records)

    def then(self, step: Step) -> Derivation:
        """Checks and applies one step. Raises TransformError with every obstacle; `self` stays
        as it was. Heeds the budget in force."""
        after = self.tried(step)
        if isinstance(after, TransformError):
            raise after
        return after

    def tried(self, step: Step) -> Derivation | TransformError:
        """With the step, or why it is not legal."""
        spend()
        before = self.function
        obstacles = step.check(before)
        if obstacles:
            return TransformError(str(step), obstacles)
        reason = step.reason(before)
        after = step.rewrite(before)
        if before.start is not None or not step.restores:
            after = replace(after, start=before.start or before)
        wellformed.check(after)
        return replace(self, records=(*self.records, Record(step, reason, after, self.stage)))

    def optional(self, *steps: Step) -> tuple[Derivation, TransformError | None]:
        """With all of the steps, or with none and why: the one that is not legal is noted as
        skipped."""
        after = self
        for step in steps:
            following = after.tried(step)
            if isinstance(following, TransformError):
                note = Skipped(step, following.obstacles[0].message)
                return replace(self, skipped=(*self.skipped, note)), following
            after = following
        return after, None

    def titled(self, stage: str) -> Derivation:
        """The steps that follow belong to the stage of this name."""
        return replace(self, stage=stage)

    def run(self, steps: tuple[Step, ...]) -> Derivation:
        """Checks and applies `steps` one after the other. Raises TransformError."""
        out = self
        for step in steps:
            out = out.then(step)
        return out

    def with_tiles(self, tiles: Mapping[str, int]) -> Derivation:
        """The same steps on a program with `tiles`, sizes by name that further steps may name."""
        records = tuple(replace(r, result=with_tiles(r.result, tiles)) for r in self.records)
        return replace(self, start=with_tiles(self.start, tiles), records=records)

    def extended(self, more: Derivation) -> Derivation:
        """With the steps of `more`, a derivation that starts from this one's program, and its tile
        sizes."""
        whole = self.with_tiles(dict(more.start.tiles))
        records, skipped = (*whole.records, *more.records), (*whole.skipped, *more.skipped)
        return replace(whole, records=records, stage=more.stage, skipped=skipped)

    @property
    def stages(self) -> tuple[tuple[str, tuple[Record, ...]], ...]:
        """Records grouped by consecutive stage title."""
        out: list[tuple[str, list[Record]]] = []
        for r in self.records:
            if not out or out[-1][0] != r.stage:
                out.append((r.stage, []))
            out[-1][1].append(r)
        return tuple((title, tuple(rs)) for title, rs in out)

    def to_json(self) -> dict[str, Any]:
        """`{"tiles": {...}, "steps": [...]}`; `replay` reads it back."""
        tiles = dict(self.start.tiles)
        return {"tiles": tiles, "steps": [r.step.to_json() for r in self.records]}


def possible(derive: Callable[[], T], *refusals: type[E]) -> T | E:
    """What is derived, or the refusal that stands in its way: for a plan that has an alternative.
    A refusal that is raised is an answer to the user."""
    try:
        return derive()
    except refusals as refusal:
        return refusal


def with_tiles(fn: Function, tiles: Mapping[str, int]) -> Function:
    """`fn` with tile sizes that steps may name. Names must not be those of the user's program."""
    return replace(fn, tiles=tuple({**dict(fn.tiles), **tiles}.items()))
