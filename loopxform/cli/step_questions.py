"""What `check --can STEP` is asked: whether a step is legal on a function as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.assumptions import assumed
from loopxform.api.facade import Routine
from loopxform.budget import Exhausted
from loopxform.cli.questions import Answer
from loopxform.errors import TransformError, UsageError
from loopxform.ir.nodes import For, Function, Opaque, Stmt
from loopxform.ir.visit import walk
from loopxform.transforms import Derivation, Step, step
from loopxform.transforms.derivation import with_tiles


def can(routine: Routine, text: str) -> Answer:
    """Whether a step is legal, asked of the function as it is written. Raises UsageError for a
    step that says nothing meaningful."""
    try:
        made = step(text)
    except UsageError as e:
        e.subject = text
        raise
    unread = (s for _, s in walk(routine.function.body) if isinstance(s, Opaque))
    late = next((s.reason for s in unread if s.code == Exhausted.code), None)
    if late is not None:
        return _unknown(made, routine, late)
    try:
        with routine.contained():
            return _answer(made, routine)
    except Exhausted as e:
        return _unknown(made, routine, f"{e.message}; {e.help}")


def _unknown(made: Step, routine: Routine, why: str) -> Answer:
    """The limits leave no time for an answer."""
    loc = routine.function.origin.loc
    return Answer(str(made), False, (why,), (why,), loc, unknown=True)


def _answer(made: Step, routine: Routine) -> Answer:
    fn = with_tiles(routine.function, {})
    obstacles = made.check(fn)
    if not obstacles:
        why = (made.reason(fn),)
        return Answer(str(made), True, why, why, fn.origin.loc, _granted(made, fn))
    error = TransformError(str(made), obstacles)
    if error.status == 2:
        raise error
    lines = error.render(routine.file.parsed.sources).split("\n")
    return Answer(str(made), False, tuple(lines), tuple(_said(error)), error.loc or fn.origin.loc)


def _said(error: TransformError) -> Iterator[str]:
    """What an error says, without the source line."""
    place = f"{error.loc}: " if error.loc else ""
    yield f"{place}{error.message} [{error.code}]"
    yield from error.notes
    if error.help:
        yield f"help: {error.help}"


def _granted(made: Step, fn: Function) -> tuple[str, ...]:
    """What the legality of a step takes for granted about the statements that it changes: nothing
    where all of them do what they did, in the same order."""
    after = Derivation(fn).then(made)
    if after.keeps_order:
        return ()
    return assumed(fn, *_changed(fn.body, after.function.body))


def _changed(before: tuple[Stmt, ...], after: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements that are others afterwards; inside a loop, where that is all."""
    kept = set(after)
    found = tuple(s for s in before if s not in kept)
    match found, tuple(s for s in after if s not in set(before)):
        case (For() as old,), (For() as new,) if replace(old, body=()) == replace(new, body=()):
            return _changed(old.body, new.body)
        case _:
            return found
